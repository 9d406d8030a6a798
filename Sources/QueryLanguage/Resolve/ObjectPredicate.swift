package import RowStore

/// A predicate over columns, split into a part for rows and a part for the objects of the found rows.
package struct ResolvedPredicate {
    package var rows: RowPredicate
    /// Nil if rows are enough.
    package var objects: ObjectPredicate?

    package init(rows: RowPredicate, objects: ObjectPredicate? = nil) {
        self.rows = rows
        self.objects = objects
    }
}

/// A predicate for managed objects. Some of its parts use only the rows of the objects.
package indirect enum ObjectPredicate: Sendable {
    case row(RowPredicate)
    case custom(ObjectMatcher)
    case not(ObjectPredicate)
    case and([ObjectPredicate])
    case or([ObjectPredicate])

    /// Whether the predicate accepts an object.
    ///
    /// - Parameter stored: The row of the object, with the joined columns of the query.
    /// - Throws: Every `DataSourceError` that a matcher throws; `predicateFailed` if a matcher throws another error, which
    ///   becomes the cause.
    package func accepts(
        _ object: any QueriedObject, _ stored: StoredRow, _ budget: QueryBudget
    ) throws(DataSourceError) -> Bool {
        switch self {
        case .row(let predicate): return try predicate.evaluate(stored, object.layout, budget)
        case .custom(let test):
            do {
                return try test.evaluate(object)
            } catch let error as DataSourceError {
                throw error
            } catch {
                throw DataSourceError(
                    .predicateFailed,
                    "A part of a predicate threw an error on an object. Correct the code that the cause names.",
                    entityName: object.layout.name, cause: "\(error)")
            }
        case .not(let inner): return try !inner.accepts(object, stored, budget)
        case .and(let parts):
            for part in parts where try !part.accepts(object, stored, budget) { return false }
            return true
        case .or(let parts):
            for part in parts where try part.accepts(object, stored, budget) { return true }
            return false
        }
    }
}

extension PredicateTree {
    /// The reason why the predicate needs objects; nil if rows are enough.
    ///
    /// In an AND, a fetch first finds the objects that match the parts for which rows are enough. It then evaluates the
    /// remaining parts on the found objects. Code that has only rows cannot evaluate a predicate that needs objects.
    package var needsObjects: String? { firstTest { _ in true }?.reason }

    /// The reason why the predicate needs objects whose relationships can be followed; nil if no part is known to follow a
    /// relationship.
    package var needsRelationships: String? { firstTest(where: \.followsRelationship)?.reason }

    private func firstTest(where condition: (ObjectMatcher) -> Bool) -> ObjectMatcher? {
        var rest = [Node.Part.node(node)]
        while let part = rest.popLast() {
            if case .node(.custom(let test)) = part, condition(test) { return test }
            rest += part.parts
        }
        return nil
    }

    /// The predicate over the columns of an entity and its joined columns.
    ///
    /// - Throws: `unknownAttribute`, `invalidPredicate` or `unsupportedQuery`. A predicate that needs objects is unsupported.
    package func resolved(
        _ layout: EntityLayout, in model: ModelLayout
    ) throws(DataSourceError) -> (predicate: RowPredicate, joined: [JoinedColumn]) {
        let resolver = PredicateResolver(layout, in: model)
        let predicate = try resolver.resolve(node)
        return (predicate, resolver.joins.columns)
    }

    /// The predicate over the columns of an entity, and the part that is evaluated on objects.
    package func split(_ resolver: PredicateResolver) throws(DataSourceError) -> ResolvedPredicate {
        if needsObjects == nil { return ResolvedPredicate(rows: try resolver.resolve(node)) }
        var rows: [Node] = []
        var objects: [ObjectPredicate] = []
        for part in node.operands(isAnd: true) {
            if PredicateTree(part).needsObjects == nil {
                rows.append(part)
            } else {
                objects.append(try resolver.objectPredicate(part))
            }
        }
        return ResolvedPredicate(rows: try resolver.resolve(.and(rows)), objects: .and(objects))
    }
}

extension PredicateResolver {
    fileprivate func objectPredicate(_ node: PredicateTree.Node) throws(DataSourceError) -> ObjectPredicate {
        if PredicateTree(node).needsObjects == nil { return .row(try resolve(node)) }
        switch node {
        case .custom(let test): return .custom(test)
        case .not(let inner): return .not(try objectPredicate(inner))
        case .and: return .and(try objectPredicates(node.operands(isAnd: true)))
        case .or: return .or(try objectPredicates(node.operands(isAnd: false)))
        // The matcher is inside a conditional expression, which `resolve` refuses.
        default: return .row(try resolve(node))
        }
    }

    private func objectPredicates(_ nodes: [PredicateTree.Node]) throws(DataSourceError) -> [ObjectPredicate] {
        var predicates: [ObjectPredicate] = []
        for node in nodes { predicates.append(try objectPredicate(node)) }
        return predicates
    }
}
