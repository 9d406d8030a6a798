internal import RowStore
internal import Synchronization

/// A data source that completes each save of its objects before the save is checked and written.
///
/// Declare the protocol for a data source whose stored values depend on each other, such as a group with the number of its
/// members:
///
/// ```swift
/// final class CountedDataSource: DataSource<Contact>, SaveCompleting {
///     nonisolated override class var entities: [ManagedObject.Type] {
///         [ContactEntity.self, GroupEntity.self]
///     }
///
///     nonisolated func willSave(
///         _ changes: PendingChanges, in context: PrivateContext
///     ) throws {
///         for group in try changes.owners(of: \GroupEntity.members) {
///             group.memberCount = Int32(group.members.count)
///         }
///     }
/// }
/// ```
///
/// A subclass inherits the hook and can override it. The protocol costs nothing for a data source that does not declare it.
///
/// If a delete rule changes objects of another data source, the hook of that data source may delete more objects. So each save
/// of a data source with the hook, even a save by `add`, waits for the queues of all data sources that its delete rules reach.
/// In a shared store, the save also waits for the leases of these data sources. From then on, saves of these data sources
/// depend on each other.
public nonisolated protocol SaveCompleting: AnyObject, Sendable {
    /// Completes the changes of a batch.
    ///
    /// ```swift
    /// nonisolated func willSave(
    ///     _ changes: PendingChanges, in context: PrivateContext
    /// ) throws {
    ///     for group in try changes.owners(of: \GroupEntity.members) {
    ///         group.memberCount = Int32(group.members.count)
    ///     }
    /// }
    /// ```
    ///
    /// The library calls the hook in each batch that changes objects of the data source. Such a batch comes from `add`,
    /// `delete`, `sync`, `update`, `perform`, an import or the save of a draft, or from another data source whose delete rules
    /// reach the objects. ``DataSource/planSync(_:entity:scope:deleting:operations:options:)`` calls the hook too, and saves
    /// nothing. The call comes after all other hooks, sweeps and delete rules, and before the rules of the model are checked
    /// and derived attributes are calculated.
    ///
    /// The hook may insert, edit and delete objects that the data source owns. Sweeps and delete rules then apply to
    /// these edits. Afterwards, each hook is called again with the changes that it was not told of, until no such
    /// changes are left. So the hook is usually called a second time, with its own edits. Set values that do not depend
    /// on the number of calls.
    ///
    /// Reads of the hook show all edits of the batch, also those of other data sources. Objects of other data sources are
    /// read-only: if the hook changes such an object, the save throws `entityNotOwned`.
    ///
    /// A change of more than 16,384 rows by `update(_:where:set:)` or `delete(_:where:)` is described by
    /// ``PendingChanges/bulk``.
    ///
    /// **Complexity**: the library compares the changed objects with the objects that the hook was told of. So each call costs
    /// O(n) in the number of changed objects, and every deleted row becomes an object.
    ///
    /// **Isolation**: the queue of the private context. The hook must not keep the context, the changes or an object.
    ///
    /// - Parameters:
    ///   - changes: The changes of the batch that the hook was not told of.
    ///   - context: The private context of the data source.
    /// - Throws: Any error. After an error, the whole batch is rolled back. If the eighth call of the hook in one batch still
    ///   leads to new changes, the batch throws `willSaveRepeats`.
    func willSave(_ changes: PendingChanges, in context: PrivateContext) throws
}

/// A reference to a data source that its tier must not keep alive.
struct WeakCompleter: Sendable {
    weak let object: (any SaveCompleting)?

    init(_ object: (any SaveCompleting)? = nil) {
        self.object = object
    }
}

/// The data sources that complete the saves of one call. They stay alive until the call ends.
final class SaveCompletion: Sendable {
    /// The largest number of calls of one hook in a batch.
    private static let callLimit = 8

    private struct Hook: Sendable {
        let box: ContextBox
        let completer: any SaveCompleting
    }

    private let boxes: [ContextBox]
    private let hooks: [Hook]
    /// The class name of a data source that should complete the save, but was released.
    private let released: String?

    private init(_ boxes: [ContextBox], _ hooks: [Hook], released: String?) {
        self.boxes = boxes
        self.hooks = hooks
        self.released = released
    }

