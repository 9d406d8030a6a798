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
    /// The records of the author.
    private let filter: HistoryFilter
    /// The numbers of records that leave nothing to take back.
    private var passed: Set<Int64> = []

    /// The number of records that are read at once.
    private static let windowSize: Int64 = 256

    init(_ container: PersistentContainer, _ direction: Direction, _ author: String) {
        self.container = container
        self.direction = direction
        filter = HistoryFilter(authors: [author], kinds: [.local, .incoming, .imported])
    }

    /// Records that a record leaves nothing to take back.
    mutating func pass(_ number: Int64) { passed.insert(number) }

    /// - Returns: The record, and the position after it; nil if there is no step.
    func find() async throws -> (record: StoredRecord, position: HistoryPosition)? {
        // Saves with `waitFor: .main` have no records yet.
        try await container.stack.root.flush()
        let end = try await container.historyPosition()
        var steps = UndoSteps(direction, passed)
        var upper = end.number
        while upper > 0 {
            try Task.checkCancellation()
            let (filter, last) = (filter, upper)
            let window = try await container.readingHistory { (store) throws(DataSourceError) in
                try UndoSearch.window(store, filter, upTo: last, end.historyID)
            }
            for record in window.records.reversed() {
                switch steps.visit(record.number, record.undo, hasValues: record.note == nil) {
                case .skip: continue
                case .stop: return nil
                case .take: return try await read(record.number, end.historyID)
                }
            }
            upper = window.lower
        }
        return nil
    }

    /// Reads the records of a window, without their values.
    ///
    /// - Returns: The records, and the number of the last record before the window; 0 if there are no earlier records.
    private static func window(
        _ store: any HistoryStore, _ filter: HistoryFilter, upTo upper: Int64, _ historyID: String
    ) throws(DataSourceError) -> (records: [StoredRecord], lower: Int64) {
        let lower = max(0, upper - UndoSearch.windowSize)
        var position = HistoryPosition(historyID: historyID, number: lower)
        var isFirst = false
        var records: [StoredRecord] = []
        while position.number < upper {
            do throws(DataSourceError) {
                let page = try store.readHistory(after: position, filter)
                for var record in page.records where record.number <= upper {
                    record.changes = nil
                    records.append(record)
                }
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

    private func read(
        _ number: Int64, _ historyID: String
    ) async throws -> (record: StoredRecord, position: HistoryPosition)? {
        let before = HistoryPosition(historyID: historyID, number: number - 1)
        let filter = filter
        let found = try await container.readingHistory { (store) throws(DataSourceError) in
            try store.readHistory(after: before, filter).records.first
        }
        guard let found, found.number == number else { return nil }
        return (found, HistoryPosition(historyID: historyID, number: number, time: found.time))
    }
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
    /// The records that were taken back, and records that leave nothing to take back.
    private var taken: Set<Int64>

    init(_ direction: UndoSearch.Direction, _ passed: Set<Int64>) {
        isUndo = direction == .undo
        taken = passed
    }

    package mutating func visit(_ number: Int64, _ undo: UndoReference?, hasValues: Bool) -> Decision {
        let isTaken = taken.contains(number)
        switch undo {
        case .undo(let earlier):
            if isUndo { taken.insert(earlier) }
            if isUndo || isTaken { return .skip }
            // The undo before it must not be redone first.
            return hasValues ? .take : .stop
        case .redo(let earlier):
            if !isUndo { taken.insert(earlier) }
            return isUndo && !isTaken && hasValues ? .take : .skip
        case nil:
            return isUndo ? (isTaken || !hasValues ? .skip : .take) : .stop
        }
    }
}
