package import RowStore
package import SQLiteStore
internal import StoreTestModel

extension SQLiteStore {
    /// Commits a save of which some rows are written early, as for large saves of a container. The save's number determines
    /// which rows.
    ///
    /// - Throws: The error of the commit, or the error with which the save was refused.
    package func writeEarly(_ save: ChangeSet) throws(DataSourceError) {
        var save = save
        guard let changes = save.entities.first, let row = changes.inserted.first, save.number % 4 > 0 else {
            return try write([save])
        }
        let earlyWrite = EarlyWrite()
        save.earlyWrite = earlyWrite
        var early = changes.inserted
        if save.number % 4 == 2 {
            // Afterwards, one row gets other values, and one is deleted.
            early = Array(early.prefix((early.count + 1) / 2))
            early[0] = StoredRow(key: row.key, row: TestModel.row(.null, .null, .text("before")))
            early.append(StoredRow(key: 2_000_000 + save.number, row: TestModel.row(.null, .null, .text("gone"))))
        }
        for row in early where write(NewRows(entity: changes.entity, [row]), for: earlyWrite) == false { break }
        if save.number % 4 == 3 { abandon(earlyWrite) }
        try write([save])
    }
}
