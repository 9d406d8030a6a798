#if PostgreSQL
internal import RowStore

/// Brings the indexes of an opened store to those of the model. They are not part of the hash, and no answer depends on them.
struct IndexBuilding {
    let connection: Connection
    let schema: PostgreSQLSchema

    /// How long building beside others waits for each of their transactions.
    private static let patience = "10s"

    /// Whether this role may build and drop indexes.
    func isAllowed() throws(DataSourceError) -> Bool {
        try connection.rows(
            "SELECT pg_has_role(nspowner, 'USAGE') FROM pg_namespace WHERE nspname = $1", [WireValue(schema.name)]
        ).isTrue(0, 0)
    }

    /// The indexes that are missing. One that was not built to its end counts as missing.
    func missing() throws(DataSourceError) -> [PostgreSQLTable.Index] {
        let valid = try present(isValid: true)
        return schema.tables.compactMap(\.self).flatMap(\.indexes).filter { !valid.contains($0.name) }
    }

    /// Builds what is missing and drops what the model no longer has, while no one else has the store open.
    func updateAlone() throws(DataSourceError) {
        let wanted = Set(schema.tables.compactMap(\.self).flatMap(\.indexes).map(\.name))
        let unfinished = try present(isValid: false)
        let superfluous = try present(isValid: true).subtracting(wanted)
        for name in unfinished.union(superfluous).sorted() { try connection.run(dropSQL(name)) }
        for index in try missing() { _ = try connection.pipeline([Request(index.createSQL(), isKept: false)]) }
    }

    /// Builds what is missing while others write. It holds up none of their saves, and must not be called while the store is held:
    /// it waits for their transactions, and so for those who wait for the store.
    ///
    /// An index that cannot be built, because somebody reads for long, is missing until the store is opened again.
    ///
    /// - Throws: `storeUnavailable`.
    func buildBesideOthers() throws(DataSourceError) {
        // Whoever holds it builds them.
        let lock = "hashtext('coredatasource index'), hashtext(\(schema.name.quotedText))"
        guard try connection.rows("SELECT pg_try_advisory_lock(\(lock))").isTrue(0, 0) else { return }
        defer { try? connection.run("SELECT pg_advisory_unlock(\(lock))") }
        try connection.run("SET lock_timeout = '\(IndexBuilding.patience)'")
        defer { try? connection.run("RESET lock_timeout") }
        do throws(DataSourceError) {
            for name in try present(isValid: false).sorted() { try drop(name) }
            for index in try missing() {
                do throws(DataSourceError) {
                    _ = try connection.pipeline([Request(index.createSQL(isConcurrent: true), isKept: false)])
                } catch {
                    if !error.isLoss { try drop(index.name) }
                    throw error
                }
            }
        } catch  where !error.isLoss {
            return
        }
    }

    private func drop(_ name: String) throws(DataSourceError) {
        _ = try connection.pipeline([Request(dropSQL(name, isConcurrent: true), isKept: false)])
    }

    private func dropSQL(_ name: String, isConcurrent: Bool = false) -> String {
        "DROP INDEX \(isConcurrent ? "CONCURRENTLY " : "")IF EXISTS \(schema.name.quoted).\(name.quoted)"
    }

    /// The names of the indexes of this library that are there.
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
