internal import RowStore

/// The model's rules for the number of objects that a relationship leads to.
extension EditingContext {
    /// One relationship of one object, whose destinations must be counted.
    private struct Owner: Hashable {
        let end: LinkEnd
        let name: String
    }

    /// The kinds of changes to the links of an owner in the batch.
    private struct Changes: OptionSet {
        let rawValue: Int
        static let gained = Changes(rawValue: 1)
        static let lost = Changes(rawValue: 2)
    }

    /// The largest number of owners that are queried one by one.
    private static let maxOwnersQueriedOneByOne = 16
    /// The average number of links per owner that one query for many owners reads.
    private static let fewLinks = 4

    /// Checks the relationships of edited objects, and of objects whose links have changed. Returns the errors.
    func relationshipFailures() throws -> [DataSourceError] {
        let graph = stack.graph
        if !graph.hasChecks { return [] }
        var failures: [DataSourceError] = []
        var owners: [Owner: Changes] = [:]
        for object in changed where graph.isChecked[object.layout.index] && object.hasChanges {
            if !object.isDeleted {
                failures += requiredFailures(object)
                if object.isInserted {
                    for index in graph.counted[object.layout.index] {
                        let end = LinkEnd(entity: object.layout.index, key: object.key)
                        owners[Owner(end: end, name: object.layout.relationships[index].name)] = [.gained, .lost]
                    }
                }
            }
            for counted in graph.countedColumns[object.layout.index] {
                let before = object.isInserted ? nil : object.savedRow.end(counted.column, counted.owners)
                let now = object.isDeleted ? nil : object.row.end(counted.column, counted.owners)
                // A change of a position or of an attribute does not change the count.
                if before == now { continue }
                if let before { owners[Owner(end: before, name: counted.name), default: []].insert(.lost) }
                if let now { owners[Owner(end: now, name: counted.name), default: []].insert(.gained) }
            }
        }
        let sorted = try ownersToCount(owners).sorted { ($0.end.key, $0.name) < ($1.end.key, $1.name) }
        for part in sorted.chunks(ofSize: FetchGroup.window) where failures.count < 100 {
            try readEnds(of: part)
            for owner in part where failures.count < 100 {
                if let failure = try countFailure(owner) { failures.append(failure) }
            }
        }
        return failures
    }

    /// Returns the owners whose related objects must all be read, because these objects may be too many or too few.
    ///
    /// If an owner may have too few objects, but not too many, a query first checks whether the owner still has the minimum
    /// number of links. If so, the objects of the owner are not read.
    private func ownersToCount(_ owners: [Owner: Changes]) throws -> [Owner] {
        var counted: [Owner] = []
        var lacking: [Owner] = []
        for (owner, changes) in owners {
            let layout = stack.layout.entities[owner.end.entity]
            guard let index = layout.relationship(named: owner.name) else { continue }
            let relationship = layout.relationships[index]
            let description = relationship.description
            let mayHaveTooMany = relationship.isToMany && description.maximumCount > 0 && changes.contains(.gained)
            let mayLeadToGoneObjects =
                if case .pairs = relationship.storage {
                    relationship.destinationFamily.contains(where: mayHaveGoneObjects)
                } else { false }
            if mayHaveTooMany || mayLeadToGoneObjects {
                counted.append(owner)
            } else if changes.contains(.lost) || description.minimumCount > 1 {
                // An owner that has only gained objects can also be below the minimum. The minimum does not apply to an
                // empty optional relationship, so the owner may have had no objects before.
                lacking.append(owner)
            }
        }
        return try counted + ownersBelowMinimum(lacking)
    }

    /// Returns the owners with fewer related objects than the minimum.
    ///
    /// If there are only a few owners, they are queried one by one. For many owners, one query reads a few links per
    /// owner on average. Then only the owners with too few links in the result are queried one by one. So the cost does
    /// not depend on the number of objects of an owner.
    private func ownersBelowMinimum(_ owners: [Owner]) throws -> [Owner] {
        if owners.count <= Self.maxOwnersQueriedOneByOne { return try owners.filter { try !meetsMinimum($0) } }
        let groups = Dictionary(grouping: owners) { Owner(end: LinkEnd(entity: $0.end.entity, key: 0), name: $0.name) }
        var lacking: [Owner] = []
        for (group, owners) in groups {
            guard let relationship = relationship(of: group) else { continue }
            for part in owners.chunks(ofSize: FetchGroup.window) {
                let (found, areAll) = try firstLinks(of: part, relationship)
                let requiredCount = requiredCount(relationship)
                for owner in part where found[owner.end.key, default: 0] < requiredCount {
                    if areAll { lacking.append(owner) } else if try !meetsMinimum(owner) { lacking.append(owner) }
                }
            }
        }
        return lacking
    }

