internal import RowStore

/// What rows get from others.
extension PredicateWriter {
    mutating func joinedColumn(_ column: Int, depth: Int) -> String? { nil }

    mutating func relatedTest(_ test: RelatedTest, isNegated: Bool, depth: Int) -> SQLTerm { .unknown }
}
