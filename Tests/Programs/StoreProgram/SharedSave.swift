import Foundation
import RowStore
import SQLiteStore
import StoreTestModel

/// Makes one save of two entities in a store that others have open, as a data source does: takes the leases, commits, copies the
/// log, and closes.
///
/// - Parameter mark: The name of a file beside the store, which it looks for once the store is open. There need not be one: a
///   trace shows that the save begins there.
func saveShared(_ url: URL, mark: String) throws(DataSourceError) {
    var options = SQLiteStore.Options(
        url: url, layout: TestModel.layout, identity: TestModel.identity(), resetPolicy: .fail)
    options.isShared = true
    options.logLimit = 1
    let store = try SQLiteStore.open(options)
    _ = access(url.deletingLastPathComponent().appending(component: mark).path, F_OK)
    let taken = try store.takeLeases([TestModel.item, 1], for: "Source").table
    var (items, subItems) = (EntityChanges(entity: TestModel.item), EntityChanges(entity: 1))
    items.inserted = [StoredRow(key: 100, row: TestModel.row(code: "100"))]
    var row = RowSnapshot(columnCount: TestModel.columnCount + 1)
    row.setText("extra", TestModel.columnCount)
    subItems.inserted = [StoredRow(key: 101, row: row)]
    var save = ChangeSet(entities: [items, subItems])
    save.leases = taken.leases.map { LeaseEpoch(entity: $0.entity, epoch: $0.epoch) }
    try store.write([save])
    print("saved")
    fflush(nil)
    store.upkeep()
    store.close()
    print("closed")
}