    /// Returns the data sources that complete a save; nil if there are none.
    ///
    /// - Parameters:
    ///   - tiers: The tiers whose rows the save may change.
    ///   - named: The tiers whose contexts the work gets.
    static func of(_ tiers: [PrivateTier], named: [PrivateTier]) -> SaveCompletion? {
        var hooks: [Hook] = []
        var released: String?
        for tier in tiers {
            if tier.completesNow(named) {
                if let completer = tier.completer {
                    hooks.append(Hook(box: tier.box, completer: completer))
                } else {
                    released = tier.owner
                }
            }
            // The tier of a released data source is not among the tiers, so find its name by the entities.
            guard !tier.reach.isEmpty, tier.completes || named.contains(where: { $0 === tier }) else { continue }
            released = released ?? tier.stack.releasedCompleter(of: tier.reach)
        }
        if hooks.isEmpty, released == nil { return nil }
        return SaveCompletion(tiers.map(\.box), hooks, released: released)
    }

    /// - Throws: `storeClosed` if a data source that must complete the save was released with its container.
    func check() throws {
        guard let released else { return }
        throw DataSourceError(
            .storeClosed,
            "\(released) completes this save in willSave(_:in:), but was released together with its container. Keep the container until all saves have ended."
        )
    }

    /// Connects the data sources with their contexts for a batch.
    func begin() {
        for box in boxes { box.context.isCompleted = true }
        for hook in hooks { hook.box.context.completer = hook.completer }
    }

    /// Disconnects the data sources from their contexts.
    func end() {
        for box in boxes {
            box.context.isCompleted = false
            box.context.completer = nil
        }
    }

    /// Calls the hooks until each of them was told of all changes. Applies sweeps and delete rules before the first call, and
    /// after each call that has edited objects.
    ///
    /// - Parameters:
    ///   - contexts: All contexts of the batch.
    ///   - endSweeps: Runs the sweeps of all contexts.
    ///   - beforeHooks: Called once, before the first hook, and after sweeps and delete rules.
    /// - Throws: Errors of hooks, sweeps and delete rules; `willSaveRepeats`; errors of the given functions.
    func run(
        _ contexts: [PrivateContext], _ endSweeps: () throws -> Void, beforeHooks: () throws -> Void
    ) throws {
        try SaveCompletion.whileReadingAll(contexts) {
            try SaveCompletion.settle(contexts, endSweeps)
            try beforeHooks()
            var counts = Array(repeating: 0, count: hooks.count)
            var index = 0
            var quietHooks = 0
            while quietHooks < hooks.count {
                let context = hooks[index].box.context
                let changes = context.untoldChanges()
                if changes.isEmpty {
                    quietHooks += 1
                } else {
                    quietHooks = 0
                    if counts[index] == SaveCompletion.callLimit { throw context.willSaveRepeats(counts[index]) }
                    counts[index] += 1
                    try checkCancellation(0)
                    context.recordTold(changes)
                    try context.complete(PendingChanges(context, changes))
                    if context.needsSettling { try SaveCompletion.settle(contexts, endSweeps) }
                }
                index = (index + 1) % hooks.count
            }
        }
    }

    /// Runs the body while reads in every context show the edits of all contexts.
    static func whileReadingAll<R>(_ contexts: [PrivateContext], _ body: () throws -> R) rethrows -> R {
        // Forget the cached links, because links are read either with or without the edits of the other contexts.
        func setReadsCompanions(_ value: Bool) {
            for context in contexts {
                context.related.removeAll()
                context.readsCompanions = value
            }
        }
        setReadsCompanions(true)
        defer { setReadsCompanions(false) }
        return try body()
    }

    /// Applies the sweeps and the delete rules to all edits of the batch.
    private static func settle(_ contexts: [PrivateContext], _ endSweeps: () throws -> Void) throws {
        for context in contexts { try context.checkRefusal() }
        try endSweeps()
        guard contexts.contains(where: { $0.bindings.contains(where: \.hasDeletions) }) else { return }
        try contexts[0].applyRulesAgain()
        for context in contexts { try context.checkRefusal() }
    }
}

extension PrivateContext {
    /// Calls the hook. During the call, the objects of other data sources are read-only.
    func complete(_ changes: PendingChanges) throws {
        guard let completer else { return }
        for other in otherBatchContexts { other.isGuarded = true }
        defer { for other in otherBatchContexts { other.isGuarded = false } }
        try completer.willSave(changes, in: self)
    }

