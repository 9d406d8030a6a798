#if PostgreSQL
internal import CPostgreSQL
internal import Foundation
internal import MigrationSQL
internal import RowStore

/// One connection to a server.
///
/// Statements are sent in a pipeline, so any number of statements takes one round trip. A call fails if no bytes are
/// sent or received for the time ``responseTimeout``. On the main thread, a call also fails at the limit of
/// ``MainWait``. After such a failure, the connection is lost.
///
/// Only the code that made a connection, or got it from a pool, uses the connection.
final class Connection: SQLConnection {
    private(set) var handle: OpaquePointer?
    /// The names of the prepared statements on the server, by the SQL of the statements.
    private var prepared: [String: String] = [:]
    private var lastStatement = 0
    /// The longest wait for an answer while no bytes are sent or received; nil to wait as long as the server works on
    /// the answer.
    var responseTimeout: Duration?
    /// The time without sent or received bytes after which to check whether the server works on the answer; nil for no check.
    var silence: Duration?
    let target: ConnectionTarget
    /// The ID of the server process for this connection.
    let serverProcess: Int32
    /// The start time of the server process, as the server writes it. Process IDs are reused, so only the ID and the start time
    /// together identify the process.
    private(set) var serverProcessStart = ""
    var tracing: StatementTracing?
    var counters: PostgreSQLCounters?
    /// The index of the statement that failed in the newest pipeline; nil if none failed.
    private(set) var failedRequest: Int?
    /// Whether a transaction is open, as far as the client knows.
    private(set) var isInTransaction = false

    /// The largest number of prepared statements of one connection.
    private static let statementLimit = 256

    /// Connects, and checks that the server can be used.
    init(_ target: ConnectionTarget) throws(DataSourceError) {
        responseTimeout = Connection.setupTimeout
        self.target = target
        let settings: [(String, String)] =
            [
                ("connect_timeout", "5"), ("tcp_user_timeout", "10000"), ("keepalives_idle", "5"),
                ("keepalives_interval", "2"), ("keepalives_count", "3"),
                ("fallback_application_name", target.programName),
                // If there are several hosts, a connection that writes needs the primary server.
                ("target_session_attrs", target.isReadOnly ? "any" : "read-write"), ("dbname", target.connection),
                ("client_encoding", "UTF8"),
            ] + target.server.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
        try target.check()
        let start = ContinuousClock.now
        let made = try Connection.attempt(settings)
        guard let made, PQstatus(made) == CONNECTION_OK else {
            let message = made.map(Connection.message) ?? ""
            PQfinish(made)
            // If the server did not answer, there is no error code to look up.
            let isQuick = ContinuousClock.now - start < Connection.refusalTimeout
            throw DataSourceError(
                connectionFailure: message, state: isQuick ? Connection.refusal(settings) : nil)
        }
        handle = made
        serverProcess = PQbackendPID(made)
        PQsetnonblocking(made, 1)
        // Drop notices, which are meant for people at a terminal.
        PQsetNoticeProcessor(made, { _, _ in }, nil)
        do throws(DataSourceError) {
            try checkServer(made, target)
            serverProcessStart = try configureSession()
        } catch {
            close()
            throw error
        }
        responseTimeout = target.responseTimeout
        silence = target.silence
    }

    deinit { close() }

    func close() {
        if let handle { PQfinish(handle) }
        handle = nil
    }

    /// The longest time in which a server is expected to refuse a connection.
    private static let refusalTimeout = Duration.seconds(2)

