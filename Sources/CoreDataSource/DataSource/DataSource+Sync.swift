internal import RowStore

extension DataSource {
    /// Makes the stored objects equal to a list, such as the response of a server, in one save. The sync inserts and updates
    /// objects through ``onAdd(_:in:)``, and deletes the objects that are not in the list.
    ///
    /// An object is in the list if the hook returns it for a value of the list. Objects that already match the list are neither
    /// written nor reported. If the entity has an Integer or Boolean attribute `syncFlag`, the sync sets the attribute to 1 in
    /// all objects of the list.
    ///
    /// ```swift
    /// let report = try await contacts.sync(
    ///     serverList, entity: ContactEntity.self, deleting: .atMost(0.2))
    /// ```
    ///
    /// If the hook returns nil for a value, the sync cannot know which object belongs to the value. The sync then deletes
    /// nothing, and counts the objects that are not in the list as ``SyncReport/kept``. The option
    /// ``SyncOptions/allowsIgnoredValues`` allows the deletions.
    ///
    /// To continue without waiting for the sync, call `sync` in a `Task`.
    ///
    /// **Complexity**: linear in the number of values and in the number of objects in scope.
    ///
    /// - Parameters:
    ///   - values: The whole list. The hooks get the values in this order.
    ///   - entity: The entity whose objects are made equal to the list. The data source must own the entity.
    ///   - scope: A predicate for the objects that the list covers; nil, the default, for all objects. Objects outside the
    ///     scope are never deleted.
    ///   - deleting: The largest number or share of objects that the sync may delete; ``SyncDeletion/guarded`` by default.
    ///   - operations: The changes that the sync may make; `.all` by default. Objects whose insertion or update is not allowed
    ///     are counted as ``SyncReport/skipped``.
    ///   - options: Options that allow an empty list, or a list with ignored values, to delete objects, and an option for IDs
    ///     in the report; none by default.
    ///   - level: The level that the save must reach before the call returns; `.store` by default.
    ///   - progress: Gets the number of added values; nil, the default, for no reports.
    /// - Throws: `emptySync` if everything in scope would be deleted because the list is empty or all its values were ignored;
    ///   `tooManyDeletions`; `syncEntityMismatch`; errors of `add`. If the call throws, it changes nothing.
    @discardableResult
    public nonisolated func sync<Object: ManagedObject>(
        _ values: [Value], entity: Object.Type, scope: FetchPredicate<Object>? = nil, deleting: SyncDeletion = .guarded,
        operations: SyncOperations = .all, options: SyncOptions = [], waitFor level: SaveLevel = .store,
        progress: BatchProgress? = nil
    ) async throws -> SyncReport {
        let rules = SyncRules(
            deletion: deleting, operations: operations, options: options, isScoped: scope != nil)
        let saved = try await tier.perform(waitFor: level, values: max(1, values.count), kind: .incoming) { context in
            try self.reconcile(values, entity: entity, scope: scope, rules: rules, in: context, progress)
        }
        progress?.end(values.count)
        return saved.syncReport
    }

    /// Returns the report that ``sync(_:entity:scope:deleting:operations:options:waitFor:progress:)`` would return for the same
    /// arguments. Saves nothing.
    ///
    /// ```swift
    /// let plan = try await contacts.planSync(serverList, entity: ContactEntity.self)
    /// ```
    ///
    /// **Complexity**: the same as for the sync, without the write.
    ///
    /// - Parameters:
    ///   - values: The whole list.
    ///   - entity: The entity, as in ``sync(_:entity:scope:deleting:operations:options:waitFor:progress:)``.
    ///   - scope: The scope, as in ``sync(_:entity:scope:deleting:operations:options:waitFor:progress:)``.
    ///   - deleting: The limit, as in ``sync(_:entity:scope:deleting:operations:options:waitFor:progress:)``.
    ///   - operations: The operations, as in ``sync(_:entity:scope:deleting:operations:options:waitFor:progress:)``.
    ///   - options: The options, as in ``sync(_:entity:scope:deleting:operations:options:waitFor:progress:)``.
    /// - Throws: The errors of the sync, including `emptySync` and `tooManyDeletions`. To get the report of a sync that would be
    ///   refused, pass ``SyncDeletion/all``, and ``SyncOptions/allowsEmpty`` if the list is empty.
    public nonisolated func planSync<Object: ManagedObject>(
        _ values: [Value], entity: Object.Type, scope: FetchPredicate<Object>? = nil, deleting: SyncDeletion = .guarded,
        operations: SyncOperations = .all, options: SyncOptions = []
    ) async throws -> SyncReport {
        let rules = SyncRules(
            deletion: deleting, operations: operations, options: options, isScoped: scope != nil)
        return try await tier.performDryRun(values: max(1, values.count)) { context in
            try self.reconcile(values, entity: entity, scope: scope, rules: rules, in: context)
        }.syncReport
    }

