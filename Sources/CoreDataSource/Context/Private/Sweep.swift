internal import RowStore

/// Sweeps, which delete the children of a parent that are not in a list.
extension PrivateContext {
    /// Deletes the children of one parent that are not in a list.
    ///
    /// ```swift
    /// nonisolated override func onAdd(
    ///     _ team: Team, in context: PrivateContext
    /// ) throws -> ManagedObject? {
    ///     let group = try context.findOrInsert(
    ///         GroupEntity.self, where: \.gid, equals: team.gid)
    ///     let members = try team.members.map { member in
    ///         let contact = try context.findOrInsert(
    ///             ContactEntity.self, where: \.uid, equals: member.uid)
    ///         contact.name = member.name
    ///         contact.group = group
    ///         return contact
    ///     }
    ///     try context.sweep(\.members, of: group, keeping: members)
    ///     return group
    /// }
    /// ```
    ///
    /// **Ordering**: the sweep runs after all values of the batch were added and linked. So a child stays if a later value
    /// moves the child to another parent. A child also stays if another sweep of the batch keeps the child, or if a hook
    /// returned the child for a value.
    ///
    /// Deletions follow the delete rules. A second sweep of the same relationship of the same parent replaces the first sweep.
    /// A sweep does not make links, and does not write the children that stay.
    ///
    /// In a `sync`, the arguments of the sync also limit the sweep. If the sync may not delete, the sweep deletes
    /// nothing. The options of the sync are added to `options`. The limit `.atMost` of the sync applies to the children
    /// of all its sweeps together.
    ///
    /// In a `load`, the sweep does not delete a child that another save has inserted, or has linked to an object, since the
    /// request began.
    ///
    /// - Parameters:
    ///   - relationship: A to-many relationship, ordered or not, to objects that this data source owns. Its inverse must be
    ///     to-one.
    ///   - parent: A new or saved object of any data source, from this context.
    ///   - kept: The objects of the list. Nil stands for an ignored value. If the list has an ignored value, the sweep deletes
    ///     nothing. The option ``SyncOptions/allowsIgnoredValues`` lifts this restriction.
    ///   - deleting: Whether to delete the other children, and the greatest share of this parent's children that may be
    ///     deleted.
    ///   - options: ``SyncOptions/allowsEmpty`` for a list that may be empty.
    /// - Throws: `unknownAttribute`, `entityNotOwned`, `invalidRequest`. The save throws `emptySync` if the list has no
    ///   objects but there are saved children, and `tooManyDeletions` if too many children would be deleted.
    public func sweep<Parent: ManagedObject, Children: Sequence>(
        _ relationship: KeyPath<Parent, Children>, of parent: Parent, keeping kept: [Children.Element?],
        deleting: SyncDeletion = .all, options: SyncOptions = []
    ) throws where Children.Element: ManagedObject {
        let rules = SyncRules(deletion: deleting, operations: .all, options: options)
        try record(relationship, of: parent, keeping: kept, rules: rules)
    }

    private func record<Parent: ManagedObject>(
        _ keyPath: PartialKeyPath<Parent>, of parent: Parent, keeping kept: [ManagedObject?], rules: SyncRules
    ) throws {
        if let other = (readsCompanions ? otherBatchContexts : workContexts).first(where: { $0 === parent.context }) {
            return try other.record(keyPath, of: parent, keeping: kept, rules: rules)
        }
        checkInBatch()
        let index = try relationship(keyPath, of: parent)
        for entity in parent.layout.relationships[index].destinationFamily {
            try editor(ofEntity: entity).checkOwned(entity)
        }
        sweeps.insert(
            ChildSweep(
                parent: parent, relationship: index, kept: Set(kept.lazy.compactMap { $0.map { LinkEnd($0) } }),
                hasIgnored: kept.contains { $0 == nil }, rules: rules))
    }

