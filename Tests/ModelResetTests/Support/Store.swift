import Foundation
import ManagedModel
import ModelReader
import RowStore
import SQLiteStore

/// A store as an app with the model would have it.
struct Store {
    let url: URL

    /// - Parameter rowCount: How many objects of the model's first entity there are, each with a text.
    init(_ url: URL, model: URL, databaseKey: String = "1", rowCount: Int = 3) throws {
        self.url = url
        let store = try Store.open(url, model: model, databaseKey: databaseKey)
        let columns = try ModelLayout(ModelReader.read(model).model).entities[0].columns
        try Store.fill(store, rowCount, columnCount: columns.count)
        store.close()
    }

    /// Opens the store and keeps it open.
    static func open(
        _ url: URL, model: URL, databaseKey: String = "1", resetPolicy: ResetPolicy = .fail, isShared: Bool = false,
        history: KeptHistory = .unchanged
    ) throws -> SQLiteStore {
        let model = try ModelReader.read(model).model
        let identity = StoreIdentity(
            modelHash: model.hash.description, entityHashes: model.entityHashes.mapValues(\.description),
            databaseKey: databaseKey)
        var options = SQLiteStore.Options(
            url: url, layout: ModelLayout(model), identity: identity, resetPolicy: resetPolicy)
        options.isShared = isShared
        options.history = history
        return try SQLiteStore.open(options)
    }

    /// Gives the object of that key another text in the first attribute.
    static func rename(_ key: Int64, from old: String, to new: String, in store: some PersistentStore) throws {
        var (previous, row) = (RowSnapshot(columnCount: 1), RowSnapshot(columnCount: 1))
        previous.setValue(.text(old), 0)
        row.setValue(.text(new), 0)
        var columns = ColumnSet()
        columns.insert(0)
        var changes = EntityChanges(entity: 0)
        changes.updated = [UpdatedRow(key: key, row: row, previous: previous, columns: columns)]
        _ = try store.commit([ChangeSet(entities: [changes])])
    }

    static func delete(_ key: Int64, named name: String, in store: some PersistentStore) throws {
        var row = RowSnapshot(columnCount: 1)
        row.setValue(.text(name), 0)
        var changes = EntityChanges(entity: 0)
        changes.deleted = [StoredRow(key: key, row: row)]
        _ = try store.commit([ChangeSet(entities: [changes])])
    }

    /// - Parameter columnCount: How many columns an object has, the first of which gets a text.
    static func add(_ names: [Int64: String], to store: some PersistentStore, columnCount: Int = 1) throws {
        var changes = EntityChanges(entity: 0)
        for (key, name) in names.sorted(by: { $0.key < $1.key }) {
            var row = RowSnapshot(columnCount: columnCount)
            row.setValue(.text(name), 0)
            changes.inserted.append(StoredRow(key: key, row: row))
        }
        _ = try store.commit([ChangeSet(entities: [changes])])
    }

    static func fill(_ store: SQLiteStore, _ rowCount: Int, columnCount: Int = 1) throws {
        var changes = EntityChanges(entity: 0)
        for key in 0..<rowCount {
            var row = RowSnapshot(columnCount: columnCount)
            row.setValue(.text("thing \(key)"), 0)
            changes.inserted.append(StoredRow(key: store.firstFreeKey + Int64(key), row: row))
        }
        _ = try store.commit([ChangeSet(entities: [changes])])
    }

    /// How many objects there are for an app with the model, which never resets.
    static func rowCount(_ url: URL, model: URL, databaseKey: String = "1") throws -> Int {
        let store = try open(url, model: model, databaseKey: databaseKey)
        defer { store.close() }
        return try store.read(.snapshot) { (reader) throws(DataSourceError) in
            try reader.count(RowQuery(entity: 0))
        }
    }
}

extension Shop {
    /// Adds four items of ``linked``: one on a shelf, one on none, and two on shelves that are gone, as the delete rule No
    /// Action leaves them, or another program.
    static func addItemsWithLostShelves(to store: some PersistentStore, _ model: ManagedObjectModel) throws {
        let entities = ModelLayout(model)
        guard let layout = entities.entity(named: "Item"), let column = layout.column(named: "shelf"),
            let shelf = entities.entity(named: "Shelf")
        else { return }
        var items = EntityChanges(entity: layout.index)
        for (key, end) in [(1, 10), (2, 11), (3, 12), (4, 0)] as [(Int64, Int64)] {
            var row = RowSnapshot(columnCount: layout.columns.count)
            if end > 0 { row.setInteger(end, column) }
            items.inserted.append(StoredRow(key: key, row: row))
        }
        var shelves = EntityChanges(entity: shelf.index)
        shelves.inserted = [StoredRow(key: 10, row: RowSnapshot(columnCount: shelf.columns.count))]
        _ = try store.commit([ChangeSet(entities: [items, shelves])])
    }
}