    /// Reads a limited number of links of some owners.
    ///
    /// - Returns: The number of links found for each owner, and whether all links were read.
    private func firstLinks(
        of owners: ArraySlice<Owner>, _ relationship: RelationshipLayout
    ) throws -> (found: [Int64: Int], areAll: Bool) {
        // The owners have the same entity.
        guard let entity = owners.first?.end.entity else { return ([:], true) }
        let keys = ValueList(owners.map { .integer($0.end.key) }, .natural)
        let limit = owners.count * Self.fewLinks
        var (found, areAll): ([Int64: Int], Bool) = ([:], true)
        for source in relationship.linkSources {
            var query = RowQuery(
                entity: source.layout, predicate: source.ownerColumns.leads(to: entity, keys), limit: limit)
            query.isOrdered = false
            let context = editor(ofEntity: source.layout)
            let rows = try context.reading { () throws(DataSourceError) in
                try context.rows(FetchPlan(query), columns: [source.owner])
            }
            for row in rows { found[row.row.integer(source.owner), default: 0] += 1 }
            if rows.count == limit { areAll = false }
        }
        return (found, areAll)
    }

    private func relationship(of owner: Owner) -> RelationshipLayout? {
        let layout = stack.layout.entities[owner.end.entity]
        return layout.relationship(named: owner.name).map { layout.relationships[$0] }
    }

    /// The minimum number of objects of a relationship.
    private func requiredCount(_ relationship: RelationshipLayout) -> Int {
        let least = relationship.description.isOptional ? 0 : 1
        return relationship.isToMany ? max(least, relationship.description.minimumCount) : least
    }

    /// Whether a relationship has at least the minimum number of links.
    private func meetsMinimum(_ owner: Owner) throws -> Bool {
        guard let relationship = relationship(of: owner) else { return true }
        var requiredCount = requiredCount(relationship)
        let key = ValueList([.integer(owner.end.key)], .natural)
        for source in relationship.linkSources where requiredCount > 0 {
            var query = RowQuery(
                entity: source.layout, predicate: source.ownerColumns.leads(to: owner.end.entity, key),
                limit: requiredCount)
            query.isOrdered = false
            let context = editor(ofEntity: source.layout)
            requiredCount -= try context.reading { () throws(DataSourceError) in
                try context.rows(FetchPlan(query), columns: [source.owner]).count
            }
        }
        return requiredCount <= 0
    }

    /// Reads the links that must be counted, for all owners at once.
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
                try context.readEnds(of: owners.compactMap { registeredObject($0.end) }, at: index) { _ in }
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

    /// The errors of required to-one relationships whose links are stored in the row itself.
    private func requiredFailures(_ object: ManagedObject) -> [DataSourceError] {
        object.layout.relationships.compactMap { relationship in
            guard !relationship.description.isOptional, case .column(let column) = relationship.storage,
                object.row.isNull(column.key)
            else { return nil }
            return failure(
                object.layout.name, relationship,
                "is required but leads to no object. Set the relationship before the save.")
        }
    }

    private func countFailure(_ owner: Owner) throws -> DataSourceError? {
        let context = editor(ofEntity: owner.end.entity)
        let object =
            try cachedObject(owner.end)
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
                "leads to fewer objects than the model requires: \(count) instead of at least \(description.minimumCount)."
            )
        }
        if description.maximumCount > 0, count > description.maximumCount {
            return failure(
                object.layout.name, relationship,
                "leads to more objects than the model allows: \(count) instead of at most \(description.maximumCount).")
        }
        return nil
    }

    private func failure(
        _ entity: String, _ relationship: RelationshipLayout, _ problem: String
    ) -> DataSourceError {
        DataSourceError(
            .validationFailed, "\(entity).\(relationship.name) \(problem)", entityName: entity,
            attributeName: relationship.name)
    }
}
