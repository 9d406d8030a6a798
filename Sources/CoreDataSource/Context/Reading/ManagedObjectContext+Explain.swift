internal import RowStore

/// Counts how often relationships and deferred values are read for one object at a time.
extension ManagedObjectContext {
    /// Called before a relationship is read for an object that was fetched alone.
    func recordReadingOne(_ key: RelatedCache.Key) { readOneByOne[key, default: 0] += 1 }

    /// Called before an object is read again for a deferred value.
    func recordDeferredRead(_ column: Int, of object: ManagedObject) {
        deferredReads[DeferredColumn(entity: object.layout.index, column: column), default: 0] += 1
    }

    /// Adds the attributes whose deferred values were read for one object at a time.
    func explainDeferredReads(_ layout: EntityLayout, _ explanation: inout FetchExplanation) {
        for column in layout.deferredColumns {
            let count = deferredReads[DeferredColumn(entity: layout.index, column: column)] ?? 0
            // A single read is not reported.
            guard count > 1 else { continue }
            let name = layout.columns[column].name
            explanation.readOneByOne[name, default: 0] += count
            explanation.warnings.append(
                "Large values of \(layout.name).\(name) have been read for one object at a time, \(count) times so far. Read the values of many objects at once with values(_:_:)."
            )
        }
    }

    /// Returns the number of reads of each relationship that was read for one object at a time, by the name of the
    /// relationship. Relationships that were read only once are left out.
    func relationshipsReadOneByOne(_ family: some Sequence<Int>) -> [String: Int] {
        if readOneByOne.isEmpty { return [:] }
        var counts: [String: Int] = [:]
        for entity in family {
            for (index, relationship) in bindings[entity].layout.relationships.enumerated() {
                let count = readOneByOne[RelatedCache.Key(entity: entity, relationship: index)] ?? 0
                if count > 1 { counts[relationship.name, default: 0] += count }
            }
        }
        return counts
    }

    /// Adds the relationships that a request prefetches, and the relationships that were read for one object at a time.
    func explainRelationships<Object: ManagedObject>(
        _ request: ObjectRequest<Object>, _ family: [Int], _ explanation: inout FetchExplanation
    ) {
        explanation.prefetched = request.prefetched
        for entity in family {
            let layout = bindings[entity].layout
            for (index, relationship) in layout.relationships.enumerated() {
                let count = readOneByOne[RelatedCache.Key(entity: entity, relationship: index)] ?? 0
                // A single read is not reported.
                guard count > 1, !explanation.prefetched.contains(relationship.name) else { continue }
                explanation.readOneByOne[relationship.name, default: 0] += count
                explanation.warnings.append(
                    "\(layout.name).\(relationship.name) has been read for one object at a time, \(count) times so far. Fetch the objects together, so that one query reads the relationship for all of them."
                )
            }
        }
    }
}

/// An attribute with deferred values.
struct DeferredColumn: Hashable {
    let entity: Int
    let column: Int
}

extension ObjectRequest {
    /// The names of the prefetched relationships.
    var prefetched: [String] { prefetch.compactMap { Object.relationshipKeyPaths[$0] } }
}

extension ManagedObjectContext {
    /// Explains how the store would find the objects of a request, with warnings about slow parts.
    ///
    /// ```swift
    /// let explanation = try container.main.explain(
    ///     ObjectRequest(ContactEntity.self, where: \.phone == "110"))
    /// for warning in explanation.warnings { print(warning) }
    /// ```
    ///
    /// The request itself does not run. A store on a server is asked for up to three plans for each entity: the plan that it would
    /// use, and two that show whether an index could find the rows and their order. So the warnings do not depend on the number
    /// of rows.
    ///
    /// - Throws: The errors of ``fetch(_:)``.
    public func explain<Object: ManagedObject>(_ request: ObjectRequest<Object>) throws -> FetchExplanation {
        try reading(request) { () throws(DataSourceError) in try explanation(request) }
    }

