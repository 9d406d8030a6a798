internal import RowStore

/// Edits on the main actor that are not seen elsewhere until they are saved, and that can be thrown away. It is made for forms.
///
/// ```swift
/// let draft = try contacts.draft(of: contact)
/// draft.object.name = "Zhang Yide"
/// if draft.errors(of: draft.object, \.name).isEmpty { try await draft.save() }
/// ```
///
/// Its objects have the same classes as elsewhere, and their relationships lead to copies too. They belong to its ``context``,
/// which also looks up, inserts and deletes objects.
///
/// Saving a draft is one save of the data sources that own the edited objects, as by
/// ``PersistentContainer/perform(in:waitFor:_:)``. Values that others have saved meanwhile are merged by attribute, by to-one
/// relationship, by element of a to-many relationship, and by order.
///
/// Keep the draft while its objects are edited: it ends when it is released, with ``discard()``, and with the container, which
/// it does not keep alive. Editing an object of a draft that has ended is a programmer error and traps.
///
/// **Isolation**: the main actor.
@MainActor
public final class Draft<Object: ManagedObject> {
    /// The copy of the object that the draft was made for, or the new object.
    public let object: Object
    private weak let main: MainTier?
    private weak var held: DraftContext?
    private let number: Int
    private var isDiscarded = false
    /// Calls of ``save(resolving:waitFor:)``, one at a time.
    private let turns = DraftTurns()

    init(_ main: MainTier, _ root: (DraftContext) throws -> Object) throws {
        let (number, context) = main.beginDraft()
        do {
            object = try root(context)
        } catch {
            main.endDraft(number)
            throw error
        }
        // A draft always has its object.
        context.journal.removeAll()
        self.main = main
        self.number = number
        held = context
    }

    deinit {
        guard let main else { return }
        let number = number
        Task { @MainActor in main.endDraft(number) }
    }

    /// Where the draft's objects are fetched, inserted and deleted.
    ///
    /// - Throws: `draftDiscarded`; `storeClosed` once the container is gone.
    public var context: DraftContext {
        get throws {
            if let held, !isDiscarded { return held }
            if isDiscarded {
                throw DataSourceError(.draftDiscarded, "The draft was discarded. Make a new draft.")
            }
            throw RootTier.closed
        }
    }

    private var open: DraftContext? { try? context }

    /// Whether a save is under way. For tests.
    package var isSaving: Bool { turns.isTaken }

    /// Whether there is anything to save. A value that was changed back to the original is no edit.
    ///
    /// - Complexity: O(n) in the number of edited objects.
    public var hasChanges: Bool {
        open?.changed.contains { $0.hasChanges && ($0.state != .edited || $0.hasEdits) } ?? false
    }

    /// Throws all edits away. The draft has ended then: its objects cannot be edited any more, but their values stay readable.
    ///
    /// A save that is under way is not taken back.
    public func discard() {
        isDiscarded = true
        main?.endDraft(number)
    }

    // MARK: Undo

    /// Whether there is a step to undo.
    public var canUndo: Bool { open?.journal.canUndo ?? false }

    /// Whether there is a step to redo.
    public var canRedo: Bool { open?.journal.canRedo ?? false }

    /// How many steps can be undone; 100 by default. The oldest steps beyond that are forgotten.
    public var undoLimit: Int {
        get { open?.journal.limit ?? 0 }
        set { open?.journal.limit = newValue }
    }

    /// Undoes the last step: one edit, or one ``undoGroup(_:)``. Does nothing if there is none.
    ///
    /// - Complexity: O(n) in the number of edited objects.
    public func undo() { open?.undo() }

    /// Redoes the step that was undone last. Does nothing if there is none, or if anything was edited since.
    ///
    /// - Complexity: O(n) in the number of edited objects.
    public func redo() { open?.redo() }

    /// Makes all edits of the body one step. If the body throws, all of them are taken back.
    ///
    /// ```swift
    /// draft.undoGroup {
    ///     draft.object.name = "Zhang Yide"
    ///     draft.object.note = nil
    /// }
    /// ```
    public func undoGroup<R>(_ body: () throws -> R) rethrows -> R {
        guard let context = open else { return try body() }
        return try context.editingTogether(body)
    }

    // MARK: Validation

    /// The rules of the model that an object of the draft breaks: rules for its attributes, for how many objects it is linked
    /// to, and for unique values.
    ///
    /// ``DataSourceError/attributeName`` names the property that an error is about. Errors that depend on other saves are only
    /// found when the draft is saved.
    ///
    /// - Complexity: One look-up for each unique value that was edited.
    public func errors(of object: ManagedObject) -> [DataSourceError] { open?.errors(of: object) ?? [] }

    /// The rules that one property of an object breaks; for a composite, also those that its parts break.
    public func errors<Subject: ManagedObject>(
        of object: Subject, _ property: PartialKeyPath<Subject>
    ) -> [DataSourceError] {
        let name = Subject.attributeKeyPaths[property] ?? Subject.relationshipKeyPaths[property]
        guard let name else { return [] }
        // The parts of a composite have its name before theirs.
        return errors(of: object).filter { $0.attributeName == name || $0.attributeName?.hasPrefix("\(name).") == true }
    }

