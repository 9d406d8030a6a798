internal import RowStore

/// The model's rules for how many objects a relationship leads to.
extension EditingContext {
    /// An owner whose related objects must be counted.
    private struct Owner: Hashable {
        let end: LinkEnd
        let name: String
    }

    /// The errors in the relationships of edited objects, and of objects that they lead to.
    func relationshipFailures() throws -> [DataSourceError] {
        let graph = stack.graph
        if !graph.hasChecks { return [] }
        var failures: [DataSourceError] = []
        var owners: Set<Owner> = []
        for object in changed where graph.isChecked[object.layout.index] && object.hasChanges {
            if !object.isDeleted {
                failures += requiredFailures(object)
                if object.isInserted {
                    for index in graph.counted[object.layout.index] {
                        let end = LinkEnd(entity: object.layout.index, key: object.key)
                        owners.insert(Owner(end: end, name: object.layout.relationships[index].name))
                    }
                }
            }
            for counted in graph.countedColumns[object.layout.index] {
                let rows =
                    object.isDeleted
                    ? [object.savedRow] : object.isInserted ? [object.row] : [object.savedRow, object.row]
                for row in rows {
                    row.end(counted.column, counted.owners).map {
                        _ = owners.insert(Owner(end: $0, name: counted.name))
                    }
                }
            }
        }
        let sorted = owners.sorted { ($0.end.key, $0.name) < ($1.end.key, $1.name) }
        for start in stride(from: 0, to: sorted.count, by: FetchGroup.window) where failures.count < 100 {
            let part = sorted[start..<min(start + FetchGroup.window, sorted.count)]
            try readEnds(of: part)
            for owner in part where failures.count < 100 {
                if let failure = try countFailure(owner) { failures.append(failure) }
            }
        }
        return failures
    }

    /// Reads the relationships that are about to be counted, for all owners at once.
    private func readEnds(of owners: ArraySlice<Owner>) throws {
        try reading { () throws(DataSourceError) in
            try readObjects(owners.map(\.end))
            let groups = Dictionary(grouping: owners) {
                Owner(end: LinkEnd(entity: $0.end.entity, key: 0), name: $0.name)
            }
            for (group, owners) in groups.sorted(by: {
                ($0.key.end.entity, $0.key.name) < ($1.key.end.entity, $1.key.name)
            }) {
                let context = editor(ofEntity: group.end.entity)
                guard let index = context.bindings[group.end.entity].layout.relationship(named: group.name) else {
                    continue
                }
                try context.readEnds(of: owners.compactMap { known($0.end) ?? nil }, at: index) { _ in }
            }
        }
    }

    /// The errors in the relationships of one object.
    func relationshipFailures(of object: ManagedObject) throws -> [DataSourceError] {
        let graph = stack.graph
        guard graph.isChecked[object.layout.index], object.hasChanges, !object.isDeleted else { return [] }
        let end = LinkEnd(entity: object.layout.index, key: object.key)
        return try requiredFailures(object)
            + graph.counted[object.layout.index].compactMap {
                try countFailure(Owner(end: end, name: object.layout.relationships[$0].name))
            }
    }

    /// To-one relationships whose links are stored in the row itself. A relationship that an earlier release left empty may
    /// stay empty.
    private func requiredFailures(_ object: ManagedObject) -> [DataSourceError] {
        object.layout.relationships.compactMap { relationship in
            guard !relationship.description.isOptional, case .column(let column) = relationship.storage,
                object.row.isNull(column.key), object.saved?.isNull(column.key) != true
            else { return nil }
            return failure(
                object.layout.name, relationship, "is required but leads to no object. Set it before the save.")
        }
    }

    private func countFailure(_ owner: Owner) throws -> DataSourceError? {
        let context = editor(ofEntity: owner.end.entity)
        let object =
            try known(owner.end)
            ?? context.reading { () throws(DataSourceError) in
                try context.find(entity: owner.end.entity, key: owner.end.key)
            }
        guard let object, !object.isDeleted, let index = object.layout.relationship(named: owner.name) else {
            return nil
        }
        let relationship = object.layout.relationships[index]
        let description = relationship.description
        let count = try context.ends(of: object, at: index).count
        if count == 0 {
            if description.isOptional { return nil }
            return failure(
                object.layout.name, relationship, "is required but leads to no object. Link an object before the save.")
        }
        guard relationship.isToMany else { return nil }
        if count < description.minimumCount {
            return failure(
                object.layout.name, relationship,
                "leads to \(count) objects, but the model requires at least \(description.minimumCount).")
        }
        if description.maximumCount > 0, count > description.maximumCount {
            return failure(
                object.layout.name, relationship,
                "leads to \(count) objects, but the model allows at most \(description.maximumCount).")
        }
        return nil
    }

    private func failure(
        _ entity: String, _ relationship: RelationshipLayout, _ complaint: String
    ) -> DataSourceError {
        DataSourceError(
            .validationFailed, "\(entity).\(relationship.name) \(complaint)", entityName: entity,
            attributeName: relationship.name)
    }
}
