internal import RowStore

/// Finds the saves of a draft that can be undone or redone, the newest save first, in one walk over the history.
///
/// A step is a record that can be undone or redone. The newest record of a save decides whether the save has a step, so a
/// search for one save could end at this record. But up to 100 saves may already be undone, and have no step. A separate search
/// for each of them would walk over the history 100 times.
struct DraftSaveSearch {
    private let direction: UndoSearch.Direction
    /// The saves that were not returned yet, the newest first.
    private var saves: ArraySlice<RecordedSave>
    /// The saves whose newest records were not visited yet.
    private var unvisited: Set<DraftMark>
    /// The numbers of the records that are steps, by the saves that they belong to.
    private var numbers: [DraftMark: Int64] = [:]
    /// Decides which records of an author are steps. Has no entry for an author whose older records cannot be steps.
    private var steps: [String: UndoSteps] = [:]
    private var records: RecordWalk

    /// - Parameter saves: The saves, the oldest first.
    init(_ container: PersistentContainer, _ direction: UndoSearch.Direction, _ saves: [RecordedSave]) {
        self.direction = direction
        self.saves = saves.reversed()[...]
        unvisited = Set(saves.map(\.mark))
        for save in saves { steps[save.author ?? ""] = UndoSteps(direction) }
        records = RecordWalk(container, authors: Set(steps.keys))
    }

    /// Returns the next step. For an undo, the step is a record of the newest save. For a redo, the step is the record of the
    /// newest undo.
    ///
    /// - Returns: The record, the position after it, and the author of the save; nil if there is no step.
    mutating func next() async throws -> (record: StoredRecord, position: HistoryPosition, author: String?)? {
        while let newest = saves.first {
            if let index = indexOfStep {
                let save = saves.remove(at: index)
                guard let number = numbers[save.mark], let found = try await records.read(number) else { continue }
                return (found.record, found.position, save.author)
            }
            if unvisited.contains(newest.mark), steps[newest.author ?? ""] != nil {
                // If there are no more records, the history no longer has the saves that were not visited.
                if let record = try await records.next() { visit(record) } else { unvisited = [] }
            } else {
                saves.removeFirst()
            }
        }
        return nil
    }

    private var indexOfStep: Int? {
        switch direction {
        case .undo: saves.indices.first.flatMap { numbers[saves[$0].mark] == nil ? nil : $0 }
        case .redo: saves.firstIndex { numbers[$0.mark] != nil }
        }
    }

    private mutating func visit(_ record: StoredRecord) {
        let author = record.author ?? ""
        guard let decision = steps[author]?.visit(record) else { return }
        // Only the newest record of a save decides whether the save has a step.
        if let mark = record.mark, unvisited.remove(mark) != nil, decision == .take { numbers[mark] = record.number }
        // An older undo must not be redone before a newer one.
        if direction == .redo, decision != .skip { steps[author] = nil }
    }
}