    private func relationship<Parent: ManagedObject>(
        _ keyPath: PartialKeyPath<Parent>, of parent: Parent
    ) throws(DataSourceError) -> Int {
        let entity = parent.layout.name
        guard parent.context === self else {
            throw DataSourceError(
                .invalidRequest,
                "An object of another context was passed to sweep(_:of:keeping:). Look the object up in this context by its objectID first.",
                entityName: entity)
        }
        guard let name = Parent.relationshipKeyPaths[keyPath], let index = parent.layout.relationship(named: name)
        else {
            throw DataSourceError(
                .unknownAttribute,
                "sweep was called with a property of \(Parent.self) that is not a relationship of the model. Use a property that relationshipKeyPaths of \(Parent.self) lists.",
                entityName: entity)
        }
        guard case .inverseColumn = parent.layout.relationships[index].storage else {
            throw DataSourceError(
                .invalidRequest,
                "\(entity).\(name) was swept, but its objects can belong to several parents. Set the relationship to the list instead, which unlinks all other objects.",
                entityName: entity, attributeName: name)
        }
        return index
    }

    // MARK: The end of a batch

    /// Runs the sweeps of the batch.
    ///
    /// - Parameters:
    ///   - met: The objects that the hooks returned for the values of the batch.
    ///   - call: The rules of the sync; nil outside of a sync.
    ///   - kept: The children that sweeps of other data sources keep.
    @discardableResult
    func endSweeps(
        _ met: @autoclosure () -> [ManagedObject?] = [], _ call: SyncRules? = nil, sparing kept: Set<LinkEnd> = []
    ) throws -> SweepReport {
        var report = SweepReport()
        if sweeps.isEmpty { return report }
        var spared = sweeps.kept.union(kept)
        for object in met() { if let object { spared.insert(LinkEnd(object)) } }
        let groups = sweeps.groups
        sweeps = ChildSweeps()
        let hasArrived = arrivalsDuringRequest()
        for (group, sweeps) in groups {
            let relationship = stack.layout.entities[group.entity].relationships[group.relationship]
            guard case .inverseColumn(let column) = relationship.storage else { continue }
            let parents = sweeps.filter { !$0.parent.isDeleted }
            for part in parents.chunks(ofSize: FetchGroup.window) {
                try checkCancellation(0)
                let isSpared = { object in spared.contains(LinkEnd(object)) || hasArrived(object) }
                try end(
                    part, children: try children(of: part, group.entity, column, relationship.destinationFamily),
                    call: call, report: &report, sparing: isSpared)
            }
        }
        if let call, call.deletion.refuses(report.deleted.count, of: report.stored) {
            throw call.deletion.tooManyDeletionsError(
                report.deleted.count, of: report.stored, "the swept relationships")
        }
        return report
    }

    private func end(
        _ sweeps: ArraySlice<ChildSweep>, children: [Int64: SweptChildren], call: SyncRules?,
        report: inout SweepReport, sparing isSpared: (ManagedObject) -> Bool
    ) throws {
        for sweep in sweeps {
            guard let children = children[sweep.parent.key] else { continue }
            report.stored += children.stored
            let lacking = children.objects.filter { !sweep.kept.contains(LinkEnd($0)) && !isSpared($0) }
            let saved = lacking.count { !$0.isInserted }
            if !lacking.isEmpty, try !sweep.deletes(saved, of: children.stored, call) {
                report.kept += saved
                continue
            }
            for object in lacking {
                if !object.isInserted { report.deleted.append(object.objectID) }
                delete(object)
            }
        }
    }

    /// The current and previous children of one parent.
    private struct SweptChildren {
        /// The number of children that were saved before the batch.
        var stored = 0
        /// The candidates for deletion: current children, and children that this batch removed without assigning another
        /// parent.
        var objects: [ManagedObject] = []
    }

