import CoreDataSource
import Foundation
import ManagedModel
import ModelReader
import RowStore
import SQLiteStore
import TestSupport
import Testing

/// A store for a configuration of a model is one of a model of its own.
@Suite struct ConfigurationTests {
    private let program: Program

    private static func entities(_ members: [String: [String]], isWider: Bool = false) -> String {
        let wider = isWider ? "<attribute name=\"size\" optional=\"YES\" attributeType=\"Double\"/>" : ""
        return """
            <entity name="Item"><attribute name="name" optional="YES" attributeType="String"/></entity>
            <entity name="Note"><attribute name="text" optional="YES" attributeType="String"/>\(wider)</entity>
            """
                + members.sorted { $0.key < $1.key }.map { name, entities in
                    "<configuration name=\"\(name)\">"
                        + entities.map { "<memberEntity name=\"\($0)\"/>" }.joined() + "</configuration>"
                }.joined()
    }

    private static let first = entities(["User": ["Item"], "Cache": ["Note"]])

    init() async throws {
        program = try Program()
        try program.write(Self.first)
        _ = try await check("--update")
    }

    private func check(_ words: String...) async throws -> Subprocess {
        try await program.run(["check", "--lock", "model.lock"] + words)
    }

    /// Makes a store as a container does, with an object.
    private func makeStore(_ configuration: String) async throws {
        let model = try ModelReader.read(program.file("Shop.xcdatamodeld")).model
        let opened = await PersistentContainer.open(
            [
                StoreDescription(
                    name: "store", location: .sqlite(program.file("shop.sqlite")), modelConfiguration: configuration,
                    databaseKey: "1")
            ], model: model)
        try await #require(opened.containers["store"]).close()
    }

    private func status(_ words: String...) async throws -> Subprocess {
        try await program.run(["status", "Shop.xcdatamodeld", "--store", "shop.sqlite"] + words)
    }

    // MARK: The lock file

    @Test func checkFindsAChangeOfAConfiguration() async throws {
        #expect(try await check().status == 0)
        try program.write(Self.entities(["User": ["Item", "Note"], "Cache": ["Note"]]))
        let outcome = try await check()
        #expect(outcome.status == 1)
        #expect(
            outcome.output == """
                Shop.xcdatamodeld: changed (version Shop), in its configurations alone:
                  configuration User: its earlier stores are reset, unless they are migrated:
                    Note: added
                    can be migrated with the policy .migrate; nothing is lost
                If the changes are intended, run the same command with --update, and commit model.lock.

                """)
        let json = try await program.json("check", "--lock", "model.lock")
        let model = try #require((json["models"] as? [[String: Any]])?.first)
        let configurations = try #require(model["configurations"] as? [[String: Any]])
        #expect(configurations.map { $0["state"] as? String } == ["unchanged", "changed"])
        #expect(try await check("--update").status == 0)
        #expect(try await check().status == 0)
    }

    @Test func newOnesAndThoseThatAreGoneAreNamed() async throws {
        try program.write(Self.entities(["User": ["Item"], "All": ["Item", "Note"]], isWider: true))
        let outcome = try await check()
        #expect(outcome.status == 1)
        #expect(outcome.output.contains("  configuration All: new\n"))
        #expect(
            outcome.output.contains("  configuration Cache: gone; its stores can no longer be opened\n"))
        try program.write(Self.entities(["User": ["Item"], "Cache": ["Note"]], isWider: true))
        #expect(try await check().output.contains("  configuration Cache: changed, too\n"))
    }

    /// No container opens it, so it has no stores.
    @Test func aConfigurationWithoutStoresIsNotLocked() async throws {
        let link = "<relationship name=\"note\" optional=\"YES\" destinationEntity=\"Note\"/>"
        let entities = Self.first.replacing("</entity>", with: link + "</entity>", maxReplacements: 1)
        try program.write(entities)
        #expect(try await check("--update").status == 0)
        let lock = try String(contentsOf: program.file("model.lock"), encoding: .utf8)
        let present = lock.components(separatedBy: "\n  earlier ")[0]
        #expect(present.contains("\n  configuration \"Cache\" hash ") && !present.contains("\"User\""))
    }

    @Test func aLineThatSomebodyEditedIsNamed() async throws {
        let file = program.file("model.lock")
        let lock = try String(contentsOf: file, encoding: .utf8)
        try Data(lock.replacing("configuration \"User\" hash", with: "configuration \"User\" mash").utf8).write(
            to: file)
        let outcome = try await check()
        #expect(outcome.status == 3)
        #expect(outcome.errors.contains("This line does not belong in a lock file."))
    }

    // MARK: Stores

    @Test func aStoreKeepsItsConfiguration() async throws {
        try await makeStore("User")
        #expect(try await status().output == "open: the store was made for this model and this database key\n")
        #expect(try await status("--configuration", "User").status == 0)
        let reset = try await program.run(
            "reset", "Shop.xcdatamodeld", "--store", "shop.sqlite", "--if-needed", "--dry-run")
        #expect(reset.status == 0 && reset.output.hasPrefix("nothing to reset"))
        #expect(try await program.run("inspect", "shop.sqlite").output.contains(", configuration User\n"))
        // What the whole model has and this configuration has not is nothing to the store.
        try program.write(Self.entities(["User": ["Item"], "Cache": ["Note"]], isWider: true))
        #expect(try await status().status == 0)
        #expect(try await status("--configuration", "Cache").status == 1)
        #expect(try await status("--configuration", "").status == 1)
        try program.write(Self.entities(["User": ["Item", "Note"]]))
        #expect(try await status().output.contains("the store was made for another model (Note)"))
    }

    @Test func theNewNameOfAConfigurationIsKept() async throws {
        try await makeStore("User")
        try program.write(Self.entities(["Person": ["Item"]]))
        let outcome = try await status()
        #expect(outcome.status == 2)
        #expect(
            outcome.errors == """
                model-reset: error: the store was made for the configuration User. The model Shop has no configuration User. \
                Use one of: Person. Or name another configuration with --configuration.
                Try model-reset --help.

                """)
        try await makeStore("Person")
        #expect(try await status().status == 0)
    }

    @Test func modelsAreComparedByConfiguration() async throws {
        let wider = Self.entities(["User": ["Item"], "Cache": ["Note"]], isWider: true)
        try program.write("Shop", versions: ["Shop": Self.first, "Shop 2": wider], current: "Shop 2")
        let words = ["diff", "Shop.xcdatamodeld", "Shop", "Shop 2"]
        #expect(try await program.run(words + ["--configuration", "User"]).status == 0)
        #expect(try await program.run(words + ["--configuration", "Cache"]).status == 1)
        let model = try ModelReader.read(program.file("Shop.xcdatamodeld")).model
        let hash = try await program.run("hash", "Shop.xcdatamodeld", "--configuration", "User").output
        #expect(hash.hasPrefix("\(try model.restricted(toConfiguration: "User").hash)  "))
        let drawing = try await program.run("diagram", "Shop.xcdatamodeld", "--configuration", "User").output
        #expect(drawing.contains("Item") && !drawing.contains("Note"))
    }
}
