package import ManagedModel
package import RowStore

/// A value that a predicate compares, by the names of attributes.
package indirect enum FetchExpression: Sendable, Hashable {
    /// Of the object: `["name"]`; `["address", "city"]` for the leaf of a composite; `["group", "name"]` through a relationship.
    /// After a to-many relationship an aggregate: `["messages", "@count"]`, `["messages", "@max", "date"]`.
    case keyPath([String])
    /// The same of what another expression stands for: of the variable of a subquery, or of the subquery.
    case path(FetchExpression, [String])
    /// `SUBQUERY(messages, $m, $m.isRead == NO)`: the objects of a to-many relationship for which the predicate holds.
    case subquery(FetchExpression, variable: String, PredicateTree.Node)
    /// The object itself: `SELF`.
    case object
    case constant(FetchValue)
    case list([FetchExpression])
    /// `$NAME`: within a subquery of that variable the object in question; otherwise to be replaced before use.
    case variable(String)
    case arithmetic(FetchExpression, ArithmeticOperator, FetchExpression)
    case negated(FetchExpression)
    case function(FetchFunction, [FetchExpression])
    /// The second where the predicate holds, otherwise the third.
    case conditional(PredicateTree.Node, FetchExpression, FetchExpression)
    /// The first, or the second where the first is nil.
    case coalesce(FetchExpression, FetchExpression)
    case cast(FetchExpression, AttributeType)
}