    /// Connects again to get the code of the error with which the server refuses the connection; nil if there is no code.
    ///
    /// The error message is in the server's language. libpq adds the code to the message only if the client requests the code
    /// before the server answers.
    private static func refusal(_ settings: [(String, String)]) -> String? {
        guard let handle = withPointers(settings, { PQconnectStartParams($0, $1, 1) }) else { return nil }
        defer { PQfinish(handle) }
        PQsetErrorVerbosity(handle, PQERRORS_SQLSTATE)
        let end = ContinuousClock.now + refusalTimeout
        var state = PGRES_POLLING_WRITING
        while state == PGRES_POLLING_WRITING || state == PGRES_POLLING_READING {
            let left = end - ContinuousClock.now
            var ready = pollfd(
                fd: PQsocket(handle), events: Int16(state == PGRES_POLLING_READING ? POLLIN : POLLOUT), revents: 0)
            guard left > .zero else { return nil }
            // The wait can also end because of a signal.
            if poll(&ready, 1, Int32(left / .milliseconds(1))) > 0 { state = PQconnectPoll(handle) }
        }
        guard state == PGRES_POLLING_FAILED else { return nil }
        return message(handle).split(whereSeparator: \.isWhitespace).last.map(String.init)
    }

    /// Passes the names and values of settings to the body as C strings, in libpq's form.
    static func withPointers(
        _ settings: [(String, String)],
        _ body: (UnsafePointer<UnsafePointer<CChar>?>, UnsafePointer<UnsafePointer<CChar>?>) -> OpaquePointer?
    ) -> OpaquePointer? {
        var names = settings.map { strdup($0.0) }.map { UnsafePointer($0) }
        var values = settings.map { strdup($0.1) }.map { UnsafePointer($0) }
        names.append(nil)
        values.append(nil)
        defer { for pointer in names + values { free(UnsafeMutablePointer(mutating: pointer)) } }
        return body(names, values)
    }

    static func message(_ handle: OpaquePointer) -> String {
        String(cString: PQerrorMessage(handle)).trimmingCharacters(in: .whitespacesAndNewlines)
    }

    // MARK: State

    /// Whether the connection can still be used, as far as the client knows.
    var isUsable: Bool { handle.map { PQstatus($0) == CONNECTION_OK } ?? false }

    /// The settings that select the same server again, even if the connection string names several servers.
    var server: [String: String] {
        guard let handle else { return [:] }
        var settings: [String: String] = [:]
        for (name, value) in [("host", PQhost(handle)), ("hostaddr", PQhostaddr(handle)), ("port", PQport(handle))] {
            if let value, value.pointee != 0 { settings[name] = String(cString: value) }
        }
        return settings
    }

    /// The socket, for `poll`.
    var socket: Int32 { handle.map { PQsocket($0) } ?? -1 }

    /// Reads the notifications that the server has sent.
    ///
    /// - Returns: Whether there was a notification.
    func takeNotifications() throws(DataSourceError) -> Bool {
        guard let handle, PQconsumeInput(handle) == 1 else { throw connectionLost() }
        var found = false
        while let notification = PQnotifies(handle) {
            found = true
            PQfreemem(notification)
        }
        return found
    }

    // MARK: Statements

    func run(_ sql: String) throws(DataSourceError) { _ = try pipeline([Request(sql)]) }

    func rows(_ sql: String, _ parameters: [WireValue] = []) throws(DataSourceError) -> QueryResult {
        try pipeline([Request(sql, parameters)])[0]
    }

    func values(_ sql: String, _ values: [RowValue]) throws(DataSourceError) -> [[RowValue]] {
        try rows(sql, values.map { WireValue($0) }).values
    }

    /// Runs statements in order, and returns the result of each.
    ///
    /// - Throws: The error of the first statement that failed; later statements did not run. `storeUnavailable` if the
    ///   connection is lost.
    func pipeline(_ requests: [Request]) throws(DataSourceError) -> [QueryResult] {
        failedRequest = nil
        guard let handle else { throw connectionLost() }
        // Forget statements only outside of a transaction, because a failed transaction accepts no statement.
        if prepared.count > Connection.statementLimit, PQtransactionStatus(handle) == PQTRANS_IDLE {
            try forgetStatements(handle)
        }
        guard PQenterPipelineMode(handle) == 1 else { throw connectionLost() }
        let start = ContinuousClock.now
        // Statements count as prepared once the answers have come.
        var expected: [Expected] = []
        for request in requests { try send(request, handle, &expected) }
        guard PQpipelineSync(handle) == 1 else { throw connectionLost() }
        counters?.count(roundTrips: 1)
        let (results, failure) = try receive(expected, handle)
        guard PQexitPipelineMode(handle) == 1 else { throw connectionLost() }
        if let tracing { trace(requests, results, duration: ContinuousClock.now - start, to: tracing) }
        try end(handle, failure)
        return results
    }

