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
    private(set) var orders: [OrderedRelationship: [LinkEnd]] = [:]
    /// The newest saved rows of edited objects, by key; nil for a row that is gone.
    var missed: [Int64: RowSnapshot?] = [:]
    /// The objects whose edits are being saved, by key. They keep their rows until the outcome of the save is known, so that
    /// edits that are taken back meanwhile can be distinguished from the others.
    var saving: [Int64: ManagedObject] = [:]
    /// The entities of which other saves have deleted objects since the draft has edits: links of the draft may still lead to
    /// them.
    var entitiesWithGoneObjects: Set<Int> = []
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

    override func willDelete(_ object: ManagedObject) {
        if object.isDeleted { return }
        editingTogether {
            willChange(object)
            if object.isInserted { unlink(object) }
        }
    }

    /// An object that was inserted here must leave no link behind: nothing that is saved may lead to an object that was never
    /// saved.
    private func unlink(_ object: ManagedObject) {
        for other in changed where other !== object && !other.isDeleted {
            func leads(_ column: LinkColumn) -> Bool {
                !other.row.isNull(column.key) && other.row.integer(column.key) == object.key
            }
            if other.layout.links != nil {
                let columns = other.layout.pairColumns(isReversed: false)
                if leads(columns.own) || leads(columns.other) { try? delete(owned: other) }
                continue
            }
            for case .column(let column) in other.layout.relationships.map(\.storage) where leads(column) {
                other.setLink(column, nil)
            }
        }
    }

    override func willReorder(_ owner: ManagedObject, _ index: Int) throws {
        let relationship = OrderedRelationship(owner: LinkEnd(owner), index: index)
        guard orders[relationship] == nil else { return }
        orders[relationship] = owner.isInserted ? [] : try ends(of: owner, at: index)
    }

    override func editingTogether<R, Failure>(_ body: () throws(Failure) -> R) throws(Failure) -> R {
        journal.beginGroup()
        do throws(Failure) {
            let result = try body()
            journal.endGroup()
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