    private nonisolated func reconcile<Object: ManagedObject>(
        _ values: [Value], entity: Object.Type, scope: FetchPredicate<Object>?, rules: SyncRules,
        in context: PrivateContext, _ progress: BatchProgress? = nil
    ) throws -> SyncReport {
        let stored = try context.scope(entity, scope)
        var sweep = try SyncSweep(entity, rules, in: context)
        try add(values, in: context, progress) { try sweep.markObject($0, in: context) }
        return try sweep.end(stored, in: context)
    }
}

/// Marks the objects of a list, and deletes the objects in scope that have no mark.
///
/// The mark is a number in the object instead of a stored attribute, so that unchanged rows are not written.
struct SyncSweep {
    private let entity: EntityLayout
    private let rules: SyncRules
    private let mark: Int32
    private let flagColumn: Int?
    private var report = SyncReport()
    private(set) var markedObjects: [ManagedObject] = []
    /// How the marked objects were counted, in the same order.
    private var outcomes: [Outcome] = []
    /// The earlier pages of the same list; empty for a list without pages.
    var earlierPages = ListedPages()
    private let linkEdits: Int

    private enum Outcome {
        case inserted, updated, unchanged, skipped
    }

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

    /// Marks the object that the hook returned for the next value.
    mutating func markObject(_ object: ManagedObject?, in context: PrivateContext) throws {
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
        markedObjects.append(object)
        if let flagColumn { object.setValue(.integer(1), flagColumn) }
    }

    /// Deletes the objects and children that are not in the list, and completes the report.
    mutating func end(_ stored: [ManagedObject], in context: PrivateContext) throws -> SyncReport {
        let children = try context.endSweeps(markedObjects, rules)
        report.deletedChildren = children.deleted.count
        report.keptChildren = children.kept
        report.ids?.deletedChildren = children.deleted
        for object in markedObjects {
            let outcome = count(object, in: context)
            outcomes.append(outcome)
        }
        skipChildren(in: context)
        try deleteMissing(stored, in: context)
        try countCascaded(in: context)
        countChildren(in: context)
        return report
    }

    /// The objects and the ignored values of this page, for the later pages of the list.
    var page: ListedPages {
        ListedPages(objects: Set(markedObjects.lazy.map { LinkEnd($0) }), ignored: report.ignored)
    }

    /// The objects that are not in the list, and were not deleted.
    func missing(among objects: [ManagedObject]) -> [ManagedObject] {
        objects.filter { $0.syncMark != mark && !$0.isDeleted && !earlierPages.objects.contains(LinkEnd($0)) }
    }

    /// Deletes the objects in scope that are not in the list.
    private mutating func deleteMissing(_ stored: [ManagedObject], in context: PrivateContext) throws {
        let missing = missing(among: stored)
        let isListEmpty = markedObjects.isEmpty && earlierPages.objects.isEmpty
        guard rules.deletes, !missing.isEmpty else {
            report.kept = missing.count
            return
        }
        if isListEmpty && !rules.options.contains(.allowsEmpty) { throw emptyList(missing.count) }
        if report.ignored + earlierPages.ignored > 0 && !rules.options.contains(.allowsIgnoredValues) {
            report.kept = missing.count
            return
        }
        // If the list is empty, its deletions were allowed above, so `.guarded` does not refuse them.
        let isScoped = rules.isScoped || isListEmpty
        if rules.deletion.refuses(missing.count, of: stored.count, isScoped: isScoped) {
            var error = rules.deletion.tooManyDeletionsError(
                missing.count, of: stored.count, "\(entity.name) in scope", entity: entity.name)
            error.message +=
                " The sync would insert \(report.inserted), update \(report.updated) and leave \(report.unchanged) unchanged. \(deletionsText(missing))"
            throw error
        }
        for object in missing {
            report.ids?.deleted.append(object.objectID)
            context.delete(object)
        }
        report.deleted = missing.count
    }

