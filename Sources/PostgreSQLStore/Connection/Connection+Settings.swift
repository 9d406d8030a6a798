#if PostgreSQL
internal import CPostgreSQL
internal import RowStore

/// What a server must be, and what is set on each connection.
extension Connection {
    /// The oldest server version that is known to work.
    private static let oldestServer: Int32 = 130_000

    func checkServer(_ handle: OpaquePointer, _ target: ConnectionTarget) throws(DataSourceError) {
        let version = PQserverVersion(handle)
        guard version >= Connection.oldestServer else {
            throw DataSourceError(
                .storeUnreadable,
                "The server has PostgreSQL \(version / 10_000), but a store needs 13 or newer. Update the server.")
        }
        let encoding = PQparameterStatus(handle, "server_encoding").map { String(cString: $0) } ?? "unknown"
        guard encoding == "UTF8" else {
            throw DataSourceError(
                .storeUnreadable,
                "The database has the encoding \(encoding), which cannot hold every string. Create a database with ENCODING 'UTF8'."
            )
        }
    }

    /// How long a statement waits for a lock, in milliseconds.
    private static let longestLock = "10000"

    /// Has statements of the open transaction wait for locks as long as elsewhere.
    static let lockTimeout = Request("SET LOCAL lock_timeout = \(longestLock)")
    /// Has statements of the open transaction wait for locked rows no longer than other saves may be held up.
    static let rowLockTimeout = Request("SET LOCAL lock_timeout = 200")
    /// The same where rows are known to be locked, and it is found out which.
    static let shortLockTimeout = Request("SET LOCAL lock_timeout = 20")

    /// Sets everything that the library relies on, whatever the server's defaults are.
    ///
    /// - Returns: When the server's process began, as the server writes it.
    func settle() throws(DataSourceError) -> String {
        let settings = [
            "search_path": "''", "standard_conforming_strings": "on", "jit": "off",
            "lock_timeout": Connection.longestLock,
            "statement_timeout": "0", "idle_in_transaction_session_timeout": "0",
            "default_transaction_isolation": "'read committed'",
            "default_transaction_read_only": target.isReadOnly ? "on" : "off",
        ]
        let process = try pipeline(
            settings.sorted(by: { $0.key < $1.key }).map { Request("SET \($0) = \($1)", isKept: false) } + [
                // Newer servers have them.
                Request(
                    """
                    SELECT set_config(name, '0', false) FROM pg_settings WHERE name IN ('idle_session_timeout', 'transaction_timeout')
                    """, isKept: false),
                Request(
                    "SELECT pg_backend_pid(), backend_start::text FROM pg_stat_get_activity(pg_backend_pid())",
                    isKept: false),
            ])[settings.count + 1]
        guard process.rowCount == 1, process.integer(0, 0) == Int64(serverProcess) else {
            throw DataSourceError(
                .storeUnreadable,
                "A connection pool (pgbouncer or the like) is between this process and the server. A store needs direct connections: connect to the server itself."
            )
        }
        return process.text(0, 1)
    }
}
#endif