    /// Ends a pipeline, with or without an error.
    func end(_ handle: OpaquePointer, _ failure: DataSourceError?) throws(DataSourceError) {
        isInTransaction = PQtransactionStatus(handle) != PQTRANS_IDLE
        guard let failure else { return }
        // The server no longer accepts writes, so a new connection must find the primary server.
        if failure.code == .storeReadOnly { close() }
        throw failure
    }

    private enum Expected {
        case preparation(sql: String, name: String)
        case answer
    }

    private func send(
        _ request: Request, _ handle: OpaquePointer, _ expected: inout [Expected]
    ) throws(DataSourceError) {
        var name = prepared[request.sql]
        for case .preparation(let sql, let new) in expected where sql == request.sql { name = new }
        if name == nil, request.isKept {
            lastStatement += 1
            let new = "s\(lastStatement)"
            guard PQsendPrepare(handle, new, request.sql, 0, nil) == 1 else { throw connectionLost() }
            expected.append(.preparation(sql: request.sql, name: new))
            name = new
        }
        let isSent = request.withPointers { values, lengths, formats, count in
            if let name { return PQsendQueryPrepared(handle, name, count, values, lengths, formats, 1) }
            return PQsendQueryParams(handle, request.sql, count, nil, values, lengths, formats, 1)
        }
        guard isSent == 1 else { throw connectionLost() }
        expected.append(.answer)
    }

    private func receive(
        _ expected: [Expected], _ handle: OpaquePointer
    ) throws(DataSourceError) -> (results: [QueryResult], failure: DataSourceError?) {
        var results: [QueryResult] = []
        var failure: DataSourceError?
        var index = 0
        for expectation in expected {
            defer { if case .answer = expectation { index += 1 } }
            var last: QueryResult?
            while let result = try next(handle) { last = result }
            guard let last else { throw connectionLost() }
            switch last.status {
            case PGRES_TUPLES_OK, PGRES_COMMAND_OK:
                switch expectation {
                case .preparation(let sql, let name): prepared[sql] = name
                case .answer: results.append(last)
                }
            case PGRES_PIPELINE_ABORTED: break
            default: if failure == nil { (failure, failedRequest) = (DataSourceError(answer: last), index) }
            }
        }
        // The end of the pipeline.
        guard let end = try next(handle), end.status == PGRES_PIPELINE_SYNC else { throw connectionLost() }
        return (results, failure)
    }

    /// The next result; nil at the end of a statement's results.
    func next(_ handle: OpaquePointer) throws(DataSourceError) -> QueryResult? {
        try wait(handle) { PQisBusy(handle) == 1 }
        return PQgetResult(handle).map { QueryResult($0) }
    }

    private func forgetStatements(_ handle: OpaquePointer) throws(DataSourceError) {
        prepared = [:]
        _ = try pipeline([Request("DEALLOCATE ALL", isKept: false)])
    }

    /// Closes the connection, which can no longer be used, and returns the error.
    func connectionLost(_ cause: String? = nil) -> DataSourceError {
        let cause = cause ?? handle.map(Connection.message) ?? "The connection is closed."
        close()
        return DataSourceError(
            .storeUnavailable, "The connection to the server is lost. \(DataSourceError.afterLossMessage)",
            cause: cause)
    }

    private func trace(
        _ requests: [Request], _ results: [QueryResult], duration: Duration, to tracing: StatementTracing
    ) {
        for (request, result) in zip(requests, results) {
            tracing.report(
                StatementTrace(
                    sql: request.sql, duration: duration / results.count,
                    rowCount: max(result.rowCount, result.changedRows), isWriting: !request.sql.hasPrefix("SELECT"))
            )
        }
    }
}
#endif
