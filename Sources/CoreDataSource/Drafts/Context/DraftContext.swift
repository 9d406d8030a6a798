internal import RowStore

/// The scratch context of a ``Draft``: its objects are copies that can be edited, and its edits are not seen elsewhere.
///
/// An object without edits follows other saves, as objects of main do; one with edits keeps its values until it is saved.
/// Fetches include the edits of the draft.
///
/// **Isolation**: the main actor.
public final class DraftContext: EditingContext {
    var journal = UndoJournal()
    /// The objects of ordered relationships as they were before the draft changed their order.
    var orders: [OrderedRelationship: [LinkEnd]] = [:]
    /// The newest saved rows of edited objects, by key; nil for a row that is gone.
    var missed: [Int64: RowSnapshot?] = [:]
    /// The objects whose edits are being saved, by key. They keep their rows until the outcome of the save is known, so that
    /// edits that are taken back meanwhile can be distinguished from the others.
    var saving: [Int64: ManagedObject] = [:]
    /// The entities of which other saves have deleted objects since the draft has edits: links of the draft may still lead to
    /// them.
    var entitiesWithGoneObjects: Set<Int> = []
    /// The keys of objects that were deleted by a delete rule.
    var cascaded: Set<Int64> = []
    /// New objects that were deleted again, and that objects linked to them may deny that.
    var denied: [ManagedObject] = []
    /// Whether delete rules are being applied.
    var isApplyingRules = false
    /// New objects that are being deleted.
    var takenOut: [ManagedObject] = []
    /// Whether registered objects still have to be reloaded, because the store could not be read.
    var mustReload = false
    private var hasEnded = false
    /// Brings main, and with it the draft, up to the newest save.
    private let prepare: @MainActor @Sendable () -> Void
    /// The number of registered objects at which objects that are not held elsewhere are forgotten again.
    private var sweepAt = 1024

    /// An ordered relationship of an object.
    struct OrderedRelationship: Hashable {
        let owner: LinkEnd
        let index: Int
    }

    init(_ stack: PersistentStack, prepare: @escaping @MainActor @Sendable () -> Void) {
        self.prepare = prepare
        // All edits stay here until the data sources that own the entities save them.
        super.init(stack, stack.root.rows, rights: { _ in .edit })
        isInBatch = true
    }

    override var editing: ObjectEditing { .inDraft }

    /// The copy of an object.
    ///
    /// - Throws: `objectGone` if it has a large value that lies apart and was deleted meanwhile; what the store throws.
    func copy(of object: ManagedObject) throws -> ManagedObject {
        try object.context?.readValuesApart(of: object)
        let binding = bindings[object.layout.index]
        binding.adopt(type(of: object))
        return register(StoredRow(key: object.key, row: object.row), binding, .saved, asOf: object.asOf)
    }

    /// No edit is possible from now on.
    package func end() {
        hasEnded = true
        journal.removeAll()
    }

    override func checkInBatch() {
        precondition(
            !hasEnded,
            "An object was inserted, edited or deleted in a draft that was discarded. Make a new draft.")
    }

    // MARK: Following edits

    /// An object is about to be edited or deleted.
    override func willChange(_ object: ManagedObject) {
        checkInBatch()
        journal.note(UndoJournal.Moment(object))
    }

    override func didInsert(_ object: ManagedObject) {
        journal.note(UndoJournal.Moment(object, state: .gone))
    }

    override func didChange(_ object: ManagedObject) {
        if !journal.isInGroup { settle(CollectionOfOne(object)) }
    }

    override func willDelete(_ object: ManagedObject) {
        if !object.isDeleted { willChange(object) }
    }

    override func didDelete(_ object: ManagedObject, wasInserted: Bool) throws(DataSourceError) {
        try noteDeletion(of: object, wasInserted: wasInserted)
    }

    override func restoreLink(
        _ one: ManagedObject, _ other: ManagedObject, _ pairs: PairColumns
    ) throws(DataSourceError) -> ManagedObject? { restoredLink(one, other, pairs) }

    override func willReorder(_ owner: ManagedObject, _ index: Int) throws {
        let relationship = OrderedRelationship(owner: LinkEnd(owner), index: index)
        guard orders[relationship] == nil else { return }
        orders[relationship] = owner.isInserted ? [] : try ends(of: owner, at: index)
    }

    override func editingTogether<R, Failure>(_ body: () throws(Failure) -> R) throws(Failure) -> R {
        journal.beginGroup()
        do throws(Failure) {
            let result = try body()
            let step = journal.endGroup()
            if !step.isEmpty { settle(step.values.lazy.map(\.object)) }
            return result
        } catch {
            takeBack(journal.abandonGroup())
            throw error
        }
    }

    override func insert(entity: Int, column: Int, value: RowValue) throws(DataSourceError) -> ManagedObject {
        try editingTogether { () throws(DataSourceError) in
            try super.insert(entity: entity, column: column, value: value)
        }
    }

    /// Uses the stored orders as the basis of the draft from now on.
    func rebaseOrders() {
        guard !changed.isEmpty else { return orders = [:] }
        let newest = ReadContext(stack, source)
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
        // An edit of several objects finishes with the objects that it began with.
        if !journal.isInGroup {
            let prepare = prepare
            MainActor.assumeIsolated { prepare() }
        }
        var registered = 0
        for binding in bindings {
            binding.forgetAbsence()
            registered += binding.objects.count
        }
        if registered >= sweepAt { sweep() }
    }

    override func didRead() {}

    override func refresh(_ object: ManagedObject, _ row: RowSnapshot, asOf number: Int64) {
        if saving[object.key] == nil { super.refresh(object, row, asOf: number) }
    }

    /// Forgets the objects that are not held elsewhere and have no edits.
    func sweep() {
        related.sweep()
        for binding in bindings where binding.objects.count > 0 { binding.removeUnreferenced() }
        sweepAt = max(1024, 2 * registeredObjectCount)
    }
}

extension LinkEnd {
    init(_ object: ManagedObject) {
        self.init(entity: object.layout.index, key: object.key)
    }
}

extension DraftContext: CustomStringConvertible {
    /// How many objects are edited: `DraftContext (3 edited objects)`.
    public var description: String { "DraftContext (\(changed.count) edited objects)" }
}
