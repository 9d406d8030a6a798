import CoreDataSource
import RowStore
import TestSupport

/// What a replay compares after each step.
extension ListReplay {
    /// Everything that happened is shown, but for what stays paused.
    func waitUntilShown() async throws {
        let resumes = random.next(below: 2) == 0
        if resumes { resumeAll() }
        var newest = SaveNumber.neverRead
        repeat {
            newest = container.stack.root.newestSave
            container.mainTier.merge()
            await container.mainTier.waitForLists()
            // What delegates have resumed and paused again.
            if resumes { resumeAll() }
        } while newest != container.stack.root.newestSave
        if isOpen { recordProblem("door: a group of \(openTable?.dataKey ?? "none") has not ended") }
    }

    private func resumeAll() {
        letters.pausedDataKeys = []
        for window in windows { window.list.isPaused = false }
    }

    func compare() async throws {
        if random.next(below: 4) == 0 { try await countStatements() }
        let paused = letters.pausedDataKeys
        for (dataKey, table) in tables.sorted(by: { $0.key < $1.key }) where !paused.contains(dataKey) {
            let fresh = ReplayTable(table.request, "fresh", self)
            try table.request.register(fresh, "fresh", letters)
            fresh.reload()
            if table.shown != fresh.shown {
                recordProblem(
                    "\(table.shown.keys == fresh.shown.keys ? "cells" : "table"): \(dataKey) of \(table.request) shows \(table.shown) instead of \(fresh.shown)"
                )
            }
            let answered = shown(dataKey, table.request)
            if answered != fresh.shown {
                recordProblem("objects: \(dataKey) answers \(answered) instead of \(fresh.shown)")
            }
            letters.unregister(dataKey: "fresh")
            // A fresh list may be wrong as the other one is.
            let keys = try reading { try table.request.fetchedKeys(letters) }
            if let keys, keys != table.shown.keys.flatMap(\.self) {
                recordProblem("fetch: \(dataKey) of \(table.request) shows \(table.shown.keys) instead of \(keys)")
            }
        }
        for window in windows where !window.list.isPaused { try compare(window) }
        for problem in try totals?.problems(letters) ?? [] { recordProblem(problem) }
        try await compareObjects()
    }

    private func compare(_ window: ReplayWindow) throws {
        for (index, row) in window.list.snapshot.enumerated() where window.list.object(index)?.subject != row.subject {
            recordProblem("window: \(row) has the object \(String(describing: window.list.object(index)))")
        }
        let fresh = try letters.list(ReplayWindow.request(after: window.cursor)).snapshot.map {
            "\($0.key) \($0.subject)"
        }
        let shown = window.list.snapshot.map { "\($0.key) \($0.subject)" }
        if shown != fresh { recordProblem("window: \(shown) instead of \(fresh)") }
    }

    /// What a list shows is read page by page, and so is what its objects lead to, whatever was saved.
    private func countStatements() async throws {
        guard url != nil, let dataKey = tables.keys.sorted().randomElement(using: &random), let table = tables[dataKey]
        else { return }
        // Saves and look-ups of others count, too.
        try await container.flush()
        forget()
        let before = container.statementCount
        let rows = shown(dataKey, table.request).sections.reduce(0) { $0 + $1.rows.count }
        let count = container.statementCount - before
        // A page of objects, and of what its relationships lead to; and what tidies up the log at the same time.
        let most = 6 * ((rows + 63) / 64) + 10
        if count > most { recordProblem("statements: \(count) for \(rows) rows of \(dataKey)") }
    }

    /// Every object that is held is main's, and what another context finds.
    private func compareObjects() async throws {
        let cells = try await container.read { context in
            var cells: [ManagedObjectID: String] = [:]
            for letter in try context.fetch(Letter.self) { cells[letter.objectID] = letter.replayCell }
            for topic in try context.fetch(Topic.self) { cells[topic.objectID] = topic.replayCell }
            return cells
        }
        for object in held {
            let cell = cells[object.objectID]
            if object.isDeleted != (cell == nil) {
                recordProblem("objects: \(object) says that it is \(object.isDeleted ? "" : "not ")deleted")
            } else if let cell, object.replayCell != cell {
                recordProblem("objects: \(object.replayCell) instead of \(cell)")
            }
            guard !object.isDeleted else { continue }
            let own = try letters.main.object(ManagedObject.self, id: object.objectID)
            if own !== object { recordProblem("objects: \(object) is not main's") }
        }
    }
}