    /// The first objects that a refused sync would delete, for the message of its error.
    private func deletionsText(_ missing: [ManagedObject]) -> String {
        let examples = missing.prefix(3).map { "\($0.objectID)" }.joined(separator: ", ")
        let rest = missing.count > 3 ? " and \(missing.count - 3) more" : ""
        return
            "It would delete \(examples)\(rest). For all ids, call planSync with deleting: .all and options: .reportsIDs."
    }

    /// Undoes each change that hooks made to an object outside the list, if the operations of the sync do not allow the
    /// change.
    private mutating func skipChildren(in context: PrivateContext) {
        if rules.operations.isSuperset(of: [.insert, .update]) { return }
        for object in context.changed where object.syncMark != mark {
            let isAllowed =
                switch object.state {
                case .inserted: rules.operations.contains(.insert)
                case .edited: rules.operations.contains(.update) || !object.hasEdits
                // Removing a link counts as an update of the objects at its ends.
                case .deleted: rules.operations.contains(.update) || object.layout.links == nil
                case .saved, .gone: true
                }
            if !isAllowed { skip(object, in: context) }
        }
    }

    /// Counts the objects outside the list that hooks inserted or updated. Rows of links are not counted.
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

    /// Counts the objects of the list that were deleted together with other objects. These objects no longer count as inserted,
    /// updated or unchanged.
    private mutating func countCascaded(in context: PrivateContext) throws {
        let deleted = Set(context.deletions.map(\.layout.index))
        if !context.stack.graph.reach(of: deleted).isDisjoint(with: entity.concreteFamily) {
            try context.completeEdits()
        }
        var ids: Set<ManagedObjectID> = []
        for (object, outcome) in zip(markedObjects, outcomes) where object.isDeleted {
            switch outcome {
            case .inserted: report.inserted -= 1
            case .updated: report.updated -= 1
            case .unchanged: report.unchanged -= 1
            case .skipped: continue
            }
            report.cascaded += 1
            ids.insert(object.objectID)
        }
        if ids.isEmpty { return }
        report.ids?.inserted.removeAll(where: ids.contains)
        report.ids?.updated.removeAll(where: ids.contains)
    }

    private mutating func count(_ object: ManagedObject, in context: PrivateContext) -> Outcome {
        if object.state == .inserted {
            guard rules.operations.contains(.insert) else { return skip(object, in: context) }
            report.inserted += 1
            report.ids?.inserted.append(object.objectID)
            return .inserted
        }
        if object.hasEdits {
            guard rules.operations.contains(.update) else { return skip(object, in: context) }
            report.updated += 1
            report.ids?.updated.append(object.objectID)
            return .updated
        }
        report.unchanged += 1
        return .unchanged
    }

    @discardableResult
    private mutating func skip(_ object: ManagedObject, in context: PrivateContext) -> Outcome {
        if context.linkEdits != linkEdits {
            context.refuse(
                DataSourceError(
                    .invalidRequest,
                    "The hook of a sync of \(entity.name) linked or unlinked objects. A sync without all operations cannot roll back single links. Sync with all operations, or link the objects in another call.",
                    entityName: entity.name))
        }
        context.undo(object)
        report.skipped += 1
        return .skipped
    }

    private func emptyList(_ count: Int) -> DataSourceError {
        DataSourceError(
            .emptySync,
            "A sync got a list without any \(entity.name), so it would delete all objects in scope (\(count)). To delete them, pass options: .allowsEmpty.",
            entityName: entity.name)
    }
}

extension SavedWork<SyncReport> {
    /// The report of the sync, with the number of all deleted objects.
    var syncReport: SyncReport {
        var syncReport = result
        syncReport.totalDeleted = report.deleted
        return syncReport
    }
}

extension PrivateContext {
    /// Undoes the changes that the batch made to one object.
    fileprivate func undo(_ object: ManagedObject) {
        if object.state == .inserted { return delete(object) }
        object.restoreSavedRow()
        let binding = bindings[object.layout.index]
        for constraint in binding.layout.constraints.indices { binding.index(object, constraint) }
        if hasValueIndexes { binding.recordValues(of: object) }
    }
}
