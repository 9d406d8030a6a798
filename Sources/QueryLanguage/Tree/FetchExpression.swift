package import ManagedModel
package import RowStore

/// A value that a predicate compares, by the names of attributes.
package indirect enum FetchExpression: Sendable, Hashable {
    /// Keys of the object: `["name"]`; `["address", "city"]` for the leaf of a composite; `["group", "name"]` through a
    /// relationship. After a to-many relationship an aggregate: `["messages", "@count"]`, `["messages", "@max", "date"]`.
    case keyPath([String])
    /// Keys of what another expression stands for: the variable of a subquery, or the subquery.
    case path(FetchExpression, [String])
    /// `SUBQUERY(messages, $m, $m.isRead == NO)`: the objects of a to-many relationship for which the predicate holds.
    case subquery(FetchExpression, variable: String, PredicateTree.Node)
    /// The object itself: `SELF`.
    case object
    case constant(FetchValue)
    case list([FetchExpression])
    /// `$NAME`: inside a subquery with that variable, the object being tested; otherwise a placeholder to be replaced before
    /// use.
    case variable(String)
    case arithmetic(FetchExpression, ArithmeticOperator, FetchExpression)
    case negated(FetchExpression)
    case function(FetchFunction, [FetchExpression])
    /// The second value if the predicate holds, otherwise the third.
    case conditional(PredicateTree.Node, FetchExpression, FetchExpression)
    /// The first value, or the second if the first is nil.
    case coalesce(FetchExpression, FetchExpression)
    case cast(FetchExpression, AttributeType)
}
