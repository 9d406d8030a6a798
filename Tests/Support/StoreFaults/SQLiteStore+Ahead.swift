package import RowStore
package import SQLiteStore
internal import StoreTestModel

extension SQLiteStore {
    /// Commits a save of which some rows are written while it is being made, as it is with large saves of a container. Which ones
    /// follows from its number.
    ///
    /// - Throws: What the commit throws, or why the save was refused.
    package func writeEarly(_ save: ChangeSet) throws(DataSourceError) {
        var save = save
        guard let changes = save.entities.first, let row = changes.inserted.first, save.number % 4 > 0 else {
            return try write([save])
        }
        let earlyWrite = EarlyWrite()
        save.earlyWrite = earlyWrite
        var early = changes.inserted
        if save.number % 4 == 2 {
            // One row gets other values afterwards, and one is deleted again.
            early = Array(early.prefix((early.count + 1) / 2))
            early[0] = StoredRow(key: row.key, row: TestModel.row(.null, .null, .text("before")))
            early.append(StoredRow(key: 2_000_000 + save.number, row: TestModel.row(.null, .null, .text("gone"))))
        }
        for row in early where write(NewRows(entity: changes.entity, [row]), for: earlyWrite) == false { break }
        if save.number % 4 == 3 { abandon(earlyWrite) }
        try write([save])
    }
}
