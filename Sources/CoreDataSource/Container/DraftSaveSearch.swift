internal import RowStore

/// Finds the saves of a draft that can be undone or redone, the newest save first, in one walk over the history.
///
/// The newest record of a save says whether the save has a step. So a search for one save stops there; but if a search began anew for
/// each save that has none, 100 undone saves would be 100 walks.
struct DraftSaveSearch {
    /// What is known of a save.
    private enum Outcome {
        case unknown, noStep, step
    }

    /// The steps of one author, whose records are visited together.
    private struct Author {
        var steps: UndoSteps
        /// Whether no older record of the author can be a step.
        var isOver = false
    }

    private let direction: UndoSearch.Direction
    /// The saves that were not returned yet, the newest first.
    private var saves: ArraySlice<RecordedSave>
    private var outcomes: [DraftMark: Outcome] = [:]
    private var authors: [String: Author] = [:]
    private var records: RecordWalk

    /// - Parameter saves: The saves, the oldest first.
    init(_ container: PersistentContainer, _ direction: UndoSearch.Direction, _ saves: [RecordedSave]) {
        self.direction = direction
        self.saves = saves.reversed()[...]
        for save in saves {
            outcomes[save.mark] = .unknown
            authors[save.author ?? ""] = Author(steps: UndoSteps(direction))
        }
        records = RecordWalk(container, authors: Set(authors.keys))
    }

    /// Returns the next save with a step; nil if there is none. An undo takes back the newest save, and a redo the newest undo.
    mutating func next() async throws -> RecordedSave? {
        while let newest = saves.first {
            if let index = indexOfStep { return saves.remove(at: index) }
            if outcomes[newest.mark] == .unknown, authors[newest.author ?? ""]?.isOver == false {
                if let record = try await records.next() { visit(record) } else { recordEnd() }
            } else {
                saves.removeFirst()
            }
        }
        return nil
    }

    private var indexOfStep: Int? {
        switch direction {
        case .undo: saves.indices.first.flatMap { outcomes[saves[$0].mark] == .step ? $0 : nil }
        case .redo: saves.firstIndex { outcomes[$0.mark] == .step }
        }
    }

    /// Records that the history no longer has the other saves.
    private mutating func recordEnd() {
        for (mark, outcome) in outcomes where outcome == .unknown { outcomes[mark] = .noStep }
    }

    private mutating func visit(_ record: StoredRecord) {
        let name = record.author ?? ""
        guard var author = authors[name], !author.isOver else { return }
        let decision = author.steps.visit(record.number, record.undo, hasValues: record.note == nil)
        // The newest record of a save decides.
        if let mark = record.mark, outcomes[mark] == .unknown { outcomes[mark] = decision == .take ? .step : .noStep }
        // A redo must not come before the redo of a newer undo.
        author.isOver = direction == .redo && decision != .skip
        authors[name] = author
    }
}
