import Foundation
import ManagedModel
import RowStore
import SQLiteStore
import StoreTestModel
import Testing

/// To Swift a quote and a combining mark behind it are one character; to SQL they are a quote and something else.
struct ScalarNamesTests {
    private static let mark = "\u{301}"

    @Test func aQuoteWithACombiningMarkIsDoubledInNames() throws {
        let names = ["a\"\(Self.mark), \"b", "'\(Self.mark)c", "\(Self.mark)d", "e\"\(Self.mark)"]
        let entities = names.map { name in
            EntityDescription(
                name: name,
                attributes: names.map { AttributeDescription(name: $0, type: .string, isOptional: true) },
                uniquenessConstraints: [[names[0]]])
        }
        let layout = ModelLayout(ManagedObjectModel(name: "Marks", entities: entities))
        let folder = try TemporaryFolder()
        var options = SQLiteStore.Options.test(folder, layout)
        options.identity = StoreIdentity(
            modelHash: "hash", entityHashes: Dictionary(uniqueKeysWithValues: names.map { ($0, "hash of \($0)") }),
            databaseKey: "1", entityKeys: Dictionary(uniqueKeysWithValues: names.map { ($0, "key of \($0)") }))
        try roundTrip(options)
        let counts = try RawDatabase(folder.store).run(
            "SELECT (SELECT count(*) FROM pragma_table_info(m.name)) FROM sqlite_schema m WHERE m.type = 'table' "
                + "AND m.name <> '_metadata'")
        #expect(counts == Array(repeating: "\(names.count + 1)", count: names.count))
        try checkIntegrity(folder)
    }

    @Test(arguments: ["it'\u{301}s", "100%\u{301}41", "what?\u{301}", "#\u{301}"])
    func aFolderWithASignAndACombiningMarkKeepsAStoreAndItsBackups(name: String) throws {
        let outer = try TemporaryFolder()
        let inner = outer.url.appendingPathComponent(name)
        try FileManager.default.createDirectory(at: inner, withIntermediateDirectories: false)
        var options = SQLiteStore.Options.test(outer, resetPolicy: .backup(keep: 2))
        options.url = inner.appendingPathComponent("test.store")
        let store = try SQLiteStore.open(options)
        try store.write([.of(insert: [StoredRow(key: 1, row: TestModel.row(code: "a"))])])
        store.close()

        #expect(try SQLiteStore.forecast(options, countsRows: true).rowsDropped == 1)
        // Another key of a data source drops its rows alone, so that the backup is a copy.
        options.identity.entityKeys = ["Item": "new"]
        let next = try SQLiteStore.open(options)
        let backup = try #require(next.startup.backup)
        next.close()
        options.url = backup
        options.identity.entityKeys = [:]
        let old = try SQLiteStore.open(options)
        #expect(try old.count() == 1)
        old.close()
    }

    /// The names of these two stores are one string to Swift, and two files to the disk.
    @Test func aStoreKeepsTheBackupsOfAnotherOneWhoseNameIsComposedOtherwise() throws {
        let folder = try TemporaryFolder()
        for name in ["caf\u{E9}.store", "cafe\u{301}.store"] {
            var options = SQLiteStore.Options.test(folder, resetPolicy: .backup(keep: 1))
            options.url = folder.url.appendingPathComponent(name)
            let store = try SQLiteStore.open(options)
            try store.write([.of(insert: [StoredRow(key: 1, row: TestModel.row(code: name))])])
            store.close()
            options.identity.databaseKey = "2"
            try SQLiteStore.open(options).close()
        }
        let backups = folder.names.filter { $0.contains("backup") }
        #expect(backups.count == 2)
    }
}
