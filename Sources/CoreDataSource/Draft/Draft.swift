internal import RowStore

/// A set of edits on the main actor that stay private until they are saved or discarded. Use a draft for a form.
///
/// ```swift
/// let draft = try contacts.draft(of: contact)
/// draft.object.name = "Zhang Yide"
/// if draft.errors(of: draft.object, \.name).isEmpty { try await draft.save() }
/// ```
///
/// The objects of a draft are copies with the same classes. Their relationships lead to copies too. The copies belong to the
/// draft's ``context``, which also fetches, inserts and deletes objects.
///
/// All edits of a draft are saved in one save, which spans the data sources that own the edited objects, like a call of
/// ``PersistentContainer/perform(in:waitFor:_:)``. If other saves changed the same objects, the changes of both sides are
/// merged individually: each attribute, each to-one relationship, each element of a to-many relationship, and each order.
///
/// A draft is `Observable`: a view that reads `draft.object.name`, ``hasChanges`` or ``canUndo`` is updated after each change. In
/// SwiftUI, `@Bindable var draft` gives bindings such as `$draft.object.name`. An object alone is not observable, so read it through
/// the draft.
///
/// Retain the draft while its objects are edited. A draft ends when it is released, when ``discard()`` is called, and
/// when its container is released. A draft does not retain its container. Editing an object of a draft that has ended
/// is a programmer error and traps.
///
/// **Isolation**: the main actor.
@MainActor
public final class Draft<Object: ManagedObject> {
    /// The copy of the object for which the draft was made, or the new object.
    public var object: Object {
        revision.recordAccess()
        return root
    }
    private let root: Object
    private let revision: DraftRevision
    private weak let main: MainTier?
    private weak var openContext: DraftContext?
    private let number: Int
    private var isDiscarded = false
    /// Makes the calls of ``save(resolving:waitFor:)`` and ``undoSave(resolving:waitFor:)`` run one at a time.
    let saveQueue = DraftSaveQueue()
    /// The saves of the draft that have a record in the kept history, the newest last.
    var recordedSaves: [RecordedSave] = []

    init(_ main: MainTier, _ root: (DraftContext) throws -> Object) throws {
        // Check now. A draft that reads nothing from the store would throw only at its save.
        try main.stack.root.checkOpen()
        let (number, context) = main.beginDraft()
        do {
            self.root = try root(context)
        } catch {
            main.endDraft(number)
            throw error
        }
        // The creation of the draft's own object cannot be undone.
        context.journal.removeAll()
        revision = context.revision
        self.main = main
        self.number = number
        openContext = context
    }

    deinit {
        guard let main else { return }
        let number = number
        Task { @MainActor in main.endDraft(number) }
    }

    /// The context that fetches, inserts and deletes objects for the draft.
    ///
    /// ```swift
    /// draft.object.group = try draft.context.first(
    ///     GroupEntity.self, where: \.gid == "1")
    /// ```
    ///
    /// - Throws: `draftDiscarded`; `storeClosed` after the container was released.
    public var context: DraftContext {
        get throws {
            revision.recordAccess()
            if let openContext, !isDiscarded { return openContext }
            if isDiscarded {
                throw DataSourceError(.draftDiscarded, "The draft was discarded. Make a new draft.")
            }
            throw RootTier.closed
        }
    }

    private var activeContext: DraftContext? { try? context }

    /// Whether a save is running. For tests.
    package var isSaving: Bool { saveQueue.isBusy }

    /// Whether the draft has edits to save. A value that was changed back to the original value is not an edit.
    ///
    /// - Complexity: O(n) in the number of edited objects.
    public var hasChanges: Bool {
        activeContext?.changed.contains { $0.hasChanges && ($0.state != .edited || $0.hasEdits) } ?? false
    }

    /// Discards all edits and ends the draft. Afterwards the draft's objects can be read but not edited.
    ///
    /// ```swift
    /// draft.discard()
    /// ```
    ///
    /// A running save is not rolled back.
    public func discard() {
        isDiscarded = true
        revision.advance()
        main?.endDraft(number)
    }

    // MARK: Undo

    /// Whether there is a step to undo.
    public var canUndo: Bool { activeContext?.journal.canUndo ?? false }

    /// Whether there is a step to redo.
    public var canRedo: Bool { activeContext?.journal.canRedo ?? false }

    /// The largest number of steps that can be undone; 100 by default. Beyond the limit, the oldest steps are forgotten.
    public var undoLimit: Int {
        get { activeContext?.journal.limit ?? 0 }
        set {
            activeContext?.journal.limit = newValue
            revision.advance()
        }
    }

    /// Undoes the last step, which is a single edit or an ``undoGroup(_:)``. Does nothing if there is no step to undo. Steps are
    /// edits since the last save; ``undoSave(resolving:waitFor:)`` undoes the save.
    ///
    /// ```swift
    /// draft.undo()
    /// ```
    ///
    /// - Complexity: O(n) in the number of edited objects.
    public func undo() { activeContext?.undo() }

