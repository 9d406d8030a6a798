#if PostgreSQL
internal import CPostgreSQL
internal import Foundation
internal import MigrationSQL
internal import RowStore

/// One connection to a server.
///
/// Statements are sent in a pipeline: any number of statements takes one round trip. No call waits longer than the connection's
/// patience while no bytes come or go, and main no longer than ``MainWait`` says; a connection that does not answer is lost.
///
/// It belongs to the code that made it, or got it from a pool.
final class Connection: SQLConnection {
    private(set) var handle: OpaquePointer?
    /// The names of the statements that the server knows, by their SQL.
    private var prepared: [String: String] = [:]
    private var lastStatement = 0
    /// How long an answer may take while no bytes come or go; nil for as long as the server works on it.
    var patience: Duration?
    /// After how much of that time the server is asked whether it works on the answer; nil if it is not asked.
    var silence: Duration?
    let target: ConnectionTarget
    /// The process of the server that serves it.
    let serverProcess: Int32
    /// When that process began, as the server writes it, because numbers of processes are reused.
    private(set) var serverProcessStart = ""
    var tracing: StatementTracing?
    var counters: PostgreSQLCounters?
    /// The place of the statement that failed in the newest pipeline; nil if none did.
    private(set) var failedRequest: Int?
    /// Whether a transaction is open, as far as this side knows.
    private(set) var isInTransaction = false

    /// The most statements that the server may keep for one connection.
    private static let statementLimit = 256

    /// Connects, and makes sure that the server can be used.
    init(_ target: ConnectionTarget) throws(DataSourceError) {
        patience = Connection.settlingPatience
        self.target = target
        let settings: [(String, String)] =
            [
                ("connect_timeout", "5"), ("tcp_user_timeout", "10000"), ("keepalives_idle", "5"),
                ("keepalives_interval", "2"), ("keepalives_count", "3"),
                ("fallback_application_name", target.programName),
                // If there are several hosts, the primary server.
                ("target_session_attrs", target.isReadOnly ? "any" : "read-write"), ("dbname", target.connection),
                ("client_encoding", "UTF8"),
            ] + target.server.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
        try target.check()
        let start = ContinuousClock.now
        let made = try Connection.attempt(settings)
        guard let made, PQstatus(made) == CONNECTION_OK else {
            let message = made.map(Connection.message) ?? ""
            PQfinish(made)
            // A server that does not answer has no reason either.
            let isQuick = ContinuousClock.now - start < Connection.refusalPatience
            throw DataSourceError(
                connectionFailure: message, state: isQuick ? Connection.refusal(settings) : nil)
        }
        handle = made
        serverProcess = PQbackendPID(made)
        PQsetnonblocking(made, 1)
        // Notices are for people at a terminal.
        PQsetNoticeProcessor(made, { _, _ in }, nil)
        do throws(DataSourceError) {
            try checkServer(made, target)
            serverProcessStart = try settle()
        } catch {
            close()
            throw error
        }
        patience = target.patience
        silence = target.silence
    }

    deinit { close() }

    func close() {
        if let handle { PQfinish(handle) }
        handle = nil
    }

    /// How long a server may take to refuse a connection.
    private static let refusalPatience = Duration.seconds(2)

    /// Connects again, to learn the code of the error with which the server refuses; nil if there is none.
    ///
    /// The message is in the server's language, and libpq adds the code only if it is asked before the server has answered.
    private static func refusal(_ settings: [(String, String)]) -> String? {
        guard let handle = withPointers(settings, { PQconnectStartParams($0, $1, 1) }) else { return nil }
        defer { PQfinish(handle) }
        PQsetErrorVerbosity(handle, PQERRORS_SQLSTATE)
        let end = ContinuousClock.now + refusalPatience
        var state = PGRES_POLLING_WRITING
        while state == PGRES_POLLING_WRITING || state == PGRES_POLLING_READING {
            let left = end - ContinuousClock.now
            var ready = pollfd(
                fd: PQsocket(handle), events: Int16(state == PGRES_POLLING_READING ? POLLIN : POLLOUT), revents: 0)
            guard left > .zero else { return nil }
            // A signal may have ended the wait.
            if poll(&ready, 1, Int32(left / .milliseconds(1))) > 0 { state = PQconnectPoll(handle) }
        }
        guard state == PGRES_POLLING_FAILED else { return nil }
        return message(handle).split(whereSeparator: \.isWhitespace).last.map(String.init)
    }

    /// Calls the body with the names and the values of settings, as libpq takes them.
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

    /// Whether the server can still be used, as far as this side knows.
    var isUsable: Bool { handle.map { PQstatus($0) == CONNECTION_OK } ?? false }

    /// The settings that lead to the same server again, of several that the connection string may name.
    var server: [String: String] {
        guard let handle else { return [:] }
        var settings: [String: String] = [:]
        for (name, value) in [("host", PQhost(handle)), ("hostaddr", PQhostaddr(handle)), ("port", PQport(handle))] {
            if let value, value.pointee != 0 { settings[name] = String(cString: value) }
        }
        return settings
    }

