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

    private let store: any HistoryStore
    /// The records of the author.
    private let filter: HistoryFilter

    /// The number of records that are read at once.
    private static let windowSize: Int64 = 256

    init(_ store: any HistoryStore, _ filter: HistoryFilter) {
        self.store = store
        self.filter = filter
    }

    /// - Parameter passed: The numbers of records that leave nothing to take back.
    /// - Returns: The record, and the position after it; nil if there is no step.
    func find(
        _ direction: Direction, passing passed: Set<Int64>
    ) throws(DataSourceError) -> (StoredRecord, HistoryPosition)? {
        let end = try store.historyEnd()
        var steps = UndoSteps(direction, passed)
        var upper = end.number
        while upper > 0 {
            let (records, lower) = try records(upTo: upper, end.historyID)
            for record in records.reversed() {
                switch steps.visit(record.number, record.undo, hasValues: record.note == nil) {
                case .skip: continue
                case .stop: return nil
                case .take: return try read(record, end.historyID)
                }
            }
            upper = lower
        }
        return nil
    }

    /// Reads the records of a window, without their values.
    ///
    /// - Returns: The records, and the number of the last record before the window; 0 if there are no earlier records.
    private func records(
        upTo upper: Int64, _ historyID: String
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
        _ record: StoredRecord, _ historyID: String
    ) throws(DataSourceError) -> (StoredRecord, HistoryPosition)? {
        let before = HistoryPosition(historyID: historyID, number: record.number - 1)
        guard let found = try store.readHistory(after: before, filter).records.first, found.number == record.number
        else { return nil }
        return (found, HistoryPosition(historyID: historyID, number: found.number, time: found.time))
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
            return isUndo || isTaken || !hasValues ? .skip : .take
        case .redo(let earlier):
            if !isUndo { taken.insert(earlier) }
            return isUndo && !isTaken && hasValues ? .take : .skip
        case nil:
            return isUndo ? (isTaken || !hasValues ? .skip : .take) : .stop
        }
    }
}
