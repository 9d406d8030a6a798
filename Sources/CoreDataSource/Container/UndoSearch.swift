internal import RowStore

/// Finds the record that an undo or a redo takes back.
///
/// The history is the only place that knows the steps: a record of an undo names the record that it has taken back. So the steps
/// are found from the newest record to the oldest one.
struct UndoSearch {
    enum Direction {
        case undo
        case redo
    }

    private let container: PersistentContainer
    private let direction: Direction
    private let author: String
    /// The mark of the only save that is searched for; nil for all saves of the author.
    private let mark: DraftMark?
    /// The records of the author, without their values.
    private let filter: HistoryFilter
    private var steps: UndoSteps
    /// The records that were read and not visited yet, the oldest first.
    private var window: [StoredRecord] = []
    /// The last record that was not read yet; nil before the search begins.
    private var upper: Int64?
    private var historyID = ""

    /// The number of records that are read at once.
    private static let windowSize: Int64 = 256

    /// - Parameters:
    ///   - author: The author; an empty string for saves without an author.
    ///   - mark: The mark of the only save that is searched for; nil for all saves of the author.
    init(_ container: PersistentContainer, _ direction: Direction, _ author: String, mark: DraftMark? = nil) {
        self.container = container
        self.direction = direction
        self.author = author
        self.mark = mark
        var filter = HistoryFilter(authors: [author], kinds: [.local, .incoming, .imported])
        filter.includesValues = false
        self.filter = filter
        steps = UndoSteps(direction)
    }

    /// Returns the next step. If nothing in the record of this step is left to undo, call the function again: it returns the
    /// step before.
    ///
    /// - Returns: The record, and the position after it; nil if there is no step.
    mutating func next() async throws -> (record: StoredRecord, position: HistoryPosition)? {
        if upper == nil { try await begin() }
        while true {
            while let record = window.popLast() {
                let decision = steps.visit(record.number, record.undo, hasValues: record.note == nil)
                if let mark, record.mark != mark {
                    // An undo may skip newer saves of the author, but a redo must not come before the redo of a newer undo.
                    if direction == .undo || decision == .skip { continue }
                    return nil
                }
                switch decision {
                // The newest record with the mark decides.
                case .skip where mark != nil: return nil
                case .skip: continue
                case .stop: return nil
                case .take: return try await read(record.number)
                }
            }
            guard let last = upper, last > 0 else { return nil }
            try Task.checkCancellation()
            let (filter, historyID) = (filter, historyID)
            (window, upper) = try await container.readingHistory { (store) throws(DataSourceError) in
                try UndoSearch.window(store, filter, upTo: last, historyID)
            }
        }
    }

    private mutating func begin() async throws {
        // Saves with `waitFor: .main` have no records yet.
        try await container.stack.root.commitSaves(ofAuthor: author)
        let end = try await container.historyPosition()
        (upper, historyID) = (end.number, end.historyID)
    }

    /// Reads the records of a window.
    ///
    /// - Returns: The records, and the number of the last record before the window; 0 if there are no earlier records.
    private static func window(
        _ store: any RecordStore, _ filter: HistoryFilter, upTo upper: Int64, _ historyID: String
    ) throws(DataSourceError) -> (records: [StoredRecord], lower: Int64?) {
        let lower = max(0, upper - UndoSearch.windowSize)
        var position = HistoryPosition(historyID: historyID, number: lower)
        var isFirst = false
        var records: [StoredRecord] = []
        while position.number < upper {
            do throws(DataSourceError) {
                let page = try store.readHistory(after: position, filter)
                records += page.records.filter { $0.number <= upper }
                position = page.position
                if !page.isMore { break }
            } catch {
                // Older records were dropped.
                guard error.code == .historyExpired, let start = error.historyStart, start.historyID == historyID,
                    start.number > position.number
                else { throw error }
                (isFirst, position) = (true, start)
                records = []
            }
        }
        return (records, isFirst ? 0 : lower)
    }

    /// Reads a record with its values.
    private func read(_ number: Int64) async throws -> (record: StoredRecord, position: HistoryPosition)? {
        let before = HistoryPosition(historyID: historyID, number: number - 1)
        let found = try await container.readingHistory { (store) throws(DataSourceError) in
            try store.readHistory(after: before, .one).records.first
        }
        guard let found, found.number == number else { return nil }
        return (found, HistoryPosition(historyID: historyID, number: number, time: found.time))
    }
}

extension HistoryFilter {
    /// The filter for reading only the next record.
    static let one = {
        var filter = HistoryFilter()
        filter.pageLimit = 1
        return filter
    }()
}

/// Walks over the records of an author, from the newest to the oldest one.
package struct UndoSteps {
    package enum Decision {
        case skip
        /// There is no step.
        case stop
        /// The record is the step.
        case take
    }

    private let isUndo: Bool
    /// Ranges of record numbers. In each range, every record of the author was reverted or passed over. Records are visited
    /// from the newest to the oldest, so a range is dropped once the search is below the range.
    private var taken: [ClosedRange<Int64>] = []

    init(_ direction: UndoSearch.Direction) {
        isUndo = direction == .undo
    }

    package mutating func visit(_ number: Int64, _ undo: UndoReference?, hasValues: Bool) -> Decision {
        taken.removeAll { $0.lowerBound > number }
        let isTaken = taken.contains { $0.contains(number) }
        guard let undo else { return isUndo ? (isTaken || !hasValues ? .skip : .take) : .stop }
        let isCovered = taken.contains { $0.contains(undo.numbers.lowerBound) && $0.contains(number) }
        if undo.isUndo == isUndo, !isCovered { taken.append(undo.numbers) }
        if undo.isUndo {
            if isUndo || isTaken { return .skip }
            // If this undo has no values, stop: an older undo must not be redone before this undo.
            return hasValues ? .take : .stop
        }
        return isUndo && !isTaken && hasValues ? .take : .skip
    }
}