    /// Redoes the step that was undone last. Does nothing if there is no such step, or if an object was edited after the undo.
    ///
    /// ```swift
    /// if draft.canRedo { draft.redo() }
    /// ```
    ///
    /// - Complexity: O(n) in the number of edited objects.
    public func redo() { activeContext?.redo() }

    /// Combines all edits of the body into one step. If the body throws, all its edits are rolled back.
    ///
    /// ```swift
    /// draft.undoGroup {
    ///     draft.object.name = "Zhang Yide"
    ///     draft.object.note = nil
    /// }
    /// ```
    public func undoGroup<R>(_ body: () throws -> R) rethrows -> R {
        guard let context = activeContext else { return try body() }
        return try context.withEditGroup(body)
    }

    // MARK: Validation

    /// Returns an error for each rule of the model that an object of the draft breaks: rules for attributes, for the
    /// number of linked objects, and for unique values.
    ///
    /// ```swift
    /// for error in draft.errors(of: draft.object) {
    ///     print(error.attributeName ?? "", error.message)
    /// }
    /// ```
    ///
    /// The ``DataSourceError/attributeName`` of an error is the name of the property. Some errors depend on other
    /// saves, and are found only when the draft is saved.
    ///
    /// - Complexity: One look-up for each edited unique value.
    public func errors(of object: ManagedObject) -> [DataSourceError] { activeContext?.errors(of: object) ?? [] }

    /// Returns an error for each rule that a property of an object breaks. For a composite, the result includes the
    /// errors of its parts.
    ///
    /// ```swift
    /// let isValid = draft.errors(of: draft.object, \.name).isEmpty
    /// ```
    ///
    /// - Complexity: The same as for ``errors(of:)``.
    public func errors<Subject: ManagedObject>(
        of object: Subject, _ property: PartialKeyPath<Subject>
    ) -> [DataSourceError] {
        let name = Subject.attributeKeyPaths[property] ?? Subject.relationshipKeyPaths[property]
        guard let name else { return [] }
        // The names of a composite's parts begin with the name of the composite.
        return errors(of: object).filter { $0.attributeName == name || $0.attributeName?.hasPrefix("\(name).") == true }
    }

    /// Checks all edits like a save, in this order: rules for attributes, unique values, delete rules, rules for relationships.
    /// Unlike a save, the check does not merge other saves into the edited objects.
    ///
    /// ```swift
    /// try draft.validate()
    /// ```
    ///
    /// - Throws: `validationFailed`, `uniquenessViolated`, `valueTooLarge`, `deletionDenied`; several errors are combined into
    ///   one.
    /// - Complexity: O(n) in the number of edits and of the objects that delete rules reach.
    public func validate() throws { try context.validate() }

    // MARK: Saving

    /// Returns the current conflicts. In a conflict, the draft and other saves have set a value to different new values
    /// since the draft read the value, or one side has deleted an object that the other side uses: see
    /// ``DraftChange/Kind``. The call reads the newest rows of the edited objects from the store.
    ///
    /// ```swift
    /// for conflict in try draft.conflicts() {
    ///     print(conflict, conflict.mine ?? "nil", conflict.theirs ?? "nil")
    /// }
    /// ```
    ///
    /// - Throws: `draftDiscarded`, `storeClosed`, `storeReset`, and errors of the store; `deletionDenied` if the draft has
    ///   deleted a new object and a delete rule denies the deletion.
    public func conflicts() throws -> [DraftChange] {
        let context = try context
        let difference = try context.difference()
        if difference.isEmpty { return [] }
        context.stack.root.noticeOutsideWrites()
        let newest = ReadContext(context.stack, context.stack.root.rows, defersValues: false)
        return try DraftComparison(difference, in: newest).conflicts
    }

    /// Saves all edits of the draft in one save. Afterwards the draft continues with the stored values. No edits remain to be
    /// saved, and ``undo()`` has no steps to undo. To undo the save itself, call ``undoSave(resolving:waitFor:)``.
    ///
    /// ```swift
    /// let report = try await draft.save(resolving: .keepMine)
    /// print(report.conflicts.count, report.merged.count)
    /// ```
    ///
    /// See ``conflicts()`` for what counts as a conflict. While this save looks for conflicts, no other save can change
    /// the values. After the merge, all rules of the model are checked.
    ///
    /// If another program writes to the store after the draft has inserted an object, the program might have used the
    /// object's key. In this case, the save gives the new objects of the draft other IDs.
    ///
    /// If the call throws, it saves nothing and does not change the draft. Edits that are made or undone while the save waits
    /// remain in the draft as edits.
    ///
    /// - Parameters:
    ///   - resolution: How the save resolves conflicts; `.fail` by default.
    ///   - level: The level that the save must reach before the call returns; `.store` by default.
    /// - Throws: `draftConflict`, with every conflict in its ``DataSourceError/failures``; `objectGone` if the merged values
    ///   need an object that was deleted; `deletionDenied`; `entityNotOwned` if no data source owns an edited object;
    ///   `draftDiscarded`; `storeReset`; otherwise errors of `perform`.
    @discardableResult
    public func save(
        resolving resolution: DraftResolution = .fail, waitFor level: SaveLevel = .store
    ) async throws -> DraftReport {
        await saveQueue.begin()
        defer {
            saveQueue.end()
            revision.advance()
        }
        let difference: DraftDifference
        let tiers: [PrivateTier]
        do {
            let context = try context
            if let refusal = context.takeRefusal() { throw refusal }
            difference = try context.difference()
            tiers = try difference.owners(context.stack)
        }
        guard !tiers.isEmpty else {
            activeContext?.journal.removeAll()
            return DraftReport(save: SaveReport(), merged: [], conflicts: [])
        }
        activeContext?.beginSave(difference)
        let recorded = RecordedSave(tiers[0].stack)
        let saved: SavedWork<DraftMerge.Outcome>
        do {
            saved = try await TierCall(tiers, mark: recorded?.mark).perform(waitFor: level) { contexts in
                try DraftMerge.run(difference, resolution, in: contexts)
            }
        } catch {
            activeContext?.abandonSave()
            throw error
        }
        if let recorded, saved.isSaved {
            recordedSaves = recordedSaves.suffix(RecordedSave.limit - 1) + [recorded]
        }
        activeContext?.rebase(difference, saved.result.newKeys)
        activeContext?.leavePin()
        return DraftReport(save: saved.report, merged: saved.result.merged, conflicts: saved.result.conflicts)
    }
}

