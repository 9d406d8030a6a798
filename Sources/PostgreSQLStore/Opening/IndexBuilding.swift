#if PostgreSQL
internal import RowStore

/// Builds and drops indexes of an opened store, until the indexes match the model. Indexes are not part of the model's
/// hash, and do not change the results of queries.
struct IndexBuilding {
    let connection: Connection
    let schema: PostgreSQLSchema

    /// How long a concurrent build waits for each transaction of other members.
    private static let lockTimeout = "10s"

    /// Whether this role has the right to build and drop indexes.
    func isAllowed() throws(DataSourceError) -> Bool {
        try connection.rows(
            "SELECT pg_has_role(nspowner, 'USAGE') FROM pg_namespace WHERE nspname = $1", [WireValue(schema.name)]
        ).isTrue(0, 0)
    }

    /// The missing indexes. An index whose build did not finish counts as missing.
    func missing() throws(DataSourceError) -> [PostgreSQLTable.Index] {
        let valid = try present(isValid: true)
        return schema.tables.compactMap(\.self).flatMap(\.indexes).filter { !valid.contains($0.name) }
    }

    /// Builds missing indexes and drops superfluous indexes. The store must not be open in another member.
    func updateAlone() throws(DataSourceError) {
        let wanted = Set(schema.tables.compactMap(\.self).flatMap(\.indexes).map(\.name))
        let unfinished = try present(isValid: false)
        let superfluous = try present(isValid: true).subtracting(wanted)
        for name in unfinished.union(superfluous).sorted() { try connection.run(dropSQL(name)) }
        for index in try missing() { _ = try connection.pipeline([Request(index.createSQL(), isKept: false)]) }
    }

    /// Builds missing indexes while other members write, without delaying their saves. The store must not be locked
    /// during the build: the build waits for transactions of members, and these transactions can wait for the lock of
    /// the store.
    ///
    /// If long reads prevent an index from being built, the index is missing until the store is opened again.
    ///
    /// - Throws: `storeUnavailable`.
    func buildConcurrently() throws(DataSourceError) {
        // If another process has the lock, that process builds the indexes.
        let lock = "hashtext('coredatasource index'), hashtext(\(schema.name.quotedText))"
        guard try connection.rows("SELECT pg_try_advisory_lock(\(lock))").isTrue(0, 0) else { return }
        defer { try? connection.run("SELECT pg_advisory_unlock(\(lock))") }
        try connection.run("SET lock_timeout = '\(IndexBuilding.lockTimeout)'")
        defer { try? connection.run("RESET lock_timeout") }
        do throws(DataSourceError) {
            for name in try present(isValid: false).sorted() { try drop(name) }
            for index in try missing() {
                do throws(DataSourceError) {
                    _ = try connection.pipeline([Request(index.createSQL(isConcurrent: true), isKept: false)])
                } catch {
                    if !error.isConnectionLoss { try drop(index.name) }
                    throw error
                }
            }
        } catch  where !error.isConnectionLoss {
            return
        }
    }

    private func drop(_ name: String) throws(DataSourceError) {
        _ = try connection.pipeline([Request(dropSQL(name, isConcurrent: true), isKept: false)])
    }

    private func dropSQL(_ name: String, isConcurrent: Bool = false) -> String {
        "DROP INDEX \(isConcurrent ? "CONCURRENTLY " : "")IF EXISTS \(schema.name.quoted).\(name.quoted)"
    }

    /// The names of this library's indexes in the schema.
    private func present(isValid: Bool) throws(DataSourceError) -> Set<String> {
        let found = try connection.rows(
            """
            SELECT c.relname FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid JOIN pg_namespace n ON n.oid = c.relnamespace \
            WHERE n.nspname = $1 AND starts_with(c.relname, '_index ') AND i.indisvalid = \(isValid)
            """, [WireValue(schema.name)])
        return Set((0..<found.rowCount).map { found.text($0, 0) })
    }
}
#endif
