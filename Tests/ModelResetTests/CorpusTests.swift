import Foundation
import TestSupport
import Testing

/// Models of real apps, which lie beside the package and not in it.
@Suite(.enabled(if: Corpus.isPresent, "no models found: set COREDATASOURCE_MODELS to their directory"))
struct CorpusTests {
    @Test func everyVersionIsCountedAsTheListSays() async throws {
        let program = try Program()
        for row in Corpus.rows {
            let version = row.file.deletingLastPathComponent()
            let bundle = version.deletingLastPathComponent()
            let words =
                bundle.pathExtension == "xcdatamodeld"
                ? [bundle.path, "--version", version.deletingPathExtension().lastPathComponent] : [version.path]
            let outcome = try await program.run(["hash", "--json"] + words)
            guard row.file.lastPathComponent == "contents" else {
                #expect(outcome.status == 3, "\(row.file.path)")
                #expect(outcome.errors.contains("is in the binary format of Xcode 3"), "\(row.file.path)")
                continue
            }
            #expect(outcome.status == 0, "\(row.file.path)")
            #expect(try Corpus.counts(outcome.output) == row.counts, "\(row.file.path)")
        }
    }

    /// Some of the largest, and one of many parts.
    @Test(arguments: ["wireapp__wire", "HalloAppInc__halloapp-ios-pub__MainDataStore", "rentzsch__mogenerator__test"])
    func aLargeModelIsDrawnWithoutOverlaps(_ prefix: String) async throws {
        let program = try Program()
        let row = try #require(Corpus.rows.last { $0.file.path.contains("/\(prefix)") })
        let outcome = try await program.run(["diagram", row.file.deletingLastPathComponent().path])
        #expect(outcome.status == 0)
        let drawing = try DrawnBoxes(outcome.output)
        #expect(drawing.boxes.count == row.counts["entities"])
        #expect(drawing.overlaps.isEmpty)
        #expect(drawing.isInsideThePage)
    }
}

/// The list of models and of what each version holds.
enum Corpus {
    struct Row: Sendable {
        var file: URL
        var counts: [String: Int]
    }

    static let names = [
        "entities", "attributes", "relationships", "fetchedProperties", "fetchRequests", "configurations",
        "fetchIndexes", "compoundIndexes", "uniquenessConstraints", "derived", "composite",
    ]

    static var isPresent: Bool { !rows.isEmpty }

    static let rows: [Row] = {
        guard let text = try? String(contentsOf: PackageFiles.models.appending(path: "MANIFEST.tsv"), encoding: .utf8)
        else {
            return []
        }
        let lines = text.split(whereSeparator: \.isNewline).map {
            $0.split(separator: "\t", omittingEmptySubsequences: false).map(String.init)
        }
        guard let head = lines.first else { return [] }
        return lines.dropFirst().map { line in
            let cells = Dictionary(uniqueKeysWithValues: zip(head, line))
            return Row(
                file: PackageFiles.models.appending(path: cells["local_path"] ?? ""),
                counts: Dictionary(uniqueKeysWithValues: names.map { ($0, Int(cells[$0] ?? "") ?? -1) }))
        }
    }()

    static func counts(_ text: String) throws -> [String: Int] {
        let json = try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
        var counts = json.compactMapValues { $0 as? Int }
        counts["entities"] = (json["entities"] as? [Any])?.count
        return counts
    }
}
