import Foundation
import ManagedModel
import ModelMigration
import ModelReader
import TestSupport
import Testing

/// The hash is of what is stored: whatever else changes in a file keeps it, and whatever changes in storage changes it.
///
/// `COREDATASOURCE_HASH_EDITS` says how many edits of each kind every bundle gets, and `COREDATASOURCE_SEED` repeats a run.
@Suite struct RandomEditTests {
    static let count = number("COREDATASOURCE_HASH_EDITS").map(Int.init(clamping:)) ?? 3
    static let seed = testSeed()

    private static func number(_ variable: String) -> UInt64? {
        ProcessInfo.processInfo.environment[variable].flatMap { UInt64($0) }
    }

    @Test(arguments: EditedBundle.all)
    func harmlessEditsKeepTheHash(_ bundle: EditedBundle) throws {
        let (root, model) = try bundle.read()
        for round in 0..<Self.count {
            var random = bundle.random(seed: Self.seed, round: round)
            let edited = root.copy()
            let edits = (0..<Int.random(in: 0...6, using: &random)).compactMap { _ in
                HarmlessEdit.all.randomElement(using: &random)
            }
            for edit in edits { edit.apply(edited, &random) }
            let reread = try ModelReader.read(data: edited.write(using: &random), name: "M").model
            let what: Comment = "seed \(Self.seed) round \(round): \(edits.map(\.words))"
            #expect(reread.hash == model.hash, what)
            #expect(ModelDifference(from: model, to: reread).changes == [], what)
        }
    }

    /// The model; nil if what was changed is the source of a derived attribute.
    private func readUnlessDerived(_ data: Data) throws -> ManagedObjectModel? {
        do {
            return try ModelReader.read(data: data, name: "M").model
        } catch {
            guard error.code == .invalidDerivation else { throw error }
            return nil
        }
    }

    @Test(arguments: EditedBundle.all)
    func editsOfTheShapeChangeTheHash(_ bundle: EditedBundle) throws {
        let (root, model) = try bundle.read()
        for round in 0..<Self.count {
            var random = bundle.random(seed: Self.seed, round: round)
            let edited = root.copy()
            var edit: ShapeEdit?
            repeat { edit = ShapeEdit.all.randomElement(using: &random) } while edit?.apply(edited, &random) == false
            guard let reread = try readUnlessDerived(edited.write(using: &random)) else { continue }
            let what: Comment = "seed \(Self.seed) round \(round): \(edit?.words ?? "no edit")"
            #expect(reread.hash != model.hash, what)
            #expect(!ModelDifference(from: model, to: reread).isEmpty, what)
        }
    }
}

/// One version of a bundle: of this package, and of the corpus if it is there the current one of each bundle.
struct EditedBundle: Sendable, CustomTestStringConvertible {
    var url: URL
    var version: String?

    var testDescription: String { "\(url.lastPathComponent) \(version ?? "")" }

    static let all: [EditedBundle] = own + corpus

    private static let own: [EditedBundle] = {
        let root = URL(filePath: #filePath).appending(path: "../../../..").standardizedFileURL
        return ["Models/Contacts", "Models/Packages", "Tests/Fixtures/AllTypes", "Tests/Fixtures/Chat"]
            .map { EditedBundle(url: root.appending(path: "\($0).xcdatamodeld"), version: nil) }
    }()

    private static let corpus: [EditedBundle] = Dictionary(grouping: Corpus.rows.filter(\.isXML), by: \.bundle)
        .compactMap { bundle, rows in
            (rows.first { $0.current == "Y" } ?? rows.last).map { EditedBundle(url: bundle, version: $0.version) }
        }
        .sorted { $0.url.path < $1.url.path }

    /// Other edits for every bundle and round, and the same ones for the same seed.
    func random(seed: UInt64, round: Int) -> SplitMix {
        let salt = testDescription.utf8.reduce(seed) { $0 &* 31 &+ UInt64($1) }
        return SplitMix(state: salt &+ UInt64(round) &* 0x1_0000_0001)
    }

    func read() throws -> (root: Markup, model: ManagedObjectModel) {
        let bundle = try ModelBundle(at: url)
        let name = try #require(version ?? bundle.currentVersion ?? bundle.versions.first)
        let directory = url.pathExtension == "xcdatamodeld" ? url.appending(path: "\(name).xcdatamodel") : url
        let data = try Data(contentsOf: directory.appending(path: "contents"))
        return (try #require(Markup.parse(data)), try ModelReader.read(data: data, name: "M").model)
    }
}