    /// Whether the last call of the hook has changed anything.
    fileprivate var needsSettling: Bool {
        let contexts = batchContexts
        if contexts.contains(where: { !$0.sweeps.isEmpty || !$0.deletions.isEmpty || $0.refusal != nil }) {
            return true
        }
        return !untoldChanges().isEmpty
    }

    fileprivate func willSaveRepeats(_ count: Int) -> DataSourceError {
        DataSourceError(
            .willSaveRepeats,
            "willSave(_:in:) of \(owner ?? "") was called \(count) times for one save, and there are still new changes. Nothing was saved. Set only values that are the same in each call."
        )
    }

    // MARK: Changes

    /// The changes of the batch that the hook was not told of, in the order of the first change of each object.
    ///
    /// The changes are calculated from all changed objects, no matter which hook or delete rule has changed them.
    func untoldChanges() -> [ObjectChange] {
        var changes: [ObjectChange] = []
        for object in changed where bindings[object.layout.index].isOwned || foreignLinks.contains(object.layout.index)
        {
            if let change = told.untoldChange(of: object) { changes.append(change) }
        }
        if foreignLinks.isEmpty { return changes }
        for other in otherBatchContexts {
            for object in other.changed where foreignLinks.contains(object.layout.index) {
                if let change = told.untoldChange(of: object) { changes.append(change) }
            }
        }
        return changes
    }

    fileprivate func recordTold(_ changes: [ObjectChange]) { told.record(changes) }
}

/// For each changed object of a batch, the state that the hook of a data source got last.
struct ToldChanges {
    private struct Told {
        let row: RowSnapshot
        /// Whether the object was deleted. After a deletion, later changes do not matter.
        let isDeletion: Bool
    }

    private var states: [LinkEnd: Told] = [:]

    mutating func removeAll() {
        if !states.isEmpty { states = [:] }
    }

    mutating func record(_ changes: [ObjectChange]) {
        for change in changes {
            states[LinkEnd(change.object)] = Told(row: change.row, isDeletion: change.isDeletion)
        }
    }

    /// The change of an object since the hook was told of it; nil if there is none.
    func untoldChange(of object: ManagedObject) -> ObjectChange? {
        let told = states[LinkEnd(object)]
        if told?.isDeletion == true { return nil }
        switch object.state {
        case .inserted where told == nil:
            return ObjectChange(object: object, previous: nil, row: object.row, isDeletion: false)
        case .inserted, .edited, .saved:
            guard let previous = told?.row ?? object.saved, !object.row.hasSameWords(as: previous),
                !object.row.columnsChanged(since: previous, object.layout).isEmpty
            else { return nil }
            return ObjectChange(object: object, previous: previous, row: object.row, isDeletion: false)
        case .gone where told == nil: return nil
        case .deleted, .gone:
            return ObjectChange(
                object: object, previous: told?.row ?? object.savedRow, row: object.row, isDeletion: true)
        }
    }
}

/// A call of the hook for a change that the store could make in one statement.
final class BulkTrial {
    /// The entities of the changed rows.
    let family: Set<Int>
    let isDeletion: Bool
    /// Whether the hook has asked for the changed objects. If so, the store cannot make the change in one statement: the batch must
    /// make objects from the rows.
    private(set) var needsObjects = false
    /// Whether the hook has discarded the batch.
    var hasRolledBack = false

    init(_ family: Set<Int>, isDeletion: Bool) {
        self.family = family
        self.isDeletion = isDeletion
    }

    /// Records that the hook needs objects, and throws. The batch catches the error.
    func requireObjects() throws -> Never {
        needsObjects = true
        throw ObjectsRequired()
    }

    private struct ObjectsRequired: Error {}
}

extension DataSourceError {
    /// Makes the error for an edit of an object that does not belong to the data source of the running hook.
    init(guarding layout: EntityLayout, attribute: String? = nil) {
        let name = layout.links.map { "\($0.entity).\($0.name)" } ?? layout.name
        self.init(
            .entityNotOwned,
            "willSave(_:in:) changed \(name)\(attribute.map { ".\($0)" } ?? ""), which another data source owns. Change only the objects of the hook's own data source.",
            entityName: layout.links?.entity ?? layout.name, attributeName: layout.links?.name ?? attribute)
    }
}
