import Foundation
import TestSupport
import Testing

/// What the program says of a store that an earlier release wrote.
@Suite struct FirstFormatTests {
    private let program: Program
    private let fixture = StoreFixture(StoreFixture.stores.appending(path: "format-1/World"))
    private let bytes: Data

    init() throws {
        program = try Program()
        try program.write("World", "")
        let contents = program.file("World.xcdatamodeld/World.xcdatamodel/contents")
        try Data(contentsOf: fixture.modelFile).write(to: contents)
        let store = try fixture.copyStore(to: program.folder)
        bytes = try Data(contentsOf: store)
    }

    private func status(_ model: String) async throws -> Subprocess {
        try await program.run("status", model, "--store", StoreFixture.storeName, "--database-key", "1")
    }

    @Test func aStoreOfTheFirstFormatIsOpenedAndNotReset() async throws {
        let outcome = try await status("World.xcdatamodeld")
        #expect(outcome.status == 0, "\(outcome.errors)")
        #expect(
            outcome.output == """
                open: the store was made for this model and this database key
                its format 1 would be upgraded to 2 in place; every object and every link stays

                """)
        let json = try await program.json(
            "status", "World.xcdatamodeld", "--store", StoreFixture.storeName, "--database-key", "1")
        #expect(json["upgradedFromFormat"] as? Int == 1)
        #expect(try Data(contentsOf: program.file(StoreFixture.storeName)) == bytes)
    }

    @Test func objectsOfTheFirstFormatAreCountedAndPairsAreNot() async throws {
        let model = try String(decoding: Data(contentsOf: fixture.modelFile), as: UTF8.self)
        let other = model.replacing("name=\"palace\"", with: "name=\"palace\" versionHashModifier=\"2\"")
        try program.write("Other", "")
        try Data(other.utf8).write(to: program.file("Other.xcdatamodeld/Other.xcdatamodel/contents"))
        let outcome = try await status("Other.xcdatamodeld")
        #expect(outcome.status == 1)
        #expect(
            outcome.output == """
                reset: the store was made for another model (Capital); 36 objects would be set aside as a backup
                a migration would carry 36 objects over

                """)
        #expect(try Data(contentsOf: program.file(StoreFixture.storeName)) == bytes)
    }

    @Test func aBackupOfTheFirstFormatIsRestored() async throws {
        let outcome = try await program.run("restore", StoreFixture.storeName, "copy.sqlite")
        #expect(outcome.status == 0, "\(outcome.errors)")
        #expect(outcome.output.contains("restored: 36 objects of "))
        let status = try await program.run(
            "status", "World.xcdatamodeld", "--store", "copy.sqlite", "--database-key", "1")
        #expect(status.status == 0 && status.output.hasPrefix("open: "))
    }
}
