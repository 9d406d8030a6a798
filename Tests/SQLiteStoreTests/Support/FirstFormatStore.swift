import Foundation
import ManagedModel
import RowStore
import SQLiteStore
import StoreTestModel
import TestSupport
import Testing

/// A store that the first format has written: a fixture, with a row in a log that a killed process left.
struct FirstFormatStore: Sendable {
    let fixture: StoreFixture
    let model: ManagedObjectModel
    private let contents: StoreContents
    private let layout: ModelLayout

    /// Links of every kind.
    static var world: FirstFormatStore {
        get throws { try loaded.get() }
    }

    private static let loaded = Result {
        try FirstFormatStore(StoreFixture(StoreFixture.stores.appending(path: "format-1/World")))
    }

    private static let lateKey = 1000

    private init(_ fixture: StoreFixture) throws {
        self.fixture = fixture
        model = try fixture.model()
        layout = ModelLayout(model)
        var contents = try fixture.contents()
        contents.rows["Dog"]?["\(FirstFormatStore.lateKey)"] = ["name": StoreContents.text("late")]
        self.contents = contents
    }

    func prepare(_ folder: TemporaryFolder) throws {
        let copy = try fixture.copyStore(to: folder.url)
        try FileManager.default.moveItem(at: copy, to: folder.store)
        try RawDatabase(folder.store).run(
            "INSERT INTO Dog (_key, name) VALUES (\(FirstFormatStore.lateKey), 'late')")
    }

    func options(
        _ folder: TemporaryFolder, _ calls: FileCalls = .system, policy: ResetPolicy = .fail
    ) -> SQLiteStore.Options {
        SQLiteStore.Options(
            url: folder.store, layout: layout, identity: TestModel.identity(of: model), resetPolicy: policy,
            calls: calls)
    }

    /// Expects every row and link in the tables of either format, and then in those of this one.
    func expectWhole(_ folder: TemporaryFolder, _ moment: String) throws {
        try expectContents(folder, moment)
        let store = try SQLiteStore.open(options(folder))
        #expect(store.startup.reason == .current && store.startup.rowsDropped == 0, "\(moment)")
        #expect(store.firstFreeKey > FirstFormatStore.lateKey, "\(moment)")
        store.close()
        #expect(try RawDatabase(folder.store).format == 2, "\(moment)")
        try expectContents(folder, moment)
        try checkIntegrity(folder)
    }

    func expectContents(_ folder: TemporaryFolder, _ moment: String) throws {
        let found = try StoreContents(rawFile: folder.store, model)
        #expect(found.rows == contents.rows && found.links == contents.links, "\(moment)")
    }

    /// The links of all relationships, by their names.
    var links: [String: [String]] { contents.links }
}

/// Makes a store as the first format wrote it, with the SQL of its tables.
func makeFirstFormatStore(_ folder: TemporaryFolder, _ model: ManagedObjectModel, _ sql: [String]) throws {
    try makeStore(folder, model)
    let raw = try RawDatabase(folder.store)
    let tables = try raw.run("SELECT name FROM sqlite_schema WHERE type = 'table' AND name <> '_metadata'")
    for table in tables { try raw.run("DROP TABLE [\(table)]") }
    for sql in sql { try raw.run(sql) }
    try raw.run("UPDATE _metadata SET value = 1 WHERE name = 'format'")
}
