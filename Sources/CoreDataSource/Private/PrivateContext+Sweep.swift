internal import RowStore

/// Children that come with their parent: those that the parent's list lacks are deleted.
extension PrivateContext {
    /// Deletes the children of one parent that a list lacks.
    ///
    /// ```swift
    /// nonisolated override func onAdd(_ group: GroupWithMembers, in context: PrivateContext) throws -> ManagedObject? {
    ///     let entity = try context.findOrInsert(GroupEntity.self, where: \.gid, equals: group.gid)
    ///     let members = try group.members.map { try member($0, of: entity, in: context) }
    ///     try context.sweep(\.members, of: entity, keeping: members)
    ///     return entity
    /// }
    /// ```
    ///
    /// The sweep is done once all values of the batch were added and linked, so a child that a later value moves to another
    /// parent stays. Objects that another sweep of the batch keeps stay too, and so do objects that a hook returned for a
    /// value. Deletions follow the delete rules. A second sweep of the same relationship of the same parent replaces the first.
    /// Nothing is linked, and children that stay are not written.
    ///
    /// In a `sync`, the rules of the sync apply to the children too: if it may not delete, nothing is swept; its options are
    /// added to these; and its `.atMost` counts all swept children together.
    ///
    /// - Parameters:
    ///   - relationship: A to-many relationship, ordered or not, whose inverse is to-one, to objects that this data source owns.
    ///   - parent: An object of this context, new or not, and of any data source.
    ///   - kept: The objects of the list. Nil stands for an ignored value; nothing is deleted then, unless
    ///     ``SyncOptions/allowsIgnoredValues`` is given.
    ///   - deleting: Whether children that the list lacks are deleted, and at most what share of this parent's children.
    ///   - options: ``SyncOptions/allowsEmpty`` for a list that may be empty.
    /// - Throws: `unknownAttribute`, `entityNotOwned`, `invalidRequest`. At the end of the batch: `emptySync` for an empty list
    ///   if children are stored, and `syncDeletesTooMuch`.
    public func sweep<Parent: ManagedObject, Children: Sequence>(
        _ relationship: KeyPath<Parent, Children>, of parent: Parent, keeping kept: [Children.Element?],
        deleting: SyncDeletion = .all, options: SyncOptions = []
    ) throws where Children.Element: ManagedObject {
        let rules = SyncRules(deletion: deleting, operations: .all, options: options)
        try note(relationship, parent, kept, rules)
    }

    private func note<Parent: ManagedObject>(
        _ keyPath: PartialKeyPath<Parent>, _ parent: Parent, _ kept: [ManagedObject?], _ rules: SyncRules
    ) throws {
        if let other = named.first(where: { $0 === parent.context }) {
            return try other.note(keyPath, parent, kept, rules)
        }
        checkInBatch()
        let index = try relationship(keyPath, of: parent)
        for entity in parent.layout.relationships[index].destinationFamily {
            try editor(ofEntity: entity).checkOwned(entity)
        }
        sweeps.insert(
            ChildSweep(
                parent: parent, relationship: index, kept: Set(kept.lazy.compactMap { $0?.key }),
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
                "\(entity).\(name) was swept, but its objects can belong to several parents. Set the relationship to the list instead, which removes all other objects from it.",
                entityName: entity, attributeName: name)
        }
        return index
    }

    // MARK: The end of a batch

