internal import ManagedModel
internal import RowStore

/// Resolves ANY, ALL and NONE as subqueries.
extension PredicateResolver {
    /// Resolves ANY (at least one object of a to-many relationship matches), ALL (no object fails) or NONE (no object matches).
    func quantified(
        _ quantifier: PredicateTree.Quantifier, _ node: PredicateTree.Node
    ) throws(DataSourceError) -> RowPredicate {
        guard let left = node.comparedFirst, let (objects, rest) = try splitAtCollection(left) else {
            throw quantifierError(quantifier, node)
        }
        let element = elementName
        let value: FetchExpression = rest.isEmpty ? .variable(element) : .path(.variable(element), rest)
        var test = node.comparingFirst(value)
        if quantifier == .all { test = .not(test) }
        // Wrap the predicate again for another to-many relationship later in the path.
        if hasFurtherCollection(objects, rest) { test = .quantified(.any, test) }
        let exists = try resolve(.anyMatches(objects, element, test))
        return quantifier == .any ? exists : .not(exists)
    }

    /// Resolves `%@ IN messages`; nil if the right side is not a to-many relationship.
    func relatedMembership(
        _ lhs: FetchExpression, _ rhs: FetchExpression, _ options: StringOptions
    ) throws(DataSourceError) -> RowPredicate? {
        guard let (objects, rest) = try splitAtCollection(rhs) else { return nil }
        let element = elementName
        let value: FetchExpression = rest.isEmpty ? .variable(element) : .path(.variable(element), rest)
        return try resolve(.anyMatches(objects, element, .compare(value, .equal, lhs, options)))
    }

    /// Returns an existence check that can replace the comparison of a count, as for `@count > 0`; nil for other
    /// comparisons.
    ///
    /// - Parameter joinedCount: The number of joined columns before the sides of the comparison were resolved.
    func existence(
        _ lhs: TypedExpression, _ relation: ComparisonOperator, to rhs: TypedExpression, joinedCount: Int
    ) -> RowPredicate? {
        if case .constant = lhs.expression {
            return existence(rhs, relation.mirrored, to: lhs.expression, joinedCount: joinedCount)
        }
        return existence(lhs, relation, to: rhs.expression, joinedCount: joinedCount)
    }

    private func existence(
        _ count: TypedExpression, _ relation: ComparisonOperator, to number: RowExpression, joinedCount: Int
    ) -> RowPredicate? {
        guard case .column(let column) = count.expression, JoinedColumn.isJoined(column),
            case .aggregate(let related, .count, column: nil) = joins.columns[JoinedColumn.index(column)].source,
            case .constant(.integer(let number)) = number
        else { return nil }
        let isAny: Bool
        switch (relation, number) {
        case (.greater, 0), (.notEqual, 0), (.greaterOrEqual, 1): isAny = true
        case (.equal, 0), (.lessOrEqual, 0), (.less, 1): isAny = false
        default: return nil
        }
        let exists = joins.replaceLast(column, ifAfter: joinedCount, with: JoinedColumn(.exists(related), .integer))
        return .compare(column: exists, .equal, .integer(isAny ? 1 : 0))
    }

    // MARK: Collections

    /// A variable for the elements of a collection. No variable of a format has this name, because the name has a space.
    private var elementName: String { "element \(scope?.depth ?? 0)" }

    /// Splits a key path after its first to-many relationship. Returns nil if there is none, or if a function such as
    /// `@count` follows the relationship.
    private func splitAtCollection(
        _ expression: FetchExpression
    ) throws(DataSourceError) -> (objects: FetchExpression, rest: [String])? {
        switch expression {
        case .keyPath(let path):
            if let scope { return try scope.outer.splitAtCollection(expression) }
            return split(path).map { (.keyPath($0), $1) }
        case .path(.object, let path): return try splitAtCollection(.keyPath(path))
        case .path(.variable(let name), let path):
            guard let scope else { return nil }
            if scope.variable != name { return try scope.outer.splitAtCollection(expression) }
            return split(path).map { (.path(.variable(name), $0), $1) }
        default: return nil
        }
    }

    /// Splits a path of keys, which starts at the object of this scope, after its first to-many relationship. Returns nil
    /// if there is none, or if a function such as `@count` follows the relationship.
    private func split(_ path: [String]) -> (objects: [String], rest: [String])? {
        var layout = layout
        for (position, key) in path.enumerated() {
            guard let index = layout.relationship(named: key) else { return nil }
            let relationship = layout.relationships[index]
            if relationship.isToMany {
                let rest = Array(path[(position + 1)...])
                return rest.first?.hasPrefix("@") == true ? nil : (Array(path[...position]), rest)
            }
            layout = model.entities[relationship.destination]
        }
        return nil
    }

