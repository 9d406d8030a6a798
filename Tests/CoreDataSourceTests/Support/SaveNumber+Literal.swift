internal import RowStore

/// Lets tests write the number of a save as a literal.
extension SaveNumber: ExpressibleByIntegerLiteral {
    package init(integerLiteral value: Int64) { self.init(value) }
}
