extension RowPredicate {
    /// Adds the columns that the predicate uses.
    ///
    /// - Returns: Whether it also uses the row's own key.
    package func collectColumns(_ columns: inout Set<Int>) -> Bool {
        switch self {
        case .constant: return false
        case .compare(let column, _, _), .isIn(let column, _):
            columns.insert(column)
            return false
        case .compareKey: return true
        case .relate(let one, _, let other, _), .textOf(let one, _, let other, _):
            let asksOne = one.collectColumns(&columns)
            return other.collectColumns(&columns) || asksOne
        case .isMember(let value, _), .text(let value, _): return value.collectColumns(&columns)
        case .follows(_, let sort):
            for key in sort { columns.insert(key.column) }
            return true
        case .not(let inner): return inner.collectColumns(&columns)
        case .and(let parts), .or(let parts):
            return parts.reduce(false) { $1.collectColumns(&columns) || $0 }
        }
    }
}

extension RowExpression {
    fileprivate func collectColumns(_ columns: inout Set<Int>) -> Bool {
        switch self {
        case .column(let column):
            columns.insert(column)
            return false
        case .key: return true
        case .constant: return false
        case .arithmetic(let one, _, let other, _), .coalesce(let one, let other):
            let asksOne = one.collectColumns(&columns)
            return other.collectColumns(&columns) || asksOne
        case .negated(let inner, _), .cast(let inner, _, _): return inner.collectColumns(&columns)
        case .function(_, let arguments, _): return arguments.reduce(false) { $1.collectColumns(&columns) || $0 }
        case .conditional(let test, let one, let other):
            let asks = test.collectColumns(&columns)
            let asksOne = one.collectColumns(&columns)
            return other.collectColumns(&columns) || asksOne || asks
        }
    }
}
