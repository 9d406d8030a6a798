/// A place in the kept history of a store: after one of its records. An app stores the position up to which it has read, and
/// passes it to `container.history(after:where:)` later.
///
/// ```swift
/// let data = try JSONEncoder().encode(position)
/// let same = try JSONDecoder().decode(HistoryPosition.self, from: data)
/// ```
public struct HistoryPosition: Sendable, Hashable, Codable {
    /// The ID of the history. A reset of the store begins a history with a new ID.
    package let historyID: String
    /// The number of the last record before the position.
    package let number: Int64
    /// The time of this record, in milliseconds since 1970; 0 if the time is not known. The time distinguishes this record from
    /// another record with the same number, which a store that was restored from a copy may have.
    package let time: Int64

    package init(historyID: String, number: Int64, time: Int64 = 0) {
        self.historyID = historyID
        self.number = number
        self.time = time
    }
}

extension HistoryPosition: CustomStringConvertible {
    /// The number of the last record before the position.
    public var description: String { "after record \(number)" }
}
