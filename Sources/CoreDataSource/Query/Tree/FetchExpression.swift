package import ManagedModel
package import RowStore

/// A value that a predicate compares, by the names of attributes.
package indirect enum FetchExpression: Sendable, Hashable {
    /// `["name"]`; `["address", "city"]` for the leaf of a composite; `["group", "name"]` through a relationship; the last
    /// may be an aggregate: `"@count"`.
    case keyPath([String])
    /// The object itself: `SELF`.
    case object
    case constant(FetchValue)
    case list([FetchExpression])
    /// `$NAME`, to be replaced before use.
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
