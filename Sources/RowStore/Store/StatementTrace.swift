/// A statement that a store ran, with its duration and its number of rows.
///
/// ```swift
/// configuration.trace = { if $0.duration > .milliseconds(50) { print($0) } }
/// ```
public struct StatementTrace: Sendable, Hashable, CustomStringConvertible {
    /// The SQL, with placeholders `?1`, `?2` ... for values. If values are traced, they replace the placeholders, except lists,
    /// which show as NULL.
    public let sql: String
    /// The time from the first step of the statement to its end, including the work on its rows.
    public let duration: Duration
    /// How many rows the statement returned or, if it writes, changed.
    public let rowCount: Int
    /// Whether the statement may write.
    public let isWriting: Bool
    /// How many instructions SQLite ran: the cost of a statement that reads many rows to return few. 0 for a statement of
    /// another store.
    package let stepCount: Int

    package init(sql: String, duration: Duration, rowCount: Int, isWriting: Bool, stepCount: Int = 0) {
        self.sql = sql
        self.duration = duration
        self.rowCount = rowCount
        self.isWriting = isWriting
        self.stepCount = stepCount
    }

    /// `0.120 ms, 3 rows: SELECT ...`
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
