#if PostgreSQL
internal import CPostgreSQL
internal import Foundation
package import RowStore

package struct PostgreSQLOptions: Sendable {
    /// A connection string for libpq: a URI or keywords.
    package var connection: String
    /// The store's name in the database.
    package var name: String
    package var layout: ModelLayout
    package var identity: StoreIdentity
    package var synchronous: SynchronousLevel
    package var resetPolicy: ResetPolicy
    /// Whether the store is opened for reading only.
    var isReadOnly = false
    /// The settings that select one of several servers; empty to accept any server that answers.
    var server: [String: String] = [:]
    /// The handler for the statements that run once the store is open.
    package var tracing: StatementTracing?
    /// Called with the progress of a migration.
    package var migrationProgress: (@Sendable (MigrationProgress) -> Void)?
    /// The times for keeping leases and waiting for them.
    package var leaseTimes = LeaseTimes()
    /// The name of the container as a member of the store.
    package var memberName = ProcessInfo.processInfo.processName
    /// Whether the store keeps a history, and how much of it.
    package var history = KeptHistory.unchanged
    /// Whether to listen for notifications; false for tests of servers without notifications.
    package var isNotified = true
    /// The longest wait for an answer while no bytes are sent or received.
    package var responseTimeout = Duration.seconds(60)
    /// The time without sent or received bytes after which to check whether the server works on the answer.
    package var silence = Duration.seconds(10)
    /// How long an idle reading connection is kept.
    package var idleReaderTime = Duration.seconds(30)
    /// The longest time that the main thread waits for the server.
    package var mainPatience = Duration.seconds(10)
    /// How long to look for the outcome of a transaction whose answer was lost.
    package var outcomeTimeout = Duration.seconds(30)
    /// The age at which an open transaction of any program is reported, because old transactions make tables grow.
    package var oldTransactionAge = Duration.seconds(600)
    /// Waits before another try.
    package var wait: @Sendable (Duration) -> Void = { Thread.sleep(forTimeInterval: $0 / .seconds(1)) }

    /// The longest value that a store on a server can keep, in bytes.
    static let longestValue = min(RowSnapshot.longestValue, 256 << 20)

    package init(
        connection: String, name: String, layout: ModelLayout, identity: StoreIdentity,
        synchronous: SynchronousLevel = .full, resetPolicy: ResetPolicy = .standard
    ) {
        self.connection = connection
        self.name = name
        self.layout = layout
        self.identity = identity
        self.synchronous = synchronous
        self.resetPolicy = resetPolicy
    }

    var target: ConnectionTarget {
        ConnectionTarget(
            connection: connection, isReadOnly: isReadOnly, server: server, responseTimeout: responseTimeout,
            silence: silence)
    }
}

struct ConnectionTarget: Sendable {
    /// A connection string for libpq: a URI or keywords. The string can contain a password, so no error and no log
    /// shows the string.
    let connection: String
    /// Whether a standby is accepted.
    var isReadOnly = false
    /// The settings that select one of several servers; empty to accept any server that answers.
    var server: [String: String] = [:]
    /// The longest wait for an answer while no bytes are sent or received.
    var responseTimeout: Duration
    /// The time without sent or received bytes after which to check whether the server works on the answer.
    var silence = Duration.seconds(10)

    static let unreadableText =
        "libpq cannot read the connection string. Write the string as postgresql://user:password@host:5432/database, with special characters in the password as % and two digits, such as %40 for @ and %2F for /."

    var programName: String { ProcessInfo.processInfo.processName }

    /// - Throws: `invalidRequest` if libpq cannot read the connection string. The error leaves out libpq's message,
    ///   which can show parts of the password.
    func check() throws(DataSourceError) {
        let options = PQconninfoParse(connection, nil)
        defer { PQconninfoFree(options) }
        var isReadable = options != nil
        var option = options
        // The check also refuses the URI of a database whose name really contains an @.
        let isURI = ["postgres://", "postgresql://"].contains { connection.hasPrefix($0) }
        while let found = option?.pointee, let keyword = found.keyword {
            // If an @ or a / in a password was not written as %40 or %2F, parts of the password end up in the host, the port or
            // the database name.
            let isOfAddress = ["host", "port"].contains(String(cString: keyword))
            if isOfAddress || (isURI && String(cString: keyword) == "dbname"), let value = found.val,
                String(cString: value).contains("@")
            {
                isReadable = false
            }
            option = option?.advanced(by: 1)
        }
        if isReadable { return }
        throw DataSourceError(.invalidRequest, ConnectionTarget.unreadableText)
    }
}

/// The requirements for a server, and the settings of each connection.
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

    /// Sets the usual lock timeout for the open transaction.
    static let lockTimeout = Request("SET LOCAL lock_timeout = \(longestLock)")
    /// Sets a short lock timeout for the open transaction, so that other saves do not wait for long.
    static let rowLockTimeout = Request("SET LOCAL lock_timeout = 200")
    /// Sets a very short lock timeout for the open transaction, to find out which rows are locked.
    static let shortLockTimeout = Request("SET LOCAL lock_timeout = 20")

    /// Sets all settings that the library relies on, regardless of the server's defaults.
    ///
    /// - Returns: The start time of the server process, as the server writes it.
    func configureSession() throws(DataSourceError) -> String {
        let settings = [
            "search_path": "''", "standard_conforming_strings": "on", "jit": "off",
            "lock_timeout": Connection.longestLock,
            "statement_timeout": "0", "idle_in_transaction_session_timeout": "0",
            "default_transaction_isolation": "'read committed'",
            "default_transaction_read_only": target.isReadOnly ? "on" : "off",
        ]
        let process = try pipeline(
            settings.sorted(by: { $0.key < $1.key }).map { Request("SET \($0) = \($1)", isKept: false) } + [
                // Only newer servers have these settings, so set those that exist.
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