    /// Deletes the children that the lists of the batch's sweeps lack.
    ///
    /// - Parameters:
    ///   - met: The objects that the hooks returned for the values of the batch.
    ///   - call: The rules of the sync, if it is one.
    ///   - kept: The keys of the children that sweeps of other data sources keep.
    @discardableResult
    func endSweeps(
        _ met: @autoclosure () -> [ManagedObject?] = [], _ call: SyncRules? = nil, sparing kept: Set<Int64> = []
    ) throws -> SweepReport {
        var report = SweepReport()
        if sweeps.isEmpty { return report }
        var spared = sweeps.kept.union(kept)
        for object in met() { if let object { spared.insert(object.key) } }
        let groups = sweeps.groups
        sweeps = ChildSweeps()
        for (group, sweeps) in groups {
            let relationship = stack.layout.entities[group.entity].relationships[group.relationship]
            guard case .inverseColumn(let column) = relationship.storage else { continue }
            let parents = sweeps.filter { !$0.parent.isDeleted }
            for start in stride(from: 0, to: parents.count, by: FetchGroup.window) {
                try checkCancellation(0)
                let part = parents[start..<min(start + FetchGroup.window, parents.count)]
                try end(part, try children(of: part, column, relationship.destinationFamily), spared, call, &report)
            }
        }
        if let call, call.deletion.refuses(report.deleted.count, of: report.stored) {
            throw call.deletion.tooMuch(report.deleted.count, of: report.stored, "the swept relationships")
        }
        return report
    }

    private func end(
        _ sweeps: ArraySlice<ChildSweep>, _ children: [Int64: SweptChildren], _ spared: Set<Int64>,
        _ call: SyncRules?, _ report: inout SweepReport
    ) throws {
        for sweep in sweeps {
            guard let children = children[sweep.parent.key] else { continue }
            report.stored += children.stored
            let lacking = children.objects.filter { !sweep.kept.contains($0.key) && !spared.contains($0.key) }
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

    /// The present and previous children of one parent.
    private struct SweptChildren {
        /// How many were saved before.
        var stored = 0
        /// Children that may have to be deleted: present ones, and those that this batch removed and gave no other parent.
        var objects: [ManagedObject] = []
    }

    /// The children by the keys of their parents.
    private func children(
        of sweeps: ArraySlice<ChildSweep>, _ column: LinkColumn, _ family: [Int]
    ) throws -> [Int64: SweptChildren] {
        let kept = Dictionary(sweeps.map { ($0.parent.key, $0.kept) }) { first, _ in first }
        let parents = ValueList(kept.keys.sorted().map { .integer($0) }, .natural)
        var children: [Int64: SweptChildren] = [:]
        for entity in family {
            let editor = editor(ofEntity: entity)
            var wanted: [(key: Int64, parent: Int64)] = []
            // The rows as they were saved, because an edit may have removed some from the relationship.
            var query = RowQuery(
                entity: entity, predicate: .isMember(.column(column.key), parents),
                budget: QueryBudget(isCancellable: true))
            query.columns = [column.key]
            query.isOrdered = false
            for stored in try editor.savedRows(query) {
                let parent = stored.row.integer(column.key)
                children[parent, default: SweptChildren()].stored += 1
                if kept[parent]?.contains(stored.key) == false { wanted.append((stored.key, parent)) }
            }
            let objects = try editor.reading { () throws(DataSourceError) in
                try editor.readObjects(wanted.map(\.key), ofEntity: entity)
            }
            let found = Dictionary(objects.map { ($0.key, $0) }) { first, _ in first }
            for (key, parent) in wanted {
                guard let object = found[key], !object.isDeleted,
                    object.row.isNull(column.key) || object.row.integer(column.key) == parent
                else { continue }
                children[parent]?.objects.append(object)
            }
            for object in editor.bindings[entity].edited where !object.row.isNull(column.key) {
                let parent = object.row.integer(column.key)
                guard let known = kept[parent], !known.contains(object.key), !object.isDeleted,
                    object.isInserted || object.savedRow.isNull(column.key)
                        || object.savedRow.integer(column.key) != parent
                else { continue }
                children[parent, default: SweptChildren()].objects.append(object)
            }
        }
        return children
    }
}

extension ManagedObjectContext {
    /// The rows of one entity that match as they were before the batch.
    fileprivate func savedRows(_ query: RowQuery) throws -> [StoredRow] {
        try reading { () throws(DataSourceError) in try source.rows(query, bindings[query.entity].layout).rows }
    }
}

extension EntityBinding {
    /// The objects that were inserted or edited in this batch, including deleted ones.
    fileprivate var edited: some Sequence<ManagedObject> { [inserted, touched].joined() }
}
