internal import RowStore

/// Finds the record that an undo or a redo takes back.
///
/// Only the history knows which saves are undone: the record of an undo names the records that the undo has taken back. So the
/// search goes from the newest record to the oldest one, and finds an undo before the records that it has taken back.
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

    /// Returns the next step, which is a record to take back. If nothing in the record is left to undo, call the function again
    /// to get the next older step.
    ///
    /// - Returns: The record, and the position after it; nil if there is no step.
    mutating func next() async throws -> (record: StoredRecord, position: HistoryPosition)? {
        while let record = try await records.next() {
            switch steps.visit(record) {
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

/// Decides which records of an author can be undone or redone. The records are visited from the newest to the oldest one.
package struct UndoSteps {
    package enum Decision {
        case skip
        /// There is no record to take back.
        case stop
        /// Take the record back.
        case take
    }

    private let isUndo: Bool
    /// Ranges of record numbers. In each range, every record of the author was reverted or passed over. Records are visited
    /// from the newest to the oldest, so a range is dropped once the search is below the range.
    private var taken: [ClosedRange<Int64>] = []

    init(_ direction: UndoSearch.Direction) {
        isUndo = direction == .undo
    }

    /// Like ``visit(_:_:hasValues:)``, but an undo or a redo that has changed nothing is no step itself.
    mutating func visit(_ record: StoredRecord) -> Decision {
        let decision = visit(record.number, record.undo, hasValues: record.note == nil)
        return record.isPassedStep && decision == .take ? .skip : decision
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
