internal import RowStore

/// Making stored objects equal to a list, for example one from a server.
extension DataSource {
    /// Makes the objects in scope equal to the list: new objects are added through ``onAdd(_:in:)``, changed ones updated,
    /// missing ones deleted, all in one save.
    ///
    /// The objects that the hook returns are those of the list. Objects that already match the list are neither written nor
    /// reported. If the entity has an Integer or Boolean attribute `syncFlag`, it is set to 1 for the objects of the list.
    ///
    /// ```swift
    /// let report = try await contacts.sync(serverList, entity: ContactEntity.self, deleting: .atMost(0.2))
    /// ```
    ///
    /// If the hook ignores a value (returns nil), the sync deletes nothing, because it cannot know which object the value
    /// stands for, unless ``SyncOptions/allowsIgnoredValues`` is given. The report counts the objects as ``SyncReport/kept``.
    ///
    /// To go on at once, call it in a `Task`.
    ///
    /// - Parameters:
    ///   - values: The whole list, in the order in which the hooks get it.
    ///   - entity: The entity to make equal to the list. The data source must own it.
    ///   - scope: Which of its objects the list covers; nil, the default, for all. Objects out of scope are never deleted.
    ///   - deleting: Whether objects that the list lacks are deleted, and at most how many; `.all` by default.
    ///   - operations: What the sync may do to objects; `.all` by default. Objects that it may not insert or update are counted
    ///     as ``SyncReport/skipped``.
    ///   - options: Whether an empty list, or one with ignored values, may delete objects, and whether the report has ids; none
    ///     by default.
    ///   - level: How far the save must get before the call returns; `.store` by default.
    /// - Throws: `emptySync` if the list is empty, or has only ignored values, and everything in scope would be deleted;
    ///   `syncDeletesTooMuch`; `syncEntityMismatch`; what `add` throws. Nothing has happened then.
    @discardableResult
    public nonisolated func sync<Object: ManagedObject>(
        _ values: [Value], entity: Object.Type, scope: FetchPredicate<Object>? = nil, deleting: SyncDeletion = .all,
        operations: SyncOperations = .all, options: SyncOptions = [], waitFor level: SaveLevel = .store
    ) async throws -> SyncReport {
        let rules = SyncRules(deletion: deleting, operations: operations, options: options)
        return try await tier.perform(waitFor: level, values: max(1, values.count)) { context in
            try self.reconcile(values, entity: entity, scope: scope, rules: rules, in: context)
        }.result
    }

    /// What ``sync(_:entity:scope:deleting:operations:options:waitFor:)`` would do with the same arguments. Nothing is saved.
    ///
    /// - Parameters:
    ///   - values: The whole list.
    ///   - entity: As for ``sync(_:entity:scope:deleting:operations:options:waitFor:)``.
    ///   - scope: As for ``sync(_:entity:scope:deleting:operations:options:waitFor:)``.
    ///   - deleting: As for ``sync(_:entity:scope:deleting:operations:options:waitFor:)``.
    ///   - operations: As for ``sync(_:entity:scope:deleting:operations:options:waitFor:)``.
    ///   - options: As for ``sync(_:entity:scope:deleting:operations:options:waitFor:)``.
    /// - Throws: What the sync itself would throw.
    public nonisolated func planSync<Object: ManagedObject>(
        _ values: [Value], entity: Object.Type, scope: FetchPredicate<Object>? = nil, deleting: SyncDeletion = .all,
        operations: SyncOperations = .all, options: SyncOptions = []
    ) async throws -> SyncReport {
        let rules = SyncRules(deletion: deleting, operations: operations, options: options)
        return try await tier.performRehearsal(values: max(1, values.count)) { context in
            try self.reconcile(values, entity: entity, scope: scope, rules: rules, in: context)
        }
    }

    private nonisolated func reconcile<Object: ManagedObject>(
        _ values: [Value], entity: Object.Type, scope: FetchPredicate<Object>?, rules: SyncRules,
        in context: PrivateContext
    ) throws -> SyncReport {
        let stored = try context.scope(entity, scope)
        var sweep = try SyncSweep(entity, rules, in: context)
        try add(values, in: context) { try sweep.meet($0, in: context) }
        return try sweep.end(stored, in: context)
    }
}

