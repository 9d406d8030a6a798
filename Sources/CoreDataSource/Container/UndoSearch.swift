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
    /// The mark of the only save that is searched for; nil for all saves of the author.
    private let mark: DraftMark?
    private var records: RecordWalk
    private var steps: UndoSteps

    /// - Parameters:
    ///   - author: The author; an empty string for saves without an author.
    ///   - mark: The mark of the only save that is searched for; nil for all saves of the author.
    init(_ container: PersistentContainer, _ direction: Direction, _ author: String, mark: DraftMark? = nil) {
        self.container = container
        self.direction = direction
        self.mark = mark
        records = RecordWalk(container, authors: [author])
        steps = UndoSteps(direction)
    }

    /// Returns the next step. If nothing in the record of this step is left to undo, call the function again: it returns the
    /// step before.
    ///
    /// - Returns: The record, and the position after it; nil if there is no step.
    mutating func next() async throws -> (record: StoredRecord, position: HistoryPosition)? {
        while let record = try await records.next() {
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
        return nil
    }

    /// Reads a record with its values.
    private func read(_ number: Int64) async throws -> (record: StoredRecord, position: HistoryPosition)? {
        let before = HistoryPosition(historyID: records.historyID, number: number - 1)
        let found = try await container.readingHistory { (store) throws(DataSourceError) in
            try store.readHistory(after: before, .one).records.first
        }
        guard let found, found.number == number else { return nil }
        return (found, HistoryPosition(historyID: records.historyID, number: number, time: found.time))
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
