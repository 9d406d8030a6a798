internal import RowStore

/// Reverts records of the kept history.
extension PersistentContainer {
    /// Takes the changes of a record back, in a new save: objects that the record has inserted are deleted, deleted objects are
    /// inserted again with their IDs and links, and changed values become the old values.
    ///
    /// ```swift
    /// for try await record in container.history(after: position) {
    ///     if record.author == "importer" { try await container.revert(record) }
    /// }
    /// ```
    ///
    /// The changes are merged with everything that was saved after the record, like the edits of a ``Draft``. A value that
    /// nobody has changed since becomes the old value. A value that was changed since is a conflict. In a ``DraftChange``,
    /// `base` is the value after the record, `mine` is the value before it, and `theirs` is the newest value. An object that the
    /// record has inserted is a conflict (``DraftChange/Kind/deletedHere``) if another save has edited the object since, or has
    /// linked other objects to it. A unique value that the revert would give to an object is a conflict
    /// (``DraftChange/Kind/takenByOthers``) if another object has the value now. An object that exists again, because the record
    /// was reverted before, is left as it is, with its links. Delete rules, rules of the model and `willSave` apply as to any
    /// other save. If the record was made with an earlier model, values that have no place in the current model are left out.
    ///
    /// The new save has a record of its own, of the kind ``HistoryKind/local``. To revert several records, begin with the newest
    /// one.
    ///
    /// **Isolation**: the queues of the data sources that own the objects, as in ``perform(in:waitFor:_:)``. If the caller is
    /// on the main actor, the main context shows the objects when the call returns.
    ///
    /// **Complexity**: O(*n*) for *n* changed objects of the record. For an ordered relationship, all of its objects are read. For
    /// an object that the record has inserted, the links to the object are read, until a link of another save is found.
    ///
    /// - Parameters:
    ///   - record: A record with values, of this store.
    ///   - resolution: How to resolve conflicts; `.fail` by default.
    ///   - includingIncoming: Whether a record of the kind ``HistoryKind/incoming`` may be reverted. Its values come from a
    ///     server, so the next load brings them back. False by default.
    ///   - level: The level that the save must reach before the call returns; `.store` by default.
    /// - Returns: The numbers of changed objects, and the conflicts with their decisions. ``DraftReport/revertedRecord`` is the
    ///   record.
    /// - Throws: `recordNotRevertible`; `draftConflict`, with every conflict in its ``DataSourceError/failures``;
    ///   `historyOfOtherStore` or `historyExpired` for a record of another store, or from before a reset; `entityNotOwned` if no
    ///   data source owns a changed object; `objectGone` if a link leads to an object that was deleted; otherwise errors of
    ///   `perform`. If the call throws, nothing is saved.
    @discardableResult
    public func revert(
        _ record: HistoryRecord, resolving resolution: DraftResolution = .fail, includingIncoming: Bool = false,
        waitFor level: SaveLevel = .store
    ) async throws -> DraftReport {
        if record.kind == .incoming, !includingIncoming {
            throw DataSourceError(
                .recordNotRevertible,
                "Record \(record.number) has changes that came from a server (add, sync or delete), so the next load brings their values back. To revert it anyway, pass includingIncoming: true."
            )
        }
        guard let changes = record.changeSet else {
            throw DataSourceError(
                .recordNotRevertible,
                "Record \(record.number) has no values, so it cannot be reverted. \(record.note ?? "")")
        }
        var report = try await Reversal(container: self, resolution: resolution, level: level)
            .revert(
                changes, record.entry.objects.layout, at: record.position, step: nil,
                isIncoming: record.entry.record.hasIncomingValues
            ).report
        report.reverted = record.entry
        if isMainActor(#isolation) { await stack.mainNotifier.mergeNow() }
        return report
    }

    // MARK: Undo

    /// Undoes the last save of an author that is not undone yet.
    ///
    /// ```swift
    /// try await container.withAuthor("editor") {
    ///     try await contacts.perform { context in
    ///         try context.fetch(ContactEntity.self).first?.note = "edited"
    ///     }
    /// }
    /// try await container.undo(author: "editor")
    /// ```
    ///
    /// The steps are the records of the author in the kept history, so an undo is possible after the app was started again, and
    /// in another process. All saves of the author are steps, including those of `add`, `sync` and `delete`. So give the loads
    /// of a server another author than the edits of the user. The saves of other authors stay: see
    /// ``revert(_:resolving:includingIncoming:waitFor:)``. A record without values is not a step. If the store already has the
    /// old values of a record, the record counts as undone, and the call goes on to the next older step.
    ///
    /// If a step has conflicts, and `resolution` keeps all newer values, the undo may change nothing. The step then counts as
    /// undone, the report has no changes, and only the next call goes on to an older step. So if the conflicts of a step
    /// cannot be resolved in another way, use `.takeTheirs` to reach older steps. If a rule of the model or a hook refuses the
    /// undo, the call throws, and so does each later call until the reason is gone.
    ///
    /// **Ordering**: after all earlier saves of the author by this container. Saves of other authors that wait for the store
    /// do not delay the undo, unless a save of this author waits, too. A save of the author that another process makes at the
    /// same time may come before or after the undo.
    ///
    /// **Complexity**: the newest records are read, in pages, until the step is found. Each record whose old values the store
    /// already has costs as much as a batch.
    ///
    /// - Parameters:
    ///   - author: The author of the saves; also the author of the new save.
    ///   - resolution: How to resolve conflicts; `.fail` by default.
    ///   - level: The level that the save must reach before the call returns; `.store` by default.
    /// - Returns: The numbers of changed objects, and the conflicts with their decisions; nil if there is nothing to undo.
    ///   ``DraftReport/revertedRecord`` is the record that was undone.
    /// - Throws: `historyNotKept`; the errors of ``revert(_:resolving:includingIncoming:waitFor:)``.
    @discardableResult
    public func undo(
        author: String, resolving resolution: DraftResolution = .fail, waitFor level: SaveLevel = .store
    ) async throws -> DraftReport? {
        let report = try await Reversal(container: self, resolution: resolution, level: level)
            .step(UndoSearch(self, .undo, author), .undo, author)
        if isMainActor(#isolation) { await stack.mainNotifier.mergeNow() }
        return report
    }

    /// Redoes the last undo of an author.
    ///
    /// ```swift
    /// if try await container.redo(author: "editor") == nil {
    ///     print("Nothing to redo.")
    /// }
    /// ```
    ///
    /// After another save of the author, there is nothing to redo. An undo that has changed nothing, because all its conflicts
    /// were decided for the newer values, is not redone. If a redo has conflicts, and `resolution` keeps all newer values, the
    /// redo changes nothing, and counts as done.
    ///
    /// **Complexity**: the newest records are read, in pages, until the step is found.
    ///
    /// - Parameters:
    ///   - author: The author of the saves; also the author of the new save.
    ///   - resolution: How to resolve conflicts; `.fail` by default.
    ///   - level: The level that the save must reach before the call returns; `.store` by default.
    /// - Returns: The numbers of changed objects, and the conflicts with their decisions; nil if there is nothing to redo.
    ///   ``DraftReport/revertedRecord`` is the record of the undo that was taken back.
    /// - Throws: `historyNotKept`; the errors of ``revert(_:resolving:includingIncoming:waitFor:)``.
    @discardableResult
    public func redo(
        author: String, resolving resolution: DraftResolution = .fail, waitFor level: SaveLevel = .store
    ) async throws -> DraftReport? {
        let report = try await Reversal(container: self, resolution: resolution, level: level)
            .step(UndoSearch(self, .redo, author), .redo, author)
        if isMainActor(#isolation) { await stack.mainNotifier.mergeNow() }
        return report
    }

    /// Returns the record that ``undo(author:resolving:waitFor:)`` would take back next, for example to name the
    /// step in a menu.
    ///
    /// ```swift
    /// if let record = try await container.nextUndo(author: "editor") {
    ///     print("Undo", record.entityNames, record.date)
    /// }
    /// ```
    ///
    /// The returned record can be one that ``undo(author:resolving:waitFor:)`` passes over, because nothing in it is left to
    /// undo.
    ///
    /// **Complexity**: the newest records are read, in pages, until the step is found.
    ///
    /// - Returns: Nil if there is nothing to undo.
    /// - Throws: `historyNotKept`; if earlier saves of the author cannot be written now, the error that prevents this; errors
    ///   of the store.
    public func nextUndo(author: String) async throws -> HistoryRecord? {
        var search = UndoSearch(self, .undo, author)
        return try await search.next().map { HistoryRecord($0.record, $0.position.historyID, historyObjects) }
    }

    /// Returns the record of the undo that ``redo(author:resolving:waitFor:)`` would take back next.
    ///
    /// ```swift
    /// let canRedo = try await container.nextRedo(author: "editor") != nil
    /// ```
    ///
    /// **Complexity**: the newest records are read, in pages, until the step is found.
    ///
    /// - Returns: Nil if there is nothing to redo.
    /// - Throws: `historyNotKept`; if earlier saves of the author cannot be written now, the error that prevents this; errors
    ///   of the store.
    public func nextRedo(author: String) async throws -> HistoryRecord? {
        var search = UndoSearch(self, .redo, author)
        return try await search.next().map { HistoryRecord($0.record, $0.position.historyID, historyObjects) }
    }
}

/// Takes records back.
struct Reversal: Sendable {
    let container: PersistentContainer
    let resolution: DraftResolution
    let level: SaveLevel

    /// Reverts a record in one save.
    ///
    /// - Parameters:
    ///   - layout: The layout of the changes. If another container has read the record, this layout differs from the layout of
    ///     the store.
    ///   - step: The record that is undone or redone, and the newer records that were passed over; nil if the app has passed
    ///     the record to `revert`.
    ///   - isIncoming: Whether the record may have values of a server.
    ///   - mark: Identifies the draft's save to which the record belongs; nil if the record belongs to no save of a draft.
    /// - Returns: The report, and whether anything was saved.
    fileprivate func revert(
        _ changes: ChangeSet, _ layout: ModelLayout, at position: HistoryPosition, step: UndoReference?,
        isIncoming: Bool,
        mark: DraftMark? = nil
    ) async throws -> (report: DraftReport, isSaved: Bool) {
        let stack = container.stack
        let generation = stack.root.generation
        // Check first: the changes may belong to a store with another model.
        try await checkHistory(position)
        let difference = DraftDifference(
            reverting: changes.translated(from: layout, to: stack.layout), number: position.number,
            generation: generation, stack.layout)
        let tiers = try difference.owners(stack)
        guard !tiers.isEmpty else { return (DraftReport(save: SaveReport(), merged: [], conflicts: []), false) }
        let resolution = resolution
        let reversal = step.map { SaveReversal.step($0, isIncoming: isIncoming) } ?? .record(isIncoming: isIncoming)
        let call = TierCall(tiers, reversal: reversal, mark: mark)
        let saved = try await call.perform(waitFor: level) { contexts in
            let outcome = try DraftMerge.run(difference.onNewestRows(in: contexts[0]), resolution, in: contexts)
            // If all conflicts are decided for the newer values, nothing may be left to save. The app has decided about this
            // step, so it is recorded as done.
            contexts[0].passesStep = step != nil && !outcome.conflicts.isEmpty
            return outcome
        }
        let report = DraftReport(save: saved.report, merged: saved.result.merged, conflicts: saved.result.conflicts)
        return (report, saved.isSaved)
    }

    /// Checks that a record belongs to the history that the store has now.
    private func checkHistory(_ position: HistoryPosition) async throws {
        try await container.readingHistory { (store) throws(DataSourceError) in
            do throws(DataSourceError) {
                var filter = HistoryFilter.one
                filter.includesValues = false
                _ = try store.readHistory(after: position, filter)
            } catch {
                // A record that was dropped meanwhile can still be reverted.
                guard error.code == .historyExpired, let start = error.historyStart,
                    start.historyID == position.historyID, position.number < start.number
                else { throw error }
            }
        }
    }

    // MARK: Undo

    /// Undoes or redoes the newest step that the search finds and that still changes something or has conflicts.
    ///
    /// - Parameters:
    ///   - search: The search, which has not begun.
    ///   - author: The author of the steps; nil for none.
    /// - Returns: Nil if there is no such step.
    func step(
        _ search: UndoSearch, _ direction: UndoSearch.Direction, _ author: String?
    ) async throws -> DraftReport? {
        var search = search
        var newest: Int64?
        while let (record, position) = try await search.next() {
            // The record of the undo also names the records that were passed over. Otherwise the next undo would try them
            // again, and would find conflicts with the values that this undo changes.
            let numbers = record.number...max(record.number, newest ?? record.number)
            newest = numbers.upperBound
            let step = UndoReference(isUndo: direction == .undo, numbers)
            let (report, isSaved) = try await take(record, at: position, step, author)
            // A step with conflicts is always saved, even if nothing is left of it.
            if isSaved { return report }
        }
        return nil
    }

    /// Undoes or redoes a step.
    ///
    /// - Parameter author: The author of the step; nil for none.
    /// - Returns: The report, and whether anything was saved.
    func take(
        _ record: StoredRecord, at position: HistoryPosition, _ step: UndoReference, _ author: String?
    ) async throws -> (report: DraftReport, isSaved: Bool) {
        let authors = container.stack.authors(with: author)
        var (report, isSaved) = try await SaveAuthor.$named.withValue(authors) {
            try await revert(
                record.changes ?? ChangeSet(entities: []), container.stack.layout, at: position, step: step,
                isIncoming: record.hasIncomingValues, mark: record.mark)
        }
        report.reverted = RevertedEntry(
            record: record, historyID: position.historyID, objects: container.historyObjects)
        return (report, isSaved)
    }
}
