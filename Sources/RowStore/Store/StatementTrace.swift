/// A statement that a store ran, with its duration and its number of rows.
///
/// ```swift
/// configuration.trace = { if $0.duration > .milliseconds(50) { print($0) } }
/// ```
public struct StatementTrace: Sendable, Hashable, CustomStringConvertible {
    /// The SQL, with a placeholder for each value: `?1`, `?2` ... in SQLite, `$1`, `$2` ... in PostgreSQL. If values
    /// are traced, SQLite's placeholders are replaced by the values, except that a list is shown as NULL.
    public let sql: String
    /// In SQLite, the time from the first step of the statement to its end, including the work of the caller on the
    /// statement's rows. In PostgreSQL, an equal share of the time of all statements that were sent together.
    public let duration: Duration
    /// The number of rows that the statement returned. If the statement writes, the number of rows that it changed.
    public let rowCount: Int
    /// Whether the statement can write.
    public let isWriting: Bool
    /// The number of instructions that SQLite ran. The number is high for a statement that reads many rows to return few. It is
    /// 0 in other stores.
    package let stepCount: Int

    package init(sql: String, duration: Duration, rowCount: Int, isWriting: Bool, stepCount: Int = 0) {
        self.sql = sql
        self.duration = duration
        self.rowCount = rowCount
        self.isWriting = isWriting
        self.stepCount = stepCount
    }

    /// The duration, the number of rows and the SQL, for example `0.120 ms, 3 rows: SELECT ...`.
    public var description: String {
        let (seconds, attoseconds) = duration.components
        let microseconds = seconds * 1_000_000 + attoseconds / 1_000_000_000_000
        let fraction = "\(1_000 + microseconds % 1_000)".dropFirst()
        return "\(microseconds / 1_000).\(fraction) ms, \(rowCount) \(rowCount == 1 ? "row" : "rows"): \(sql)"
    }
}

/// A handler for statements, and whether the statements show their values.
package struct StatementTracing: Sendable {
    package let report: @Sendable (StatementTrace) -> Void
    package let showsValues: Bool

    package init(showsValues: Bool, _ report: @escaping @Sendable (StatementTrace) -> Void) {
        self.report = report
        self.showsValues = showsValues
    }
}
