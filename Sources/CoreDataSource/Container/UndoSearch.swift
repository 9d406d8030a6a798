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

    private var records: RecordWalk
    private var steps: UndoSteps

    /// - Parameter author: The author; an empty string for saves without an author.
    init(_ container: PersistentContainer, _ direction: Direction, _ author: String) {
        records = RecordWalk(container, authors: [author])
        steps = UndoSteps(direction)
    }

    /// Returns the next step. If nothing in the record of this step is left to undo, call the function again: it returns the
    /// step before.
    ///
    /// - Returns: The record, and the position after it; nil if there is no step.
    mutating func next() async throws -> (record: StoredRecord, position: HistoryPosition)? {
        while let record = try await records.next() {
            switch steps.visit(record.number, record.undo, hasValues: record.note == nil) {
            case .skip: continue
            case .stop: return nil
            case .take: return try await records.read(record.number)
            }
        }
        return nil
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
