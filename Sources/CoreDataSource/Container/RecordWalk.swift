package import RowStore

/// Reads the records of some authors, from the newest to the oldest one. The values of the records are left out.
package struct RecordWalk {
    private let container: PersistentContainer
    private let authors: Set<String>
    private let filter: HistoryFilter
    /// The records that were read and not returned yet, the oldest first.
    private var window: [StoredRecord] = []
    /// The number of the newest record that was not read yet; nil before the first call.
    private var upper: Int64?
    /// The ID of the history; empty before the first call.
    private(set) var historyID = ""

    /// The number of records that are read at once.
    private static let windowSize = 256

    /// - Parameter authors: The authors; an empty string for saves without an author.
    package init(_ container: PersistentContainer, authors: Set<String>) {
        self.container = container
        self.authors = authors
        var filter = HistoryFilter(authors: authors, kinds: [.local, .incoming, .imported])
        filter.includesValues = false
        filter.pageLimit = RecordWalk.windowSize
        self.filter = filter
    }

    /// Returns the next record; nil if there are no older records.
    package mutating func next() async throws -> StoredRecord? {
        if upper == nil { try await begin() }
        while window.isEmpty {
            guard let last = upper, last > 0 else { return nil }
            try Task.checkCancellation()
            let (filter, historyID) = (filter, historyID)
            (window, upper) = try await container.readingHistory { (store) throws(DataSourceError) in
                try RecordWalk.window(store, filter, upTo: last, historyID)
            }
        }
        return window.popLast()
    }

    /// Reads a record of the walk again, with its values.
    ///
    /// - Returns: The record, and the position after it; nil if the history no longer has the record.
    package func read(_ number: Int64) async throws -> (record: StoredRecord, position: HistoryPosition)? {
        let before = HistoryPosition(historyID: historyID, number: number - 1)
        let found = try await container.readingHistory { (store) throws(DataSourceError) -> StoredRecord? in
            do throws(DataSourceError) {
                return try store.readHistory(after: before, .one).records.first
            } catch {
                // The history may have dropped the record since the walk has visited it.
                if error.hasDropped(before) { return nil }
                throw error
            }
        }
        guard let found, found.number == number else { return nil }
        return (found, HistoryPosition(historyID: historyID, number: number, time: found.time))
    }

    private mutating func begin() async throws {
        // A save with `waitFor: .main` has no record until it is written, so write these saves first.
        for author in authors { try await container.stack.root.commitSaves(ofAuthor: author) }
        let end = try await container.historyPosition()
        (upper, historyID) = (end.number, end.historyID)
    }

    /// Reads the records of the authors among the last `windowSize` records up to the number `upper`.
    ///
    /// - Returns: The records, and the number of the last record that was not visited; 0 if there are no earlier records.
    private static func window(
        _ store: any RecordStore, _ filter: HistoryFilter, upTo upper: Int64, _ historyID: String
    ) throws(DataSourceError) -> (records: [StoredRecord], lower: Int64?) {
        let lower = max(0, upper - Int64(windowSize))
        var position = HistoryPosition(historyID: historyID, number: lower)
        var isFirst = false
        var records: [StoredRecord] = []
        while position.number < upper {
            do throws(DataSourceError) {
                let page = try store.readHistory(after: position, filter)
                // Every filter includes the record of a restore, which is no record of the authors.
                records += page.records.filter { $0.number <= upper && $0.kind != .reset }
                position = page.position
                if !page.isMore { break }
            } catch {
                // The history has dropped the records up to `start`, so begin there.
                guard let start = error.historyStart, error.hasDropped(position) else { throw error }
                (isFirst, position) = (true, start)
                records = []
            }
        }
        return (records, isFirst ? 0 : lower)
    }
}

extension DataSourceError {
    /// Whether the error says that the same history has dropped records after a position.
    fileprivate func hasDropped(_ position: HistoryPosition) -> Bool {
        guard code == .historyExpired, let historyStart else { return false }
        return historyStart.historyID == position.historyID && historyStart.number > position.number
    }
}
