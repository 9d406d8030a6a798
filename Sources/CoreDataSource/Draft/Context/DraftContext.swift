internal import RowStore

/// The context of a ``Draft``. Its objects are editable copies, and its edits stay private until they are saved.
///
/// ```swift
/// let group = try draft.context.insert(GroupEntity.self)
/// group.gid = "2"
/// draft.object.group = group
/// ```
///
/// An object without edits follows other saves, like an object of the main context. An object with edits keeps its
/// values until it is saved. Fetches include the edits of the draft.
///
/// **Isolation**: the main actor.
public final class DraftContext: EditingContext {
    var journal = UndoJournal()
    /// Notifies the observers of the draft.
    let revision = DraftRevision()
    /// The original orders of the ordered relationships that the draft has changed.
    var orders: [OrderedRelationship: [LinkEnd]] = [:]
    /// The newest saved rows of edited objects; nil for a deleted row.
    var newestSavedRows: [LinkEnd: RowSnapshot?] = [:]
    /// Saved objects that are not registered, because new objects of the draft have the same keys. Another program inserted
    /// the rows of the saved objects while the new objects were deleted.
    var displaced: [LinkEnd: ManagedObject] = [:]
    /// The objects of the running save. These objects keep their rows until the save ends. The rows then show
    /// which edits were undone during the save.
    var saving: [LinkEnd: ManagedObject] = [:]
    /// The entities whose objects other saves have deleted since the draft's first edit. The draft can still have links
    /// to such objects.
    var entitiesWithGoneObjects: Set<Int> = []
    /// The objects that were deleted by a delete rule.
    var cascaded: Set<LinkEnd> = []
    /// New objects that had a relationship with the Deny rule when they were deleted. An undo might have restored some
    /// of them.
    var objectsWithDenyRule: [ManagedObject] = []
    /// Whether delete rules are being applied.
    var isApplyingRules = false
    /// The new objects of the running deletion.
    var deletedNewObjects: [ManagedObject] = []
    /// Whether registered objects must be reloaded because other programs made changes or a read failed.
    var mustReload = false
    /// Whether the lists of edited objects can contain objects whose edits have ended: see ``removeSettledObjects()``.
    var hasSettledObjects = false
    /// The number of objects that were visited to update the lists of edited objects. For tests.
    package var visitedEditCount = 0
    private var hasEnded = false
    /// The state of the store when the draft last looked for newer saves; nil while the main context passes saves on.
    private var newestSeen: SeenState?
    /// Merges all saves into the main context and into the draft.
    private let prepare: @MainActor @Sendable () -> Void
    /// When this many objects are registered, unreferenced objects are forgotten.
    private var sweepThreshold = 1024

    private struct SeenState: Equatable {
        var newestSave: SaveNumber
        var position: FeedPosition
    }

    /// An ordered relationship of an object.
    struct OrderedRelationship: Hashable {
        let owner: LinkEnd
        let index: Int
    }

    init(_ stack: PersistentStack, prepare: @escaping @MainActor @Sendable () -> Void) {
        self.prepare = prepare
        // Allow edits of every entity. The data sources that own the entities save the edits.
        super.init(stack, stack.root.rows, rights: { _ in .edit })
        isInBatch = true
    }

    override var editing: ObjectEditing { .inDraft }

    /// Makes the copy of an object.
    ///
    /// - Throws: `objectGone` if the object has a deferred value and was deleted before the copy; errors of the store.
    func copy(of object: ManagedObject) throws -> ManagedObject {
        try object.context?.readDeferredValues(of: object)
        let binding = bindings[object.layout.index]
        binding.adopt(type(of: object))
        return register(StoredRow(key: object.key, row: object.row), binding, .saved, asOf: object.asOf)
    }

    /// Ends the draft. Later edits trap.
    package func end() {
        hasEnded = true
        revision.advance()
        journal.removeAll()
        displaced = [:]
    }

    override func checkInBatch() {
        precondition(
            !hasEnded,
            "An object was inserted, edited or deleted in a draft that has ended. Retain the draft, or make a new draft."
        )
    }

    // MARK: Following edits

    override func willChange(_ object: ManagedObject) {
        checkInBatch()
        if object.state == .saved, object.isAmongChanged { removeSettledObjects() }
        revision.advance()
        journal.record(UndoJournal.ObjectSnapshot(object))
    }

