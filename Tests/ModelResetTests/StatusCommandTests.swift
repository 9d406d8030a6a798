import Foundation
import ModelReader
import RowStore
import SQLiteStore
import TestSupport
import Testing

@Suite struct StatusCommandTests {
    private let program: Program
    private let model: String

    init() throws {
        program = try Program()
        model = try program.write(Shop.first)
    }

    @Test func aStoreThatIsNotThereWouldBeMade() async throws {
        let outcome = try await status()
        #expect(outcome.status == 0)
        #expect(outcome.output == "create: there is no store\n")
        #expect(try program.files("shop").isEmpty)
    }

    @Test func aStoreOfThisModelAndKeyWouldBeOpened() async throws {
        try makeStore()
        let outcome = try await status()
        #expect(outcome.status == 0)
        #expect(outcome.output == "open: the store was made for this model and this database key\n")
    }

    @Test func anotherKeyWouldResetTheStore() async throws {
        try makeStore()
        let outcome = try await status(databaseKey: "2")
        #expect(outcome.status == 1)
        #expect(outcome.output == "reset: the store was made for another database key; 3 objects would be dropped\n")
    }

    @Test func anotherModelWouldResetTheStoreAndTheEntitiesAreNamed() async throws {
        try makeStore()
        try program.write(Shop.second)
        let outcome = try await status()
        #expect(outcome.status == 1)
        #expect(
            outcome.output == """
                reset: the store was made for another model (Item); 3 objects would be set aside as a backup
                a migration would carry 3 objects over

                """)
        let json = try await program.json("status", model, "--store", "shop.sqlite", "--database-key", "2")
        #expect(json["action"] as? String == "reset")
        #expect(json["reason"] as? String == "modelAndDatabaseKeyChanged")
        #expect(json["entities"] as? [String] == ["Item"])
        #expect(json["rowsDropped"] as? Int == 3)
        let migration = try #require(json["migration"] as? [String: Any])
        #expect(migration["possible"] as? Bool == false)
        #expect(migration["reason"] as? String == "The database key changed.")
    }

    @Test func obstaclesOfAMigrationAreListed() async throws {
        try makeStore()
        try program.write(Shop.third)
        let before = try program.files("shop")
        let outcome = try await status()
        #expect(outcome.status == 1)
        #expect(
            outcome.output == """
                reset: the store was made for another model (Item); 3 objects would be set aside as a backup
                cannot be migrated: Item.price: the attribute is new and required, and has no default value for the existing \
                objects. Give the attribute a default value, or make the attribute optional.

                """)
        #expect(try program.files("shop") == before)
    }

    @Test func theJSONSaysTheSame() async throws {
        try makeStore()
        #expect(
            try await program.json("status", model, "--store", "shop.sqlite", "--database-key", "1")["migration"]
                is NSNull)
        try program.write(Shop.second)
        let json = try await program.json("status", model, "--store", "shop.sqlite", "--database-key", "1")
        let migration = try #require(json["migration"] as? [String: Any])
        #expect(migration["possible"] as? Bool == true)
        #expect(migration["rowsCarried"] as? Int == 3)
        #expect(
            migration["changes"] as? [String] == [
                "Item.name: optional -> required", "Item.price: added (Decimal, optional)",
            ])
        #expect(migration["losses"] as? [String] == [])
    }

    @Test func lossesOfAMigrationAreListed() async throws {
        try makeStore()
        try program.write(Shop.renamed)
        let outcome = try await status()
        #expect(
            outcome.output == """
                reset: the store was made for another model (Item); 3 objects would be set aside as a backup
                a migration would carry 3 objects over; these would be lost:
                  Item.name: the values (String, optional)

                """)
    }

    @Test func theNumberThatIsInTheWayIsNamed() async throws {
        try program.write(Shop.counted("Integer 64"))
        let store = try Store.open(program.file("shop.sqlite"), model: program.file(model))
        var row = RowSnapshot(columnCount: 1)
        row.setInteger(9_007_199_254_740_993, 0)
        var changes = EntityChanges(entity: 0)
        changes.inserted = [StoredRow(key: 7, row: row)]
        _ = try store.commit([ChangeSet(entities: [changes])])
        store.close()
        try program.write(Shop.counted("Double"))
        #expect(
            try await status().output == """
                reset: the store was made for another model (Item); 1 object would be set aside as a backup
                cannot be migrated: Item.count: Double cannot hold the value 9007199254740993 of the object with the \
                key 7. Keep the type Integer 64, or use Decimal.

                """)
    }

    @Test(arguments: ["1", "2"]) func aStatusMakesNoFileAndChangesNoByte(_ databaseKey: String) async throws {
        try makeStore()
        try FileManager.default.removeItem(at: program.file("shop.sqlite.lock"))
        let before = try program.files("shop")
        _ = try await status(databaseKey: databaseKey)
        #expect(try program.files("shop") == before)
    }

    /// As a killed app leaves it.
    @Test(arguments: [false, true]) func rowsInTheLogCountAndTheLogStaysAsItIs(_ hasSharedMemory: Bool) async throws {
        let live = try Store.open(program.file("live.sqlite"), model: program.file(model))
        try Store.fill(live, 5)
        for suffix in hasSharedMemory ? ["", "-wal", "-shm"] : ["", "-wal"] {
            try FileManager.default.copyItem(
                at: program.file("live.sqlite\(suffix)"), to: program.file("shop.sqlite\(suffix)"))
        }
        live.close()
        let before = try program.files("shop")
        #expect(before["shop.sqlite-wal"]?.isEmpty == false)
        let outcome = try await status(databaseKey: "2")
        #expect(outcome.status == 1)
        #expect(outcome.output.hasSuffix("5 objects would be dropped\n"))
        #expect(try program.files("shop") == before)
    }

    @Test func theBackupThatAnotherKeyWouldRemoveIsListed() async throws {
        try makeStore()
        try Data().write(to: program.file("shop.sqlite.standard-backup-20250101T000000.000Z"))
        try Data().write(to: program.file("shop.sqlite.backup-20250101T000000.000Z"))
        let before = try program.files("shop")
        let outcome = try await status(databaseKey: "2")
        #expect(
            outcome.output
                == "reset: the store was made for another database key; 3 objects would be dropped, "
                + "1 backup would be removed\n")
        let json = try await program.json("status", model, "--store", "shop.sqlite", "--database-key", "2")
        #expect(json["policy"] as? String == "standard")
        #expect(json["keepsBackup"] as? Bool == false)
        #expect(
            (json["removedBackups"] as? [String])?.map { $0.hasSuffix(".standard-backup-20250101T000000.000Z") } == [
                true
            ])
        #expect(try program.files("shop") == before)
    }

    @Test func statusShowsAStoreThatIsOpenElsewhere() async throws {
        let live = try Store.open(program.file("shop.sqlite"), model: program.file(model))
        try Store.fill(live, 2)
        let outcome = try await status()
        #expect(outcome.status == 0, "\(outcome.errors)")
        #expect(
            outcome.output == """
                open: the store was made for this model and this database key
                another process has the store open for itself alone

                """)
        #expect(
            try await status(databaseKey: "2").output.contains(
                "; 2 objects would be dropped\nanother process has the store open"))
        // It was not in anybody's way, and left nothing behind.
        try Store.fill(live, 0)
        live.close()
        #expect(Set(try program.files("shop.sqlite").keys) == ["shop.sqlite", "shop.sqlite.lock"])
    }

    @Test func membersOfASharedStoreAreNamed() async throws {
        let live = try Store.open(program.file("shop.sqlite"), model: program.file(model), isShared: true)
        defer { live.close() }
        let outcome = try await status()
        #expect(outcome.status == 0, "\(outcome.errors)")
        #expect(
            outcome.output == """
                open: the store was made for this model and this database key
                the store is open in \(live.member)

                """)
        let json = try await program.json("status", model, "--store", "shop.sqlite", "--database-key", "1")
        #expect(json["open"] as? Bool == true)
        let members = try #require(json["members"] as? [[String: Any]])
        #expect(members.map { $0["process"] as? Int } == [Int(getpid())])
    }

    @Test func aFileThatIsNoStoreIsAnErrorAndIsLeftAlone() async throws {
        try Data("a photo of a shop".utf8).write(to: program.file("shop.sqlite"))
        let before = try program.files("shop")
        let outcome = try await status()
        #expect(outcome.status == 4)
        #expect(outcome.errors.hasPrefix("model-reset: error: notADatabase: "))
        #expect(try program.files("shop") == before)
        #expect(try await program.run("status", model, "--store", model, "--database-key", "1").status == 4)
    }

    /// It has no tables, so that only its header shows that it is not a new file.
    @Test func anEmptyDatabaseInUTF16IsAnErrorAndIsLeftAlone() async throws {
        try Self.emptyUTF16Database.write(to: program.file("shop.sqlite"))
        let before = try program.files("shop")
        let outcome = try await status()
        #expect(outcome.status == 4 && outcome.output.isEmpty, "\(outcome.output)")
        #expect(outcome.errors.hasPrefix("model-reset: error: foreignDatabase: "), "\(outcome.errors)")
        #expect(outcome.errors.contains("is a database in UTF-16"), "\(outcome.errors)")
        #expect(try program.files("shop") == before)
    }

    /// One page of 4,096 bytes: the header of the file, and the header of a table of no rows.
    private static var emptyUTF16Database: Data {
        var page = [UInt8](repeating: 0, count: 4096)
        page.replaceSubrange(0..<16, with: Array("SQLite format 3\0".utf8))
        // The page size, the versions, the payload fractions and the counters.
        for (offset, byte) in [(16, 16), (18, 1), (19, 1), (21, 64), (22, 32), (23, 32), (27, 1), (31, 1), (95, 1)] {
            page[offset] = UInt8(byte)
        }
        // The format of the schema, the encoding UTF-16le, the type of the page, and where its rows would begin.
        for (offset, byte) in [(47, 4), (59, 2), (100, 13), (105, 16)] { page[offset] = UInt8(byte) }
        return Data(page)
    }

    private func makeStore() throws {
        _ = try Store(program.file("shop.sqlite"), model: program.file(model))
    }

    private func status(databaseKey: String = "1") async throws -> Subprocess {
        try await program.run("status", model, "--store", "shop.sqlite", "--database-key", databaseKey)
    }

    /// As the delete rule No Action leaves them, or another program.
    @Test func linksThatLeadToObjectsThatAreGoneAreCounted() async throws {
        let model = try program.write(Shop.linked)
        let store = try Store.open(program.file("shop.sqlite"), model: program.file(model))
        try Shop.addItemsWithLostShelves(to: store, ModelReader.read(program.file(model)).model)
        store.close()
        let outcome = try await status()
        #expect(outcome.status == 0)
        #expect(
            outcome.output == """
                open: the store was made for this model and this database key
                2 links of Item.shelf lead to objects that are gone, and read as nil

                """)
        let json = try await program.json("status", model, "--store", "shop.sqlite", "--database-key", "1")
        #expect(json["danglingLinks"] as? [String: Int] == ["Item.shelf": 2])
        #expect(json["upgradedFromFormat"] is NSNull)
    }
}