    /// Checks all edits as a save does: the rules of attributes, unique values, delete rules, and then the rules of relationships.
    /// What others have saved in objects that the draft edits is only merged by the save.
    ///
    /// - Throws: `validationFailed`, `uniquenessViolated`, `valueTooLarge`, `deletionDenied`; several errors are combined into
    ///   one.
    /// - Complexity: O(n) in the number of edits, and of objects that the delete rules of deleted ones reach.
    public func validate() throws { try context.validate() }

    // MARK: Saving

    /// The current conflicts: values that both the draft and other saves have changed since the draft read them.
    ///
    /// - Throws: `draftDiscarded`, `storeClosed`, `storeReset`, and what the store throws; `deletionDenied` if a new object was
    ///   deleted although other edits of the draft deny it.
    public func conflicts() throws -> [DraftChange] {
        let context = try context
        let difference = try context.difference()
        if difference.isEmpty { return [] }
        context.stack.root.noticeOutsideWrites()
        let newest = ReadContext(context.stack, context.stack.root.rows, defersValues: false)
        return try DraftComparison(difference, in: newest).conflicts
    }

    /// Saves all edits of the draft as one save. The draft continues from the stored values: nothing is left to save or to
    /// undo.
    ///
    /// A conflict is a value that both the draft and others have changed, to different values. The save looks for conflicts
    /// while nothing else can change the values. After the merge, all rules of the model are checked.
    ///
    /// If another program has written to the store since the draft inserted an object, that program may have taken the object's
    /// key. The new objects of the draft then get other ids by the save.
    ///
    /// When it throws, nothing was saved, and the draft is unchanged. Edits that are made or undone while the save waits stay
    /// in the draft.
    ///
    /// - Parameters:
    ///   - resolution: What to do about conflicts.
    ///   - level: How far the save must get before the call returns; `.store` by default.
    /// - Throws: `draftConflict`, with every conflict in its ``DataSourceError/failures``; `objectGone` if the result needs an
    ///   object that is gone; `deletionDenied`; `entityNotOwned` if no data source owns an edited object; `draftDiscarded`, `storeReset`;
    ///   otherwise what `perform` throws.
    @discardableResult
    public func save(
        resolving resolution: DraftResolution = .fail, waitFor level: SaveLevel = .store
    ) async throws -> DraftReport {
        await turns.begin()
        defer { turns.end() }
        let difference: DraftDifference
        let tiers: [PrivateTier]
        do {
            let context = try context
            if let refusal = context.takeRefusal() { throw refusal }
            difference = try context.difference()
            tiers = try difference.owners(context.stack)
        }
        guard !tiers.isEmpty else {
            open?.journal.removeAll()
            return DraftReport(save: SaveReport(), merged: [], conflicts: [])
        }
        open?.beginSave(difference)
        let saved: SavedWork<DraftMerge.Outcome>
        do {
            saved = try await TierCall(tiers).perform(waitFor: level) { contexts in
                try DraftMerge.run(difference, resolution, in: contexts)
            }
        } catch {
            open?.abandonSave()
            throw error
        }
        open?.rebase(difference, saved.result.newKeys)
        return DraftReport(save: saved.report, merged: saved.result.merged, conflicts: saved.result.conflicts)
    }
}

extension DraftDifference {
    /// The data sources that own the edited objects.
    fileprivate func owners(_ stack: PersistentStack) throws(DataSourceError) -> [PrivateTier] {
        var tiers: [PrivateTier] = []
        let edited = entities(of: rows.filter { !$0.isCascaded }, stack)
        for entity in entities(of: rows, stack).sorted() {
            guard let tier = stack.tiers(owning: [entity]).first else {
                // Delete rules may reach objects that nobody owns.
                if !edited.contains(entity) { continue }
                let name = stack.layout.entities[entity].name
                throw DataSourceError(
                    .entityNotOwned,
                    "The draft edits \(name), but no data source of the container owns it. Make the data source that lists it: container.dataSource(...).",
                    entityName: name)
            }
            if !tiers.contains(where: { $0 === tier }) { tiers.append(tier) }
        }
        return tiers
    }
}

/// Lets callers in one at a time, in the order of their calls.
@MainActor
private final class DraftTurns {
    private(set) var isTaken = false
    private var waiting: [CheckedContinuation<Void, Never>] = []

    nonisolated init() {}

    func begin() async {
        if isTaken {
            await withCheckedContinuation { waiting.append($0) }
        } else {
            isTaken = true
        }
    }

    func end() {
        if waiting.isEmpty { isTaken = false } else { waiting.removeFirst().resume() }
    }
}

extension MainTier {
    /// A context for a draft, under a number of its own.
    func beginDraft() -> (number: Int, context: DraftContext) {
        // From now on main merges every save, and so does the draft.
        prepareToFetch()
        let number = nextDraft()
        let context = DraftContext(stack) { [weak self] in self?.prepareToFetch() }
        drafts[number] = context
        return (number, context)
    }

    func endDraft(_ number: Int) {
        drafts.removeValue(forKey: number)?.end()
    }
}

/// What a save of a draft did.
public struct DraftReport: Sendable {
    /// What was changed in the store.
    public let save: SaveReport
    /// Attributes, and to-one links that the object's own row stores, that others had changed and the draft had not, in objects
    /// that the draft edits. They stay, and the draft has them now.
    public let merged: [DraftChange]
    /// Values that both had changed, each with the side that was kept.
    public let conflicts: [DraftChange]
}
