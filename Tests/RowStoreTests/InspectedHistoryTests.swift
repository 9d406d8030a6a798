import RowStore
import Testing

/// The records that an inspection shows.
struct InspectedHistoryTests {
    /// Long texts can end a page before the newest record.
    @Test func theNewestRecordsAreReadInSeveralPages() throws {
        var withValues: [Bool] = []
        let start = HistoryPosition(historyID: "h", number: 3)
        let records = try InspectedHistory.newest(5, after: start) { position, filter throws(DataSourceError) in
            withValues.append(filter.includesValues)
            var page = HistoryPage(historyID: "h", position: position)
            let last = min(position.number + 2, 8)
            page.records = (position.number + 1...last).map { number in
                StoredRecord(
                    number: number, time: 1, kind: .local, member: StoreMember(number: 0, processID: 1, name: "p"),
                    entityNames: [])
            }
            (page.position, page.isMore) = (HistoryPosition(historyID: "h", number: last), last < 8)
            return page
        }
        #expect(records.map(\.number) == [4, 5, 6, 7, 8])
        // Only the first page has values.
        #expect(withValues == [true, false, false])
    }
}
