internal import ManagedModel
internal import RowStore

/// Counts how often relationships and deferred values are read for one object at a time.
extension ManagedObjectContext {
    /// Called before a relationship is read for an object that was fetched alone.
    func recordReadingOne(_ key: EntityRelationship) { readOneByOne[key, default: 0] += 1 }

    /// Called before a query reads a relationship for a single object, even if the object was fetched together with other objects
    /// whose links are already known. If a batch makes many such queries, a diagnostic is recorded.
    func diagnoseReadingOne(_ key: EntityRelationship, of object: ManagedObject) {
        // The links of a new object need no query. Objects with very many destinations must be read one at a time.
        if object.hasOnlyUnsavedLinks || (object.group?.endWindow ?? .max) <= 1 { return }
        let isRemote = stack.root.isRemote
        if lookupCache?.countRead(key) == ManagedObjectContext.lookupsBeforeDiagnostic(isRemote) {
            let relationship = object.layout.relationships[key.relationship].name
            record(DataSourceDiagnostic(reading: relationship, object.layout, isRemote: isRemote), key.entity)
        }
    }

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
                let count = readOneByOne[EntityRelationship(entity: entity, relationship: index)] ?? 0
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
                let count = readOneByOne[EntityRelationship(entity: entity, relationship: index)] ?? 0
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
    /// The request itself does not run. A store on a server is asked for a few plans for each entity: the plan that it would
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
                try reader.explanation(of: query, bindings[entity].layout)
            }
            if !found.statement.isEmpty { explanation.sql.append(found.statement) }
            explanation.steps += found.steps
            // Entities of a family can have the same tables of related rows, so leave out warnings that are already in the list.
            for warning in warnings(found.findings, plan.query, bindings[entity].layout)
            where !explanation.warnings.contains(warning) { explanation.warnings.append(warning) }
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
        if query.predicate != .constant(true) { warnings = scanWarnings(findings, query, layout) }
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

    /// The warnings about tables that are read as a whole.
    private func scanWarnings(_ findings: QueryFindings, _ query: RowQuery, _ layout: EntityLayout) -> [String] {
        let related = findings.related.map { RelatedScan($0, findings.related, layout, bindings) }
        var warnings: [String] = []
        if findings.readsEveryRow {
            // If only related rows are compared, an index of the fetched entity cannot help.
            let inner = query.predicate.storedColumns.isEmpty ? related.first(where: \.lacksIndex) : nil
            warnings.append(
                inner?.warning(of: layout.name, findings)
                    ?? scanWarning(findings, query.predicate, layout))
        }
        for scan in related where scan.isScanned {
            let inner = scan.lacksIndex ? scan : related.first { $0.isInside(scan) && $0.lacksIndex }
            warnings.append((inner ?? scan).warning(of: scan.layout.name, findings))
        }
        return warnings
    }

    private func scanWarning(
        _ findings: QueryFindings, _ predicate: RowPredicate, _ layout: EntityLayout
    ) -> String {
        let unindexed = predicate.wantedValues(layout).flatMap {
            layout.indexedColumns.contains($0.column) ? nil : DataSourceDiagnostic(unindexed: $0.column, layout)
        }
        if let unindexed { return unindexed.message }
        return
            "Every row of \(layout.name) is read. Compare an indexed attribute with ==, <, > or IN, or add a fetch index to the model."
            + findings.hashedStringAdvice(predicate, layout)
    }

    /// Advice on how to avoid the sort of a query, or the reason why no index can avoid it.
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
        if findings.sort == .byKey {
            let way = findings.related.isEmpty ? "by their ids" : "through related objects"
            return
                "No index can prevent this, because the predicate finds the rows \(way). If many rows match, narrow the predicate."
        }
        return IndexAdvice(query, layout).text
    }
}

extension StoreReader {
    /// Explains a query. Its findings about the sort do not depend on columns that have the same value in all matching rows.
    fileprivate func explanation(of query: RowQuery, _ layout: EntityLayout) throws(DataSourceError) -> QueryExplanation
    {
        var explanation = try explain(query)
        var rest = query
        rest.sort = query.sort(without: query.predicate.fixedColumns(layout))
        // If a sort column has the same value in all rows, a store can report that it sorts only parts of the rows, although
        // there is only one part. So use the findings for a sort by the other columns.
        if rest.sort.count < query.sort.count { explanation.findings.sort = try explain(rest).findings.sort }
        return explanation
    }
}

extension RowQuery {
    /// - Returns: The sort by all other columns; the whole sort if there are no other columns.
    fileprivate func sort(without columns: Set<Int>) -> [SortKey] {
        let rest = sort.filter { !columns.contains($0.column) }
        return rest.isEmpty ? sort : rest
    }
}

extension RowPredicate {
    /// The columns that have the same value in all matching rows.
    fileprivate func fixedColumns(_ layout: EntityLayout) -> Set<Int> {
        if case .and(let parts) = self {
            return parts.reduce(into: []) { $0.formUnion($1.fixedColumns(layout)) }
        }
        guard let wanted = wantedValues(layout), wanted.values.count == 1 else { return [] }
        return [wanted.column]
    }
}

/// An index that has the rows of a query in their order.
private struct IndexAdvice {
    private let layout: EntityLayout
    /// The first element of the index, by which the rows are found; nil for none. Its direction does not matter.
    private let fixed: Int?
    /// The columns that have one value in all matching rows.
    private let fixedColumns: Set<Int>
    private let order: [SortKey]

