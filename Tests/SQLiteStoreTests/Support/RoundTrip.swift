import RowStore
import SQLiteStore
import StoreTestModel
import Testing

/// Stores an object of each entity, whose columns are all strings, and finds it by its key and by each of its values: at once,
/// and at the next start.
func roundTrip(_ options: SQLiteStore.Options) throws {
    for opening in 0..<2 {
        let store = try SQLiteStore.open(options)
        #expect(store.startup.reason == (opening == 0 ? .firstLaunch : .current))
        for entity in options.layout.entities {
            let key = Int64(entity.index + 1)
            var row = RowSnapshot(columnCount: entity.columns.count)
            for column in entity.columns.indices { row.setText("value of \(column)", column) }
            if opening == 0 { try store.write([.of(entity.index, insert: [StoredRow(key: key, row: row)])]) }
            let found = try #require(try store.row(key, entity: entity.index))
            for column in entity.columns.indices {
                #expect(found.text(column) == "value of \(column)")
                let query = RowQuery(
                    entity: entity.index, predicate: .compare(column: column, .equal, .text("value of \(column)")),
                    sort: [SortKey(column: column)])
                #expect(try store.keys(query) == [key])
            }
        }
        store.close()
    }
}
