/// One statement that a store ran: what it was, how long it took, and how many rows it was about.
public struct StatementTrace: Sendable, Hashable, CustomStringConvertible {
    /// The SQL, with `?1`, `?2` ... in the places of values. If values are traced, they are in their places, but for lists
    /// of them, which show as NULL.
    public let sql: String
    /// From the first step of the statement to its end. What is done with each of its rows meanwhile counts.
    public let duration: Duration
    /// The rows that it gave; for a statement that writes, those that it changed.
    public let rowCount: Int
    /// Whether it may write.
    public let isWriting: Bool

    package init(sql: String, duration: Duration, rowCount: Int, isWriting: Bool) {
        self.sql = sql
        self.duration = duration
        self.rowCount = rowCount
        self.isWriting = isWriting
    }

    /// `0.120 ms, 3 rows: SELECT ...`
    public var description: String {
        let (seconds, attoseconds) = duration.components
        let microseconds = seconds * 1_000_000 + attoseconds / 1_000_000_000_000
        let fraction = "\(1_000 + microseconds % 1_000)".dropFirst()
        return "\(microseconds / 1_000).\(fraction) ms, \(rowCount) rows: \(sql)"
    }
}

/// Who hears of statements, and what of them.
package struct StatementTracing: Sendable {
    package let report: @Sendable (StatementTrace) -> Void
    package let showsValues: Bool

    package init(showsValues: Bool, _ report: @escaping @Sendable (StatementTrace) -> Void) {
        self.report = report
        self.showsValues = showsValues
    }
}