    /// Returns the children by the keys of their parents. All parents have the same entity.
    private func children(
        of sweeps: ArraySlice<ChildSweep>, _ parentEntity: Int, _ column: LinkColumns, _ family: [Int]
    ) throws -> [Int64: SweptChildren] {
        let kept = Dictionary(sweeps.map { ($0.parent.key, $0.kept) }) { first, _ in first }
        let parents = ValueList(kept.keys.sorted().map { .integer($0) }, .natural)
        /// The key of the swept parent to which a link leads; nil if the link leads to another object.
        func parentKey(_ row: RowSnapshot) -> Int64? { row.end(column, [parentEntity])?.key }
        var children: [Int64: SweptChildren] = [:]
        for entity in family {
            let editor = editor(ofEntity: entity)
            var wanted: [(key: Int64, parent: Int64)] = []
            // Read the saved rows, because an edit may have removed children from the relationship.
            var query = RowQuery(
                entity: entity, predicate: column.leads(to: parentEntity, parents),
                budget: QueryBudget(isCancellable: true))
            query.columns = [column.key]
            query.isOrdered = false
            for stored in try editor.savedRows(query) {
                let parent = stored.row.integer(column.key)
                children[parent, default: SweptChildren()].stored += 1
                if kept[parent]?.contains(LinkEnd(entity: entity, key: stored.key)) == false {
                    wanted.append((stored.key, parent))
                }
            }
            let objects = try editor.reading { () throws(DataSourceError) in
                try editor.readObjects(wanted.map(\.key), ofEntity: entity)
            }
            let found = Dictionary(objects.map { ($0.key, $0) }) { first, _ in first }
            for (key, parent) in wanted {
                guard let object = found[key], !object.isDeleted,
                    object.row.isNull(column.key) || parentKey(object.row) == parent
                else { continue }
                children[parent]?.objects.append(object)
            }
            for object in editor.bindings[entity].edited {
                guard let parent = parentKey(object.row), let known = kept[parent], !known.contains(LinkEnd(object)),
                    !object.isDeleted, object.isInserted || parentKey(object.savedRow) != parent
                else { continue }
                children[parent, default: SweptChildren()].objects.append(object)
            }
        }
        return children
    }
}

extension ManagedObjectContext {
    /// Returns the matching rows of one entity, as they were before the batch.
    fileprivate func savedRows(_ query: RowQuery) throws -> [StoredRow] {
        try reading { () throws(DataSourceError) in try source.rows(query, bindings[query.entity].layout).rows }
    }
}

extension EntityBinding {
    /// The objects that were inserted or edited in this batch, including deleted ones.
    fileprivate var edited: some Sequence<ManagedObject> { [inserted, touched].joined() }
}

/// One call of `sweep`, for the children of one parent.
struct ChildSweep {
    let parent: ManagedObject
    /// The index of the relationship among the relationships of the parent's entity.
    let relationship: Int
    /// The children in the list that was passed to `sweep`. They stay.
    let kept: Set<LinkEnd>
    /// Whether the list that was passed to `sweep` had an ignored value.
    let hasIgnored: Bool
    let rules: SyncRules

    /// The name of the relationship in error messages, for example `ThreadEntity/12.messages`.
    private var name: String { "\(parent.objectID).\(parent.layout.relationships[relationship].name)" }

    /// Whether to delete the children that are not in the list of the sweep.
    ///
    /// - Parameters:
    ///   - lacking: The number of saved children that are not in the list.
    ///   - stored: The number of saved children.
    ///   - call: The rules of the sync that contains the sweep; nil outside of a sync.
    /// - Throws: `emptySync`, `tooManyDeletions`.
    func deletes(_ lacking: Int, of stored: Int, _ call: SyncRules?) throws(DataSourceError) -> Bool {
        guard rules.deletes, call?.deletes ?? true else { return false }
        let options = rules.options.union(call?.options ?? [])
        if kept.isEmpty, lacking > 0, !options.contains(.allowsEmpty) {
            throw DataSourceError(
                .emptySync,
                "sweep got an empty list for \(name), which would delete all linked objects (\(lacking)). To delete them, pass options: .allowsEmpty.",
                entityName: parent.layout.name)
        }
        if hasIgnored, !options.contains(.allowsIgnoredValues) { return false }
        if rules.deletion.refuses(lacking, of: stored) {
            throw rules.deletion.tooManyDeletionsError(lacking, of: stored, name)
        }
        return true
    }
}

/// The sweeps of a batch, in the order of their calls. A later sweep of the same relationship of a parent replaces an earlier
/// sweep.
struct ChildSweeps {
    /// One relationship of one entity.
    private(set) var groups: [(group: EntityRelationship, sweeps: [ChildSweep])] = []
    private var indexes: [EntityRelationship: (group: Int, sweeps: [Int64: Int])] = [:]

