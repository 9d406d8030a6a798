internal import RowStore

/// Undoes the saves of a draft.
extension Draft {
    /// Undoes, in a new save, the last save of the draft that is not undone yet. The kept history has the old values, so the
    /// store must keep a history.
    ///
    /// ```swift
    /// if draft.canUndo { draft.undo() } else { try await draft.undoSave() }
    /// ```
    ///
    /// Only the saves of this draft are undone, and only their changes: see
    /// ``PersistentContainer/revert(_:resolving:includingIncoming:waitFor:)``. A value that another save has changed since is a
    /// conflict. If `resolution` keeps all newer values, the undo changes nothing, and the save counts as undone.
    /// ``redoSave(resolving:waitFor:)`` takes the undo back. The container knows the undo, too:
    /// ``PersistentContainer/undo(author:resolving:waitFor:)`` does not undo the same save again, and
    /// ``PersistentContainer/redo(author:resolving:waitFor:)`` can take the undo back.
    ///
    /// Edits that are not saved stay in the draft. The next save of the draft merges these edits with the undo, as it merges
    /// them with the saves of others. An object that the undone save had inserted counts as deleted in the draft. After a redo,
    /// fetch the object again.
    ///
    /// **Isolation**: the main actor. The main context shows the undo when the call returns.
    ///
    /// **Complexity**: the newest records of the draft's authors are read, in pages, until the save is found. If there is no
    /// such save, all records are read once.
    ///
    /// - Parameters:
    ///   - resolution: How to resolve conflicts; `.fail` by default.
    ///   - level: The level that the save must reach before the call returns; `.store` by default.
    /// - Returns: The numbers of changed objects, the conflicts, and the record that was undone; nil if there is no save to undo:
    ///   the draft has saved nothing, its last 100 saves are undone, or the history no longer has their records.
    /// - Throws: `historyNotKept`, `draftDiscarded`, `storeClosed`; the errors of
    ///   ``PersistentContainer/revert(_:resolving:includingIncoming:waitFor:)``. If the call throws, nothing is saved.
    @discardableResult
    public func undoSave(
        resolving resolution: DraftResolution = .fail, waitFor level: SaveLevel = .store
    ) async throws -> DraftReport? {
        try await reverseSave(.undo, resolution, level)
    }

    /// Redoes the last ``undoSave(resolving:waitFor:)``.
    ///
    /// ```swift
    /// try await draft.redoSave()
    /// ```
    ///
    /// After another save of the same author, there is nothing to redo.
    ///
    /// **Isolation**: the main actor. The main context shows the redo when the call returns.
    ///
    /// **Complexity**: the newest records of the draft's authors are read, in pages, until the undo is found. If there is no
    /// such undo, all records are read once.
    ///
    /// - Parameters:
    ///   - resolution: How to resolve conflicts; `.fail` by default.
    ///   - level: The level that the save must reach before the call returns; `.store` by default.
    /// - Returns: The numbers of changed objects, the conflicts, and the record of the undo; nil if there is nothing to redo.
    /// - Throws: The errors of ``undoSave(resolving:waitFor:)``. If the call throws, nothing is saved.
    @discardableResult
    public func redoSave(
        resolving resolution: DraftResolution = .fail, waitFor level: SaveLevel = .store
    ) async throws -> DraftReport? {
        try await reverseSave(.redo, resolution, level)
    }

    private func reverseSave(
        _ direction: UndoSearch.Direction, _ resolution: DraftResolution, _ level: SaveLevel
    ) async throws -> DraftReport? {
        await saveQueue.begin()
        defer { saveQueue.end() }
        guard let container = try context.container else { throw RootTier.closed }
        guard container.stack.root.keepsHistory else { throw DataSourceError.historyNotKept }
        let reversal = Reversal(container: container, resolution: resolution, level: level)
        var saves = DraftSaveSearch(container, direction, recordedSaves)
        while let (record, position, author) = try await saves.next() {
            let step = UndoReference(isUndo: direction == .undo, record.number...record.number)
            let (report, isSaved) = try await reversal.take(record, at: position, step, author)
            if !isSaved { continue }
            await container.stack.mainNotifier.mergeNow()
            return report
        }
        return nil
    }
}
