package import Foundation
internal import ManagedModel
package import RowStore

/// Turns a predicate by names into one by columns, and checks that it is valid.
package struct PredicateResolver {
    package let layout: EntityLayout
    let model: ModelLayout
    /// The joined columns that the predicate needs.
    package let joins: JoinCollector
    /// The object of the predicate, if it is inside a subquery.
    let scope: SubqueryScope?
    /// The value of `now()`, in seconds since the reference date.
    let now: Double
    /// Entities whose deleted objects links still lead to, because the delete rules are applied by the save.
    let withGoneObjects: Set<Int>

    /// - Parameter joined: The joined columns that the rows already have.
    package init(
        _ layout: EntityLayout, in model: ModelLayout, joined: [JoinedColumn] = [], withGoneObjects: Set<Int> = [],
        now: Date = Date()
    ) {
        self.layout = layout
        self.model = model
        joins = JoinCollector(joined)
        scope = nil
        self.withGoneObjects = withGoneObjects
        self.now = now.timeIntervalSinceReferenceDate
    }

    /// For the objects at the end of a relationship of another resolver.
    init(_ layout: EntityLayout, in scope: SubqueryScope) {
        self.layout = layout
        self.scope = scope
        joins = JoinCollector()
        (model, now, withGoneObjects) = (scope.outer.model, scope.outer.now, scope.outer.withGoneObjects)
    }

    func resolve(_ node: PredicateTree.Node) throws(DataSourceError) -> RowPredicate {
        switch node {
        case .constant(let answer): return .constant(answer)
        case .compare(let one, let relation, let other, let options):
            return try compare(one, relation, other, options)
        case .text(let one, let comparison, let other, let options):
            return try text(one, comparison, other, options)
        case .isIn(let one, let other, let options): return try membership(one, other, options)
        case .between(let one, let low, let high, let options):
            return .and([
                try compare(one, .greaterOrEqual, low, options), try compare(one, .lessOrEqual, high, options),
            ])
        case .isWithin(let one, let range, _):
            _ = try expression(one)
            // The variable has no value, or is that of a subquery, which is an object.
            _ = try expression(range)
            throw invalid("BETWEEN takes a list of two values, and a SUBQUERY's variable is an object.")
        case .quantified(let quantifier, let node): return try quantified(quantifier, node)
        case .not(let node): return .not(try resolve(node))
        case .and: return .and(try resolve(node.operands(isAnd: true)))
        case .or: return .or(merged(try resolve(node.operands(isAnd: false))))
        case .custom(let test):
            throw unsupported("A part of the predicate needs the objects themselves here (\(test.reason))")
        case .invalid(let part): throw part.error
        }
    }

    private func resolve(_ nodes: [PredicateTree.Node]) throws(DataSourceError) -> [RowPredicate] {
        var predicates: [RowPredicate] = []
        predicates.reserveCapacity(nodes.count)
        for node in nodes { predicates.append(try resolve(node)) }
        return predicates
    }

    /// Several equality tests of one column become one look-up in a list.
    private func merged(_ parts: [RowPredicate]) -> [RowPredicate] {
        guard parts.count > 2 else { return parts }
        var values: [Int: [RowValue]] = [:]
        for case .compare(let column, .equal, let value) in parts { values[column, default: []].append(value) }
        values = values.filter { $0.value.count > 2 }
        if values.isEmpty { return parts }
        let rest = parts.filter { part in
            guard case .compare(let column, .equal, _) = part else { return true }
            return values[column] == nil
        }
        return values.sorted { $0.key < $1.key }.map { list($0.key, $0.value) } + rest
    }

    /// Whether the column holds one of the values.
    func list(_ column: Int, _ values: [RowValue]) -> RowPredicate {
        values.count > 16
            ? .isMember(.column(column), ValueList(values, .natural)) : .isIn(column: column, values)
    }

    // MARK: Errors

    func invalid(_ what: String, attribute: String? = nil) -> DataSourceError {
        DataSourceError(
            .invalidPredicate, "Invalid predicate for \(layout.name): \(what)", entityName: layout.name,
            attributeName: attribute)
    }

    func unsupported(_ what: String) -> DataSourceError {
        DataSourceError(.unsupportedQuery, "\(what).", entityName: layout.name)
    }
}
