#if PostgreSQL
internal import RowStore

extension Connection {
    /// Runs the body, which uses the tables of a generation.
    ///
    /// - Throws: `storeReset` if the tables are gone because another process has reset the store.
    func ofGeneration<R>(
        _ schema: PostgreSQLSchema, _ name: String, _ body: () throws(DataSourceError) -> R
    ) throws(DataSourceError) -> R {
        do throws(DataSourceError) { return try body() } catch {
            guard error.code == .storeCorrupt, isUsable else { throw error }
            if isInTransaction { try run("ROLLBACK") }
            guard let found = try Registry(self).entry(name), found.schema != schema.name else {
                throw error
            }
            throw DataSourceError(resetElsewhere: name)
        }
    }
}

extension DataSourceError {
    init(resetElsewhere name: String) {
        self.init(
            .storeReset,
            "Another process has reset the store \(name) while this one did not answer. Open it again.")
    }

    init(goneMemberOf name: String) {
        self.init(
            .storeUnavailable,
            "The store \(name) no longer knows this process, or refused its save after a lost answer. The save is tried again."
        )
    }
}
#endif