    override func didInsert(_ object: ManagedObject) {
        revision.advance()
        journal.record(UndoJournal.ObjectSnapshot(object, state: .gone))
    }

    override func didChange(_ object: ManagedObject) {
        if !journal.isInGroup { endUnchangedEdits(CollectionOfOne(object)) }
    }

    override func willDelete(_ object: ManagedObject) {
        if !object.isDeleted { willChange(object) }
    }

    override func didDelete(_ object: ManagedObject, wasInserted: Bool) throws(DataSourceError) {
        try recordDeletion(of: object, wasInserted: wasInserted)
        if wasInserted { restoreDisplaced(LinkEnd(object)) }
    }

    override func restoreLink(
        _ first: ManagedObject, _ second: ManagedObject, _ pairs: PairColumns
    ) throws(DataSourceError) -> ManagedObject? { restoredLink(first, second, pairs) }

    override func willReorder(_ owner: ManagedObject, _ index: Int) throws {
        let relationship = OrderedRelationship(owner: LinkEnd(owner), index: index)
        guard orders[relationship] == nil else { return }
        orders[relationship] = owner.isInserted ? [] : try ends(of: owner, at: index)
    }

    override func withEditGroup<R, Failure>(_ body: () throws(Failure) -> R) throws(Failure) -> R {
        journal.beginGroup()
        do throws(Failure) {
            let result = try body()
            let step = journal.endGroup()
            if !step.isEmpty { endUnchangedEdits(step.values.lazy.map(\.object)) }
            return result
        } catch {
            rollBack(journal.abandonGroup())
            throw error
        }
    }

    override func insert(
        entity: Int, as type: ManagedObject.Type?, column: Int, value: RowValue
    ) throws(DataSourceError) -> ManagedObject {
        try withEditGroup { () throws(DataSourceError) in
            try super.insert(entity: entity, as: type, column: column, value: value)
        }
    }

    /// Makes the stored orders the base of later comparisons.
    func rebaseOrders() {
        guard !changed.isEmpty else { return orders = [:] }
        let newest = ReadContext(stack, stack.root.rows)
        for (order, _) in orders {
            guard let owner = try? newest.find(entity: order.owner.entity, key: order.owner.key),
                let ends = try? newest.ends(of: owner, at: order.index)
            else { continue }
            orders[order] = ends
        }
    }

    // MARK: Reading

    override func mayHaveGoneObjects(_ entity: Int) -> Bool {
        super.mayHaveGoneObjects(entity) || entitiesWithGoneObjects.contains(entity)
    }

    override func willRead(registersObjects: Bool) {
        removeSettledObjects()
        // Do not merge other saves during an edit of several objects.
        if !journal.isInGroup {
            let prepare = prepare
            MainActor.assumeIsolated { prepare() }
            if newestSeen != nil { followNewest() }
        }
        var registered = 0
        for binding in bindings {
            binding.forgetAbsence()
            registered += binding.objects.count
        }
        if registered >= sweepThreshold { sweep() }
    }

    override func didRead() {}

    override func refresh(_ object: ManagedObject, _ row: RowSnapshot, asOf number: SaveNumber) {
        if saving[LinkEnd(object)] == nil { super.refresh(object, row, asOf: number) }
    }

    /// Forgets objects that are unreferenced and have no edits.
    func sweep() {
        related.sweep()
        for binding in bindings where binding.objects.count > 0 { binding.removeUnreferenced() }
        sweepThreshold = max(1024, 2 * registeredObjectCount)
    }
}

extension LinkEnd {
    init(_ object: ManagedObject) {
        self.init(entity: object.layout.index, key: object.key)
    }
}

extension DraftContext: CustomStringConvertible {
    /// The number of edited objects: `DraftContext (edited objects: 3)`.
    public var description: String { "DraftContext (edited objects: \(changed.count(where: \.hasChanges)))" }
}

/// Follows other saves: an object without edits has the same values as in the main context.
extension DraftContext: MainFollower {
    package func read(from pinned: PinnedRows?) {
        source = pinned.map { .pinned($0) } ?? stack.root.rows
        newestSeen = nil
    }

    /// Reads the newest rows from now on, although the main context stays pinned, because the draft has saved.
    func leavePin() {
        guard case .pinned = source else { return }
        source = stack.root.rows
        followNewest()
    }