    /// For `poll`.
    var socket: Int32 { handle.map { PQsocket($0) } ?? -1 }

    /// Reads what the server has sent unasked.
    ///
    /// - Returns: Whether there was a notification.
    func takeNotifications() throws(DataSourceError) -> Bool {
        guard let handle, PQconsumeInput(handle) == 1 else { throw lost() }
        var found = false
        while let notification = PQnotifies(handle) {
            found = true
            PQfreemem(notification)
        }
        return found
    }

    // MARK: Statements

    /// Runs a statement without parameters or rows.
    func run(_ sql: String) throws(DataSourceError) { _ = try pipeline([Request(sql)]) }

    /// Runs a statement, and returns all its rows.
    func rows(_ sql: String, _ parameters: [WireValue] = []) throws(DataSourceError) -> QueryResult {
        try pipeline([Request(sql, parameters)])[0]
    }

    func values(_ sql: String, _ values: [RowValue]) throws(DataSourceError) -> [[RowValue]] {
        try rows(sql, values.map { WireValue($0) }).values
    }

    /// Runs statements one after the other, and returns the result of each.
    ///
    /// - Throws: The error of the first statement that failed; later ones did not run. `storeUnavailable` if the connection is
    ///   lost.
    func pipeline(_ requests: [Request]) throws(DataSourceError) -> [QueryResult] {
        failedRequest = nil
        guard let handle else { throw lost() }
        // After a failed transaction, no statement is accepted.
        if prepared.count > Connection.statementLimit, PQtransactionStatus(handle) == PQTRANS_IDLE {
            try forgetStatements(handle)
        }
        guard PQenterPipelineMode(handle) == 1 else { throw lost() }
        let start = ContinuousClock.now
        // Statements that are prepared once the answers have come.
        var expected: [Expected] = []
        for request in requests { try send(request, handle, &expected) }
        guard PQpipelineSync(handle) == 1 else { throw lost() }
        counters?.count(roundTrips: 1)
        let (results, failure) = try receive(expected, handle)
        guard PQexitPipelineMode(handle) == 1 else { throw lost() }
        if let tracing { trace(requests, results, duration: ContinuousClock.now - start, to: tracing) }
        try end(handle, failure)
        return results
    }

    /// Statements have ended, with or without an error.
    func end(_ handle: OpaquePointer, _ failure: DataSourceError?) throws(DataSourceError) {
        isInTransaction = PQtransactionStatus(handle) != PQTRANS_IDLE
        guard let failure else { return }
        // A server that no longer accepts writes is the wrong one.
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
            guard PQsendPrepare(handle, new, request.sql, 0, nil) == 1 else { throw lost() }
            expected.append(.preparation(sql: request.sql, name: new))
            name = new
        }
        let isSent = request.withPointers { values, lengths, formats, count in
            if let name { return PQsendQueryPrepared(handle, name, count, values, lengths, formats, 1) }
            return PQsendQueryParams(handle, request.sql, count, nil, values, lengths, formats, 1)
        }
        guard isSent == 1 else { throw lost() }
        expected.append(.answer)
    }

    private func receive(
        _ expected: [Expected], _ handle: OpaquePointer
    ) throws(DataSourceError) -> (results: [QueryResult], failure: DataSourceError?) {
        var results: [QueryResult] = []
        var failure: DataSourceError?
        var place = 0
        for expectation in expected {
            defer { if case .answer = expectation { place += 1 } }
            var last: QueryResult?
            while let result = try next(handle) { last = result }
            guard let last else { throw lost() }
            switch last.status {
            case PGRES_TUPLES_OK, PGRES_COMMAND_OK:
                switch expectation {
                case .preparation(let sql, let name): prepared[sql] = name
                case .answer: results.append(last)
                }
            case PGRES_PIPELINE_ABORTED: break
            default: if failure == nil { (failure, failedRequest) = (DataSourceError(answer: last), place) }
            }
        }
        // The end of the pipeline.
        guard let end = try next(handle), end.status == PGRES_PIPELINE_SYNC else { throw lost() }
        return (results, failure)
    }

    /// The next result; nil at the end of those of one statement.
    func next(_ handle: OpaquePointer) throws(DataSourceError) -> QueryResult? {
        try wait(handle) { PQisBusy(handle) == 1 }
        return PQgetResult(handle).map { QueryResult($0) }
    }

    private func forgetStatements(_ handle: OpaquePointer) throws(DataSourceError) {
        prepared = [:]
        _ = try pipeline([Request("DEALLOCATE ALL", isKept: false)])
    }

    /// The connection cannot be used any more.
    func lost(_ cause: String? = nil) -> DataSourceError {
        let cause = cause ?? handle.map(Connection.message) ?? "The connection is closed."
        close()
        return DataSourceError(
            .storeUnavailable, "The server does not answer. \(DataSourceError.afterLossMessage)",
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