    private func explanation<Object: ManagedObject>(
        _ request: ObjectRequest<Object>
    ) throws(DataSourceError) -> FetchExplanation {
        var plan = try plan(request)
        plan.query.defersValues = defersValues && plan.objectPredicate == nil
        let layout = bindings[plan.query.entity].layout
        var explanation = FetchExplanation(sql: [], steps: [], warnings: [])
        for entity in plan.family {
            let query = plan.query.of(entity: entity)
            let found = try stack.root.store.read(.statement) { reader throws(DataSourceError) in
                try reader.explain(query)
            }
            if !found.statement.isEmpty { explanation.sql.append(found.statement) }
            explanation.steps += found.steps
            explanation.warnings += warnings(found.findings, plan.query, bindings[entity].layout)
            explainDeferredReads(bindings[entity].layout, &explanation)
        }
        if editing == .inBatch, stack.root.isRemote, let wanted = plan.query.predicate.wantedValues(layout),
            wanted.values.count == 1
        {
            explanation.warnings.append(DataSourceDiagnostic(oneByOne: wanted.column, layout, isRemote: true).message)
        }
        explainRelationships(request, plan.family, &explanation)
        if let reason = request.predicate?.needsObjects {
            explanation.warnings.append(
                "A part of the predicate is evaluated on every object that the rest of the predicate finds (\(reason)). The limit and the offset are applied afterwards."
            )
        }
        return explanation
    }

    private func warnings(_ findings: QueryFindings, _ query: RowQuery, _ layout: EntityLayout) -> [String] {
        var warnings: [String] = []
        let entity = layout.name
        if findings.readsEveryRow && query.predicate != .constant(true) {
            warnings.append(scanWarning(findings, query, layout))
        }
        if !query.sort.isEmpty && findings.sort != .none {
            warnings.append(
                "All matching rows of \(entity) are sorted before the first row is returned. "
                    + sortAdvice(findings, query, layout))
        }
        if let names = findings.namesOutside {
            let list = names.isEmpty ? "" : " (\(names.joined(separator: ", ")))"
            warnings.append(
                "A part of the predicate is evaluated outside of the database, on every row of \(entity) that the rest of the predicate finds\(list). The limit and the offset are applied afterwards."
            )
        }
        return warnings
    }

    private func scanWarning(_ findings: QueryFindings, _ query: RowQuery, _ layout: EntityLayout) -> String {
        let unindexed = query.predicate.wantedValues(layout).flatMap {
            layout.indexedColumns.contains($0.column) ? nil : DataSourceDiagnostic(unindexed: $0.column, layout)
        }
        if let unindexed { return unindexed.message }
        let warning =
            "Every row of \(layout.name) is read. Compare an indexed attribute with ==, <, > or IN, or add a fetch index to the model."
        guard findings.hasHashedStrings else { return warning }
        var columns: Set<Int> = []
        _ = query.predicate.collectColumns(&columns)
        let hasString = columns.contains {
            layout.indexedColumns.contains($0) && layout.order(of: $0).storage == .text
        }
        return hasString ? warning + " On this server, the index of a string finds only equal strings." : warning
    }

    /// What makes the sort of a query unnecessary.
    private func sortAdvice(_ findings: QueryFindings, _ query: RowQuery, _ layout: EntityLayout) -> String {
        // Related and calculated values are not stored in the rows that are sorted.
        if query.sort.contains(where: { JoinedColumn.isJoined($0.column) }) {
            return
                "No index can prevent this, because the order has values of related objects. Order by a stored attribute, or narrow the predicate."
        }
        if findings.sort == .never {
            return
                "No index can prevent this, because a server has no ordered index of strings, decimals and data. Order by an attribute of another type, or narrow the predicate."
        }
        var columns = query.sort.map(\.column)
        if let wanted = query.predicate.wantedValues(layout), wanted.values.count == 1, !columns.contains(wanted.column)
        {
            columns.insert(wanted.column, at: 0)
        }
        let names = columns.map { layout.columns[$0].name }
        if columns.count > 1 {
            return "Add a fetch index with these elements, in this order: \(names.joined(separator: ", "))."
        }
        return layout.indexedColumns.contains(columns[0])
            ? "The index on \(names[0]) is not used, because the predicate finds the rows in another way. If many rows match, narrow the predicate."
            : "Add a fetch index on \(names[0])."
    }
}
