internal import RowStore

/// What a parameter of a query stands for.
enum BoundValue {
    case one(RowValue)
    /// A list that is too long for parameters.
    case list(ListedValues)
    /// A predicate that SQLite cannot express.
    case test(RowMatcher)
}
