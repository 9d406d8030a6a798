/// What an inspection shows of the kept history of a store.
package struct InspectedHistory: Sendable {
    package let limits: KeptHistory.Limits
    /// The numbers of the oldest and the newest record. If there are no records, `newest` is less than `oldest`.
    package let numbers: (oldest: Int64, newest: Int64)
    package let byteCount: Int64
    /// The consumers, with the numbers of the last records that they have read.
    package let consumers: [(name: String, number: Int64)]
    /// The newest records, the oldest first.
    package let records: [StoredRecord]
    /// The layout of the records' rows; nil if the rows cannot be decoded.
    package let layout: ModelLayout?

    /// Returns the newest records, the oldest first. Only the records of the first page have values.
    ///
    /// - Parameters:
    ///   - tail: The maximum number of records.
    ///   - start: The position before the oldest record to return.
    ///   - page: Returns the page of records after a position.
    package static func newest(
        _ tail: Int, after start: HistoryPosition,
        _ page: (HistoryPosition, HistoryFilter) throws(DataSourceError) -> HistoryPage
    ) throws(DataSourceError) -> [StoredRecord] {
        if tail <= 0 { return [] }
        var filter = HistoryFilter()
        var newest = try page(start, filter)
        filter.includesValues = false
        while newest.isMore {
            let next = try page(newest.position, filter)
            newest.records += next.records
            (newest.position, newest.isMore) = (next.position, next.isMore)
        }
        return newest.records
    }

    package init(
        limits: KeptHistory.Limits, numbers: (oldest: Int64, newest: Int64), byteCount: Int64,
        consumers: [(name: String, number: Int64)], records: [StoredRecord], layout: ModelLayout?
    ) {
        self.limits = limits
        self.numbers = numbers
        self.byteCount = byteCount
        self.consumers = consumers
        self.records = records
        self.layout = layout
    }
}
