internal import CSQLite
internal import RowStore

/// Reports the statements of one connection.
///
/// Guarded by: the owner of the connection.
final class StatementTracer {
    private struct Run {
        let start: ContinuousClock.Instant
        /// How many rows the connection had changed until then.
        let changes: Int64
        var rows = 0
    }

    private let tracing: StatementTracing
    private let connection: OpaquePointer
    /// The running statements: more than one if a read is made during another one.
    private var running: [OpaquePointer: Run] = [:]

    /// Starts tracing. The connection must keep the tracer until it is closed.
    init(_ connection: OpaquePointer, _ tracing: StatementTracing) {
        self.connection = connection
        self.tracing = tracing
        // SQLite's own durations are in whole milliseconds, so they are measured here.
        sqlite3_trace_v2(
            connection, UInt32(SQLITE_TRACE_STMT | SQLITE_TRACE_ROW | SQLITE_TRACE_PROFILE),
            { event, tracer, statement, detail in
                guard let tracer, let statement else { return 0 }
                Unmanaged<StatementTracer>.fromOpaque(tracer).takeUnretainedValue()
                    .note(event, OpaquePointer(statement), detail)
                return 0
            }, Unmanaged.passUnretained(self).toOpaque())
    }

    private func note(_ event: UInt32, _ statement: OpaquePointer, _ detail: UnsafeMutableRawPointer?) {
        switch Int32(event) {
        case SQLITE_TRACE_STMT:
            // Statements that run inside another one are part of it; SQLite reports them as a comment.
            if let text = detail?.assumingMemoryBound(to: CChar.self), text[0] == 0x2D, text[1] == 0x2D { return }
            running[statement] = Run(start: .now, changes: sqlite3_total_changes64(connection))
        case SQLITE_TRACE_ROW: running[statement]?.rows += 1
        default:
            if let run = running.removeValue(forKey: statement) { report(statement, run) }
        }
    }

    private func report(_ statement: OpaquePointer, _ run: Run) {
        let isWriting = sqlite3_stmt_readonly(statement) == 0
        let rows = isWriting ? Int(sqlite3_total_changes64(connection) - run.changes) : run.rows
        // Reading the counter sets it back to 0 for the next run.
        let steps = Int(sqlite3_stmt_status(statement, SQLITE_STMTSTATUS_VM_STEP, 1))
        tracing.report(
            StatementTrace(
                sql: text(statement), duration: ContinuousClock.now - run.start, rowCount: rows, isWriting: isWriting,
                stepCount: steps))
    }

    private func text(_ statement: OpaquePointer) -> String {
        if tracing.showsValues, let expanded = sqlite3_expanded_sql(statement) {
            defer { sqlite3_free(expanded) }
            return String(cString: expanded)
        }
        return sqlite3_sql(statement).map { String(cString: $0) } ?? ""
    }
}