    init(_ query: RowQuery, _ layout: EntityLayout) {
        self.layout = layout
        let wanted = query.predicate.wantedValues(layout).flatMap { $0.values.count == 1 ? $0.column : nil }
        fixedColumns = query.predicate.fixedColumns(layout)
        order = query.sort(without: fixedColumns)
        fixed = order.contains { $0.column == wanted } ? nil : wanted
    }

    var text: String {
        if let existing {
            return
                "The index on \(existing.map(name).joined(separator: ", ")) is not used, because the predicate finds the rows in another way. If many rows match, narrow the predicate."
        }
        if fixed == nil, order.count == 1 { return "Add a fetch index on \(name(order[0].column))." }
        // A database can read an index backwards. So directions matter only if they differ.
        let isMixed = order.contains { $0.isAscending != order[0].isAscending }
        let elements =
            [fixed].compactMap(\.self).map(name) + order.map { name($0.column) + (isMixed ? $0.direction : "") }
        return "Add a fetch index with these elements, in this order: \(elements.joined(separator: ", "))."
    }

    private func name(_ column: Int) -> String { layout.columns[column].name }

    /// The first columns of an index of the model that has the rows in their order; nil if there is none.
    private var existing: [Int]? {
        if fixed == nil, order.count == 1 {
            return layout.indexedColumns.contains(order[0].column) ? [order[0].column] : nil
        }
        let unique = layout.constraints.map { $0.map { IndexedColumn(column: $0) } }
        return (layout.indexes + unique).lazy.compactMap(neededColumns).first
    }

    /// The first columns of an index, up to the last column of the order; nil if the index does not have the rows in their order.
    private func neededColumns(_ index: [IndexedColumn]) -> [Int]? {
        let rest = index.drop { fixedColumns.contains($0.column) }
        if fixed != nil, rest.count == index.count { return nil }
        guard rest.count >= order.count, zip(order, rest).allSatisfy({ $0.column == $1.column }),
            Set(zip(order, rest).map { $0.isAscending == $1.isAscending }).count == 1
        else { return nil }
        return index.prefix(index.count - rest.count + order.count).map(\.column)
    }
}

extension SortKey {
    fileprivate var direction: String { isAscending ? " ascending" : " descending" }
}

/// A table of related rows that an explanation names.
private struct RelatedScan {
    let layout: EntityLayout
    let predicate: RowPredicate
    let isScanned: Bool
    /// The names of the relationships from the fetched entity to the related rows.
    let path: [String]

    /// - Parameters:
    ///   - tables: All tables of related rows in the statement.
    ///   - root: The fetched entity.
    init(_ table: RelatedTable, _ tables: [RelatedTable], _ root: EntityLayout, _ bindings: [EntityBinding]) {
        layout = bindings[table.entity].layout
        predicate = table.rows.predicate
        isScanned = table.isScanned
        var path: [String] = []
        var next: RelatedTable? = table
        while let inner = next {
            next = tables.first { $0.alias == inner.outer }
            let owner = next.map { bindings[$0.entity].layout } ?? root
            let relationship = owner.relationships.first {
                RelatedRows($0).map { $0.link == inner.rows.link && $0.destination == inner.rows.destination } ?? false
            }
            if let relationship { path.insert(relationship.name, at: 0) }
        }
        self.path = path
    }

    /// The attribute of the related rows that is looked up by its value but has no index.
    private var unindexed: Int? {
        predicate.wantedValues(layout).flatMap { layout.indexedColumns.contains($0.column) ? nil : $0.column }
    }

    /// Whether an index of the related entity is missing.
    var lacksIndex: Bool {
        let columns = predicate.storedColumns
        return unindexed != nil || !columns.isEmpty && !columns.contains(where: layout.indexedColumns.contains)
    }

    func isInside(_ outer: RelatedScan) -> Bool { path.count > outer.path.count && path.starts(with: outer.path) }

    /// - Parameter scanned: The name of the entity whose rows are read.
    func warning(of scanned: String, _ findings: QueryFindings) -> String {
        let columns = predicate.storedColumns.sorted().map { layout.columns[$0].name }
        let paths = (columns.isEmpty ? [path] : columns.map { path + [$0] }).filter { !$0.isEmpty }
        let list = paths.map { $0.joined(separator: ".") }.joined(separator: ", ")
        let start = "Every row of \(scanned) is read\(list.isEmpty ? "" : " for " + list)."
        if let unindexed { return start + " Add a fetch index on \(layout.columns[unindexed].name) to \(layout.name)." }
        if columns.isEmpty {
            // No column says whether there is a related object, so no index helps.
            return start
                + " Also compare an indexed attribute of \(scanned), or store in an indexed attribute whether an object is related."
        }
        return start
            + " Compare an indexed attribute of \(layout.name) with ==, <, > or IN, or add a fetch index to \(layout.name)."
            + findings.hashedStringAdvice(predicate, layout)
    }
}

extension QueryFindings {
    /// A sentence about the limits of a server's index of strings, if the predicate uses such an index; otherwise empty.
    fileprivate func hashedStringAdvice(_ predicate: RowPredicate, _ layout: EntityLayout) -> String {
        let hasString = predicate.storedColumns.contains {
            layout.indexedColumns.contains($0) && layout.order(of: $0).storage == .text
        }
        return hasHashedStrings && hasString
            ? " On this server, the fetch index of a string finds only equal strings." : ""
    }
}

extension RowPredicate {
    /// The columns of the row itself that the predicate uses.
    fileprivate var storedColumns: Set<Int> {
        var columns: Set<Int> = []
        _ = collectColumns(&columns)
        return columns.filter { !JoinedColumn.isJoined($0) }
    }
}
