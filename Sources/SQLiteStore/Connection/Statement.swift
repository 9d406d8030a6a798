internal import CSQLite
internal import RowStore

/// A prepared statement. Loops over rows use its handle directly.
final class Statement {
    let handle: OpaquePointer

    init(_ handle: OpaquePointer) {
        self.handle = handle
    }

    deinit {
        sqlite3_finalize(handle)
    }

    @inline(__always)
    func step() -> Int32 { sqlite3_step(handle) }

    /// Resets the statement for its next run. Removes the bound values, because they may point to memory that is about to be
    /// freed.
    func clear() {
        sqlite3_reset(handle)
        sqlite3_clear_bindings(handle)
    }

    /// Binds a copy of the value.
    func bind(_ value: RowValue, _ parameter: Int32) -> Int32 {
        switch value {
        case .null: return sqlite3_bind_null(handle, parameter)
        case .integer(let value): return sqlite3_bind_int64(handle, parameter, value)
        case .real(let value): return sqlite3_bind_double(handle, parameter, value)
        case .text(var value):
            return value.withUTF8 { text in
                text.withMemoryRebound(to: CChar.self) {
                    sqlite3_bind_text64(
                        handle, parameter, $0.baseAddress ?? emptyText, UInt64($0.count), copied, UInt8(SQLITE_UTF8))
                }
            }
        case .blob(let value):
            return value.withUnsafeBytes {
                $0.isEmpty
                    ? sqlite3_bind_zeroblob(handle, parameter, 0)
                    : sqlite3_bind_blob64(handle, parameter, $0.baseAddress, UInt64($0.count), copied)
            }
        }
    }

    /// Returns a copy of a column of the current row.
    func value(_ column: Int32) -> RowValue {
        switch sqlite3_column_type(handle, column) {
        case SQLITE_INTEGER: return .integer(sqlite3_column_int64(handle, column))
        case SQLITE_FLOAT: return .real(sqlite3_column_double(handle, column))
        case SQLITE_TEXT: return .text(String(decoding: bytes(column), as: UTF8.self))
        case SQLITE_BLOB: return .blob(Array(bytes(column)))
        default: return .null
        }
    }

    private func bytes(_ column: Int32) -> UnsafeRawBufferPointer {
        let start = sqlite3_column_blob(handle, column)
        return UnsafeRawBufferPointer(start: start, count: start == nil ? 0 : Int(sqlite3_column_bytes(handle, column)))
    }
}

/// Tells SQLite to copy the bound bytes. The value is that of the macro `SQLITE_TRANSIENT`, which Swift cannot import.
let copied = unsafeBitCast(-1, to: sqlite3_destructor_type.self)

/// The address of an empty string. SQLite would store a null pointer as NULL.
var emptyText: UnsafePointer<CChar> {
    UnsafeRawPointer(StaticString("").utf8Start).assumingMemoryBound(to: CChar.self)
}

/// The limits of this build of SQLite.
struct SQLLimits: Sendable {
    var variables: Int
    /// The maximum number of arguments of a function.
    var arguments: Int
    var length: Int
}

/// Reports the statements of one connection.
///
/// Guarded by: the owner of the connection.
final class StatementTracer {
    private struct Run {
        let start: ContinuousClock.Instant
        /// The number of rows that the connection had changed before this run.
        let changes: Int64
        var rows = 0
    }

    private let tracing: StatementTracing
    private let connection: OpaquePointer
    /// The running statements. There are several if one read runs inside another.
    private var running: [OpaquePointer: Run] = [:]

    /// Starts the tracing. The tracer must exist until the connection is closed.
    init(_ connection: OpaquePointer, _ tracing: StatementTracing) {
        self.connection = connection
        self.tracing = tracing
        // Measure durations here, because SQLite measures only whole milliseconds.
        sqlite3_trace_v2(
            connection, UInt32(SQLITE_TRACE_STMT | SQLITE_TRACE_ROW | SQLITE_TRACE_PROFILE),
            { event, tracer, statement, detail in
                guard let tracer, let statement else { return 0 }
                Unmanaged<StatementTracer>.fromOpaque(tracer).takeUnretainedValue()
                    .record(event, OpaquePointer(statement), detail)
                return 0
            }, Unmanaged.passUnretained(self).toOpaque())
    }

    private func record(_ event: UInt32, _ statement: OpaquePointer, _ detail: UnsafeMutableRawPointer?) {
        switch Int32(event) {
        case SQLITE_TRACE_STMT:
            // SQLite reports a nested statement as a comment. Ignore it, because it counts as a part of the outer statement.
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
        // Reading the counter resets it for the next run.
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