    /// Reloads the registered objects if there are newer saves, which a pinned main context does not pass on.
    private func followNewest() {
        stack.root.noticeOutsideWrites()
        let seen = SeenState(newestSave: stack.root.newestSave, position: stack.root.feedPosition)
        guard seen != newestSeen || mustReload else { return }
        if seen != newestSeen { revision.advance() }
        newestSeen = seen
        mustReload = true
        reload()
    }

    package func follow(_ merged: MergedSaves) {
        let mayChange = merged.isReset || !merged.saves.isEmpty || merged.staleness != nil || mustReload
        if merged.isReset { forgetSaved() }
        if merged.changesLinks { related.removeAll() }
        for changes in merged.saves {
            for entity in changes.entities { follow(entity, asOf: changes.saveNumber) }
        }
        if merged.staleness != nil { mustReload = true }
        reload()
        // Each read calls this method. If a call without a change notified observers, two views that read would update each
        // other forever.
        if mayChange, !mustReload { revision.advance() }
    }

    private func follow(_ changes: EntityChanges, asOf number: SaveNumber) {
        let binding = bindings[changes.entity]
        if !changes.deleted.isEmpty, !changed.isEmpty || !journal.isEmpty {
            entitiesWithGoneObjects.insert(changes.entity)
        }
        if binding.objects.count == 0 { return }
        for change in changes.updated { applySavedRow(change.row, change.key, binding, asOf: number) }
        for change in changes.deleted { applySavedRow(nil, change.key, binding, asOf: number) }
        // If the object of an insertion is registered, the insertion rolls back a deletion.
        for change in changes.inserted { applySavedRow(change.row, change.key, binding, asOf: number) }
    }

    /// - Parameter isReload: Whether the row was reloaded because it is not known which rows have changed.
    private func applySavedRow(
        _ row: RowSnapshot?, _ key: Int64, _ binding: EntityBinding, asOf number: SaveNumber, isReload: Bool = false
    ) {
        guard let object = binding.objects[key], isReload ? number >= object.asOf : number > object.asOf else { return }
        switch object.state {
        case .saved where saving[LinkEnd(object)] == nil:
            object.asOf = number
            if let row { object.row = row } else { object.markGone() }
            updateRegistration(object, binding)
        case .saved, .edited, .deleted: newestSavedRows[LinkEnd(object)] = .some(row)
        case .inserted, .gone: break
        }
    }

    /// The newest saved row of an object. The outer optional is nil if the object was never saved. The inner optional is nil if
    /// the row was deleted.
    func newestRow(of object: ManagedObject) -> RowSnapshot?? {
        if let row = newestSavedRows[LinkEnd(object)] { return row }
        switch object.state {
        case .inserted: return nil
        case .gone: return .some(nil)
        case .saved: return object.row
        case .edited, .deleted: return object.savedRow
        }
    }

    /// Gives an object the newest saved values if the object is no longer edited.
    func applyNewestRow(_ object: ManagedObject) {
        guard object.state == .saved, saving[LinkEnd(object)] == nil,
            let row = newestSavedRows.removeValue(forKey: LinkEnd(object))
        else { return }
        if let row { object.row = row } else { object.markGone() }
    }

    /// Marks the saved objects as gone after a reset of the store.
    func forgetSaved() {
        related.removeAll()
        displaced = [:]
        for binding in bindings {
            for object in binding.objects.objects where object.state == .saved {
                object.markGone()
                binding.objects.remove(object.key)
            }
        }
    }

    /// Reloads the registered objects if necessary. If the store cannot be read now, the next merge reloads them.
    func reload() {
        guard mustReload else { return }
        related.removeAll()
        if !changed.isEmpty || !journal.isEmpty { entitiesWithGoneObjects = Set(bindings.indices) }
        for binding in bindings where binding.objects.count > 0 {
            binding.removeUnreferenced()
            let keys = binding.objects.objects.map(\.key)
            do throws(DataSourceError) {
                try source.forEachRow(entity: binding.layout.index, keys: keys) { key, row, asOf in
                    applySavedRow(row, key, binding, asOf: asOf, isReload: true)
                }
            } catch {
                return
            }
        }
        mustReload = false
    }
}