    var isEmpty: Bool { groups.isEmpty }

    mutating func insert(_ sweep: ChildSweep) {
        let group = EntityRelationship(entity: sweep.parent.layout.index, relationship: sweep.relationship)
        guard let known = indexes[group] else {
            indexes[group] = (groups.count, [sweep.parent.key: 0])
            groups.append((group, [sweep]))
            return
        }
        if let index = known.sweeps[sweep.parent.key] {
            groups[known.group].sweeps[index] = sweep
        } else {
            indexes[group]?.sweeps[sweep.parent.key] = groups[known.group].sweeps.count
            groups[known.group].sweeps.append(sweep)
        }
    }

    /// All objects that any sweep keeps.
    var kept: Set<LinkEnd> {
        groups.reduce(into: []) { kept, group in for sweep in group.sweeps { kept.formUnion(sweep.kept) } }
    }
}

/// The effects of a batch's sweeps.
struct SweepReport {
    /// The number of children that were saved before the batch.
    var stored = 0
    var kept = 0
    var deleted: [ManagedObjectID] = []
}

/// The rule for deleting the objects that are not in the list of a sync.
///
/// ```swift
/// try await contacts.sync(onePage, deleting: .none)
/// try await contacts.sync(serverList, deleting: .atMost(0.5))
/// ```
public struct SyncDeletion: Sendable, Hashable {
    private enum Limit: Hashable {
        case none, share(Double), guarded
    }

    /// Whether the sync deletes objects at all.
    let deletes: Bool
    /// The limit beyond which deletions are an error.
    private let limit: Limit

    /// Deletes all objects that are not in the list.
    public static let all = SyncDeletion(deletes: true, limit: .none)
    /// Deletes no objects. Use this rule for a list that contains only a part of the server's objects.
    public static let none = SyncDeletion(deletes: false, limit: .none)
    /// Deletes all objects that are not in the list, with one exception: a sync without a scope throws `tooManyDeletions` if it
    /// would delete more than 20 objects and more than half of all objects. In this case, the list is usually only one of
    /// several pages. The exception does not apply to an empty list, which needs ``SyncOptions/allowsEmpty``.
    public static let guarded = SyncDeletion(deletes: true, limit: .guarded)
    /// The number of objects that ``guarded`` may always delete, whatever their share is.
    private static let guardedCount = 20

    /// Deletes all objects that are not in the list, if they are at most the given share of the objects in scope. Otherwise the
    /// sync throws `tooManyDeletions`.
    ///
    /// ```swift
    /// try await contacts.sync(serverList, deleting: .atMost(0.5))
    /// ```
    ///
    /// - Parameter share: The greatest share, from 0 to 1: `0.2` for a fifth. NaN allows no deletions.
    public static func atMost(_ share: Double) -> SyncDeletion {
        SyncDeletion(deletes: true, limit: .share(share > 0 ? min(share, 1) : 0))
    }

    /// Whether there are too many deletions.
    ///
    /// - Parameters:
    ///   - missing: The number of objects that would be deleted.
    ///   - count: The number of objects in scope.
    ///   - isScoped: Whether the list covers only a part of the entity, such as the children of one parent.
    func refuses(_ missing: Int, of count: Int, isScoped: Bool = true) -> Bool {
        switch limit {
        case .none: false
        case .share(let share): Double(missing) > share * Double(count)
        case .guarded: !isScoped && missing > Self.guardedCount && missing > count / 2
        }
    }

    /// Returns the error for too many deletions.
    ///
    /// - Parameter scope: The scope or the relationship of the list, for the message.
    func tooManyDeletionsError(_ missing: Int, of count: Int, _ scope: String, entity: String? = nil) -> DataSourceError
    {
        let advice =
            switch limit {
            case .share(let share):
                "which is more than `deleting: .atMost(\(share))` allows. Check the list, or allow a greater share."
            case .none, .guarded:
                "which is more than half. If the list has only a part of the objects, pass a scope or `deleting: .none`. To delete the objects, pass `deleting: .all`."
            }
        return DataSourceError(
            .tooManyDeletions, "The list lacks \(missing) of \(count) objects of \(scope), \(advice)",
            entityName: entity)
    }
}