/// Marks the objects that a list stands for, and deletes those in scope that it lacks.
///
/// The mark is a number in the object, not a stored attribute: rows that did not change are not written.
struct SyncSweep {
    private let entity: EntityLayout
    private let rules: SyncRules
    private let mark: Int32
    private let flagColumn: Int?
    private var report = SyncReport()
    private var met: [ManagedObject] = []
    private let linkEdits: Int

    init(_ type: ManagedObject.Type, _ rules: SyncRules, in context: PrivateContext) throws {
        let index = try context.entity(of: type)
        try context.checkMayChange(index)
        entity = context.bindings[index].layout
        self.rules = rules
        mark = context.nextSyncMark()
        linkEdits = context.linkEdits
        let layout = entity
        flagColumn = layout.column(named: "syncFlag").flatMap { layout.columns[$0].storage == .integer ? $0 : nil }
        if rules.options.contains(.reportsIDs) { report.ids = SyncReport.IDs() }
    }

    /// Takes the object that the hook returned for the next value.
    mutating func meet(_ object: ManagedObject?, in context: PrivateContext) throws {
        report.read += 1
        guard let object else {
            report.ignored += 1
            return
        }
        guard object.layout === entity || entity.concreteFamily.contains(object.layout.index) else {
            throw DataSourceError(
                .syncEntityMismatch,
                "A sync of \(entity.name) got a \(object.layout.name) from onAdd(_:in:). Sync each entity with a list of its own.",
                entityName: object.layout.name)
        }
        if object.syncMark == mark {
            report.duplicates += 1
            return
        }
        object.syncMark = mark
        met.append(object)
        if let flagColumn { object.setValue(.integer(1), flagColumn) }
    }

    /// Deletes what the list lacks, including the children of its objects, and counts.
    mutating func end(_ stored: [ManagedObject], in context: PrivateContext) throws -> SyncReport {
        let children = try context.endSweeps(met, rules)
        report.deletedChildren = children.deleted.count
        report.keptChildren = children.kept
        report.ids?.deletedChildren = children.deleted
        for object in met { count(object, in: context) }
        skipChildren(in: context)
        try deleteMissing(stored, in: context)
        countChildren(in: context)
        return report
    }

    /// Deletes the objects of the scope that the list lacks.
    private mutating func deleteMissing(_ stored: [ManagedObject], in context: PrivateContext) throws {
        let missing = stored.filter { $0.syncMark != mark && !$0.isDeleted }
        guard rules.deletes, !missing.isEmpty else {
            report.kept = missing.count
            return
        }
        if met.isEmpty && !rules.options.contains(.allowsEmpty) { throw emptyList(missing.count) }
        if report.ignored > 0 && !rules.options.contains(.allowsIgnoredValues) {
            report.kept = missing.count
            return
        }
        if rules.deletion.refuses(missing.count, of: stored.count) {
            throw rules.deletion.tooMuch(
                missing.count, of: stored.count, "\(entity.name) in scope", entity: entity.name)
        }
        for object in missing {
            report.ids?.deleted.append(object.objectID)
            context.delete(object)
        }
        report.deleted = missing.count
    }

    /// Takes back what the hooks have done beside the objects of the list, where the sync may not do it.
    private mutating func skipChildren(in context: PrivateContext) {
        if rules.operations.isSuperset(of: [.insert, .update]) { return }
        for object in context.changed where object.syncMark != mark {
            let isAllowed =
                switch object.state {
                case .inserted: rules.operations.contains(.insert)
                case .edited: rules.operations.contains(.update) || !object.hasEdits
                // Removing a link changes the objects at its ends.
                case .deleted: rules.operations.contains(.update) || object.layout.links == nil
                case .saved, .gone: true
                }
            if !isAllowed { skip(object, in: context) }
        }
    }

    /// Counts what the hooks have done beside the objects of the list. Links with rows of their own are no objects.
    private mutating func countChildren(in context: PrivateContext) {
        for object in context.changed where object.syncMark != mark && object.layout.links == nil {
            if object.state == .inserted {
                report.insertedChildren += 1
                report.ids?.insertedChildren.append(object.objectID)
            } else if object.state == .edited, object.hasEdits {
                report.updatedChildren += 1
                report.ids?.updatedChildren.append(object.objectID)
            }
        }
    }