    /// Whether the keys after a collection lead along another to-many relationship.
    private func hasFurtherCollection(_ objects: FetchExpression, _ rest: [String]) -> Bool {
        guard let destination = destination(objects) else { return false }
        return PredicateResolver(model.entities[destination], in: model).split(rest) != nil
    }

    /// The entity that a key path of relationships leads to.
    private func destination(_ objects: FetchExpression) -> Int? {
        switch objects {
        case .keyPath(let path): scope?.outer.destination(objects) ?? destination(path)
        case .path(.variable(let name), let path):
            scope?.variable == name ? destination(path) : scope?.outer.destination(objects)
        default: nil
        }
    }

    private func destination(_ path: [String]) -> Int? {
        var entity = layout.index
        for key in path {
            guard let index = model.entities[entity].relationship(named: key) else { return nil }
            entity = model.entities[entity].relationships[index].destination
        }
        return entity
    }

    /// The error for a quantifier, depending on its operand.
    private func quantifierError(_ quantifier: PredicateTree.Quantifier, _ node: PredicateTree.Node) -> DataSourceError
    {
        let (word, use) = quantifier.wording
        switch node.quantified {
        case .keyPath(let path), .path(_, let path):
            if let error = indexError(path) { return error }
        default: break
        }
        switch node.quantified {
        case .list(let items):
            return unsupported(
                "\(word) with a list of \(items.count) element\(items.count == 1 ? "" : "s") is not supported. Use IN for equality, or compare the value with each element and join the comparisons with \(use)"
            )
        case .keyPath(let path) where path.count == 1 && layout.relationship(named: path[0]) == nil:
            return unsupported(
                "\(word) needs many values, but \"\(path[0])\" is one value of each \(layout.name). Leave out \(word)"
            )
        default:
            return unsupported(
                "\(word) needs a comparison whose left side follows a to-many relationship, as in \(word) messages.isRead == NO. For anything else use a SUBQUERY"
            )
        }
    }
}

extension PredicateTree.Quantifier {
    /// The word in a format, and the connective that can replace the quantifier.
    fileprivate var wording: (word: String, connective: String) {
        switch self {
        case .any: ("ANY", "OR")
        case .all: ("ALL", "AND")
        case .none: ("NONE", "OR, and negate the result")
        }
    }
}

extension PredicateTree.Node {
    /// A predicate that is true if any of the objects matches `test`.
    package static func anyMatches(_ objects: FetchExpression, _ variable: String, _ test: Self) -> Self {
        .compare(
            .path(.subquery(objects, variable: variable, test), ["@count"]), .greater, .constant(.integer(0)), [])
    }

    /// The left side of a comparison or of its negation; otherwise nil.
    fileprivate var comparedFirst: FetchExpression? {
        switch self {
        case .compare(let lhs, _, _, _), .text(let lhs, _, _, _), .isIn(let lhs, _, _), .between(let lhs, _, _, _),
            .isWithin(let lhs, _, _):
            lhs
        case .not(let node): node.comparedFirst
        default: nil
        }
    }

    /// The same comparison with another left side.
    fileprivate func comparingFirst(_ lhs: FetchExpression) -> Self {
        switch self {
        case .compare(_, let relation, let rhs, let options): .compare(lhs, relation, rhs, options)
        case .text(_, let comparison, let rhs, let options): .text(lhs, comparison, rhs, options)
        case .isIn(_, let list, let options): .isIn(lhs, list, options)
        case .between(_, let low, let high, let options): .between(lhs, low, high, options)
        case .isWithin(_, let range, let options): .isWithin(lhs, range, options)
        case .not(let node): .not(node.comparingFirst(lhs))
        default: self
        }
    }

    /// The operand to which a quantifier before the node applies: the right side of a comparison if this side is a list;
    /// otherwise the left side.
    fileprivate var quantified: FetchExpression? {
        switch self {
        case .compare(let lhs, _, let rhs, _), .text(let lhs, _, let rhs, _):
            if case .list = rhs { rhs } else { lhs }
        case .isIn(let lhs, _, _), .between(let lhs, _, _, _), .isWithin(let lhs, _, _): lhs
        case .not(let node), .quantified(_, let node): node.quantified
        case .constant, .and, .or, .custom, .invalid: nil
        }
    }
}