extension DraftDifference {
    /// Returns the data sources that own the edited objects.
    func owners(_ stack: PersistentStack) throws(DataSourceError) -> [PrivateTier] {
        var tiers: [PrivateTier] = []
        let edited = entities(of: rows.filter { !$0.isCascaded }, stack)
        for entity in entities(of: rows, stack).sorted() {
            guard let tier = stack.tiers(owning: [entity]).first else {
                // Delete rules can reach entities that no data source owns.
                if !edited.contains(entity) { continue }
                let name = stack.layout.entities[entity].name
                throw DataSourceError(
                    .entityNotOwned,
                    "\(name) is edited by \(origin.name), but no data source of the container owns that entity. Make the data source that lists the entity: container.dataSource(...).",
                    entityName: name)
            }
            if !tiers.contains(where: { $0 === tier }) { tiers.append(tier) }
        }
        return tiers
    }
}

/// Lets one caller run at a time, in the order of the calls.
@MainActor
final class DraftSaveQueue {
    private(set) var isBusy = false
    private var waiting: [CheckedContinuation<Void, Never>] = []

    nonisolated init() {}

    func begin() async {
        if isBusy {
            await withCheckedContinuation { waiting.append($0) }
        } else {
            isBusy = true
        }
    }

    func end() {
        if waiting.isEmpty { isBusy = false } else { waiting.removeFirst().resume() }
    }
}

extension MainTier {
    /// Makes the context of a draft, and gives the draft a number.
    func beginDraft() -> (number: Int, context: DraftContext) {
        // From now on, the main tier merges every save and passes the save to the draft.
        prepareToFetch()
        let number = nextDraft()
        let context = DraftContext(stack) { [weak self] in self?.prepareToFetch() }
        context.read(from: pin?.rows)
        drafts[number] = context
        return (number, context)
    }

    func endDraft(_ number: Int) {
        drafts.removeValue(forKey: number)?.end()
    }
}

/// The outcome of a draft's save.
public struct DraftReport: Sendable {
    /// How many objects the save inserted, changed and deleted.
    public let save: SaveReport
    /// Values of edited objects that only other saves have changed: attributes, and to-one links in the object's own row. The
    /// store keeps these values, and the draft now has the same values.
    public let merged: [DraftChange]
    /// Values that both the draft and other saves have changed, each with the side whose value was kept.
    public let conflicts: [DraftChange]
    /// The record of the history that was reverted, as the store has it; nil after the save of a draft.
    var reverted: RevertedEntry?
}

extension DraftReport: CustomStringConvertible {
    /// The numbers of the save, and the object and the property of each merged value and of each conflict, without values.
    ///
    /// ```
    /// 0 inserted, 2 updated, 0 deleted, 1 merged, 1 conflict
    ///   merged ContactEntity/12.name (attribute)
    ///   conflict ContactEntity/12.age (attribute), kept: mine
    /// ```
    ///
    /// At most 20 merged values and 20 conflicts are listed.
    public var description: String {
        let conflictCount = conflicts.count == 1 ? "1 conflict" : "\(conflicts.count) conflicts"
        let counts =
            "\(save.inserted) inserted, \(save.updated) updated, \(save.deleted) deleted, \(merged.count) merged, \(conflictCount)"
        let lines =
            Self.list(merged.map { "merged \($0)" })
            + Self.list(conflicts.map { "conflict \($0)" + ($0.choice.map { ", kept: \($0)" } ?? "") })
        return ([counts] + lines.map { "  \($0)" }).joined(separator: "\n")
    }

    private static func list(_ lines: [String], limit: Int = 20) -> [String] {
        lines.count <= limit ? lines : lines.prefix(limit) + ["and \(lines.count - limit) more"]
    }
}
