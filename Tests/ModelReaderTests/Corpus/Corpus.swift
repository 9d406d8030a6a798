import Foundation
import ManagedModel
import ModelReader
import Synchronization
import Testing

/// The list of models and of what each version holds.
enum Corpus {
    struct Row: Sendable, CustomTestStringConvertible {
        var bundle: URL
        var version: String
        var isXML: Bool
        /// Y for the current version, ? where the bundle does not say.
        var current: String
        var counts: [String: Int]

        var testDescription: String { "\(bundle.lastPathComponent) \(version)" }
    }

    static let directory: URL =
        ProcessInfo.processInfo.environment["COREDATASOURCE_MODELS"].map { URL(filePath: $0) }
        ?? URL(filePath: #filePath).appending(path: "../../../../../shared/models").standardizedFileURL

    static var isPresent: Bool { !rows.isEmpty }

    private static let documents = Mutex<[String: ModelDocument]>([:])

    /// Reads a version, or returns what an earlier call has read. In a debug build, reading a version and following the versions before
    /// it takes a tenth of a second and more.
    static func document(of row: Row) throws -> ModelDocument {
        let name = "\(row.bundle.path) \(row.version)"
        if let document = documents.withLock({ $0[name] }) { return document }
        let document = try ModelReader.read(row.bundle, version: row.version)
        documents.withLock { $0[name] = document }
        return document
    }

    static let rows: [Row] = {
        let list = directory.appending(path: "MANIFEST.tsv")
        guard let text = try? String(contentsOf: list, encoding: .utf8) else { return [] }
        let lines = text.split(whereSeparator: \.isNewline).map {
            $0.split(separator: "\t", omittingEmptySubsequences: false)
        }
        guard let names = lines.first else { return [] }
        return lines.dropFirst().map { row(Dictionary(uniqueKeysWithValues: zip(names.map(String.init), $0))) }
    }()

    private static let countNames = [
        "entities", "attributes", "relationships", "fetchedProperties", "fetchRequests", "configurations",
        "fetchIndexes", "compoundIndexes", "uniquenessConstraints", "derived", "composite",
    ]

    private static func row(_ cells: [String: Substring]) -> Row {
        let file = directory.appending(path: String(cells["local_path"] ?? ""))
        let version = file.deletingLastPathComponent()
        let parent = version.deletingLastPathComponent()
        func count(_ name: String) -> Int { Int(cells[name] ?? "") ?? 0 }
        let counts = Dictionary(uniqueKeysWithValues: countNames.map { ($0, count($0)) })
        return Row(
            bundle: parent.pathExtension == "xcdatamodeld" ? parent : version,
            version: version.deletingPathExtension().lastPathComponent,
            isXML: file.lastPathComponent == "contents",
            current: String(cells["current"] ?? ""),
            counts: counts)
    }

    /// What the list counts: attributes of entities, and composites as one each.
    static func counts(of model: ManagedObjectModel) -> [String: Int] {
        let entities = model.entities
        return [
            "entities": entities.count,
            "attributes": entities.map(\.attributes.count).reduce(0, +),
            "relationships": entities.map(\.relationships.count).reduce(0, +),
            "fetchedProperties": entities.map(\.fetchedProperties.count).reduce(0, +),
            "fetchRequests": model.fetchRequests.count,
            "configurations": model.configurations.count,
            "fetchIndexes": entities.flatMap(\.indexes).filter { !$0.isCompound }.count,
            "compoundIndexes": entities.flatMap(\.indexes).filter(\.isCompound).count,
            "uniquenessConstraints": entities.map(\.uniquenessConstraints.count).reduce(0, +),
            "derived": entities.flatMap(\.attributes).filter { $0.derivationExpression != nil }.count,
            "composite": model.composites.count,
        ]
    }
}