    private mutating func count(_ object: ManagedObject, in context: PrivateContext) {
        if object.state == .inserted {
            guard rules.operations.contains(.insert) else { return skip(object, in: context) }
            report.inserted += 1
            report.ids?.inserted.append(object.objectID)
        } else if object.hasEdits {
            guard rules.operations.contains(.update) else { return skip(object, in: context) }
            report.updated += 1
            report.ids?.updated.append(object.objectID)
        } else {
            report.unchanged += 1
        }
    }

    private mutating func skip(_ object: ManagedObject, in context: PrivateContext) {
        if context.linkEdits != linkEdits {
            context.refuse(
                DataSourceError(
                    .invalidRequest,
                    "The hook of a sync of \(entity.name) linked or unlinked objects. A sync without all operations cannot take back single links. Sync with all operations, or link the objects in another call.",
                    entityName: entity.name))
        }
        context.undo(object)
        report.skipped += 1
    }

    private func emptyList(_ count: Int) -> DataSourceError {
        DataSourceError(
            .emptySync,
            "A sync got a list without any \(entity.name), which would delete all \(count) objects in scope. Pass options: .allowsEmpty if that is intended.",
            entityName: entity.name)
    }
}

extension PrivateContext {
    /// Takes back what the batch has done to one object.
    fileprivate func undo(_ object: ManagedObject) {
        if object.state == .inserted { return delete(object) }
        object.restoreSavedRow()
        let binding = bindings[object.layout.index]
        for constraint in binding.layout.constraints.indices { binding.index(object, constraint) }
        if hasValueIndexes { binding.noteValues(of: object) }
    }
}

/// What a sync did, or would do.
///
/// ```swift
/// let sync = try await contacts.sync(serverList)
/// print("\(sync.inserted) new, \(sync.updated) changed, \(sync.unchanged) the same, \(sync.deleted) gone")
/// ```
public struct SyncReport: Sendable, Hashable {
    /// The values in the list.
    public var read = 0
    /// Objects of the list that are new.
    public var inserted = 0
    /// Objects of the list that have at least one value that differs from before.
    public var updated = 0
    /// Objects of the list that already matched it. They are neither written nor reported to lists.
    public var unchanged = 0
    /// Objects of the scope that the list lacks.
    public var deleted = 0
    /// Objects of the scope that the list lacks and that were kept, because the sync may not delete them, or because values
    /// were ignored.
    public var kept = 0
    /// Objects of the list, and others that hooks have changed, that were neither inserted nor updated, because the sync may not
    /// do so.
    public var skipped = 0
    /// Values whose object an earlier value of the list already had; the later value wins.
    public var duplicates = 0
    /// Values for which the hook returned nil.
    public var ignored = 0
    /// Objects that hooks inserted beside those of the list.
    public var insertedChildren = 0
    /// Objects beside those of the list that hooks gave at least one value that differs from before.
    public var updatedChildren = 0
    /// Objects that a `sweep` in the hook deleted, because the list of their parent lacks them.
    public var deletedChildren = 0
    /// Objects that the list of their parent lacks and that were kept, because the sync or the sweep may not delete them, or
    /// because values were ignored.
    public var keptChildren = 0
    /// The objects that were inserted, updated and deleted; nil unless ``SyncOptions/reportsIDs`` was given.
    public var ids: IDs?

    /// The objects that a sync changed, in the order of the list; deleted ones in no order.
    public struct IDs: Sendable, Hashable {
        /// Objects that are new.
        public var inserted: [ManagedObjectID] = []
        /// Objects that have at least one changed value.
        public var updated: [ManagedObjectID] = []
        /// Objects that are gone.
        public var deleted: [ManagedObjectID] = []
        /// New objects beside those of the list.
        public var insertedChildren: [ManagedObjectID] = []
        /// Objects beside those of the list that have at least one changed value.
        public var updatedChildren: [ManagedObjectID] = []
        /// Swept objects that are gone.
        public var deletedChildren: [ManagedObjectID] = []

        /// No objects.
        public init() {}
    }

    /// A report with all counts zero.
    public init() {}
}
