internal import RowStore

/// A calculation over all rows of a query that SQLite makes with the same result as ``Aggregation``.
struct AggregateTerm: Hashable {
    private let operation: Aggregation.Operation
    /// Nil if rows are counted.
    private let column: Int?
    private let isReal: Bool

    /// - Returns: Nil if SQLite has other results: it knows no decimals.
    init?(_ aggregation: Aggregation, _ layout: EntityLayout) {
        operation = aggregation.operation
        column = aggregation.column
        guard let column = aggregation.column else {
            isReal = false
            return
        }
        let order = layout.order(of: column)
        isReal = order.storage == .real
        switch operation {
        case .count: return
        case .min, .max: if order.isDecimal { return nil }
        case .sum, .average: if order.isDecimal || order.storage != .integer && order.storage != .real { return nil }
        }
    }

    /// The results that it needs: for an average the sum and the number of values.
    func sql(_ table: EntityTable) -> String {
        guard let column else { return "count(*)" }
        let term = table.terms[column]
        let sum = isReal ? "\(Connection.exactSum)(\(term))" : "sum(\(term))"
        return switch operation {
        case .count: "count(\(term))"
        case .min: "min(\(term))"
        case .max: "max(\(term))"
        case .sum: sum
        case .average: "\(sum), count(\(term))"
        }
    }

    /// Takes its results from those of the statement.
    ///
    /// - Returns: Nil if they are of another kind, as after an overflow, or where another program has written other values.
    func result(_ results: inout ArraySlice<RowValue>, _ layout: EntityLayout) -> RowValue? {
        guard let first = results.popFirst() else { return nil }
        switch operation {
        case .count: return first
        case .min, .max:
            guard let column, first == .null || first.fits(layout.order(of: column).storage) else { return nil }
            return first
        case .sum: return sum(first)
        case .average:
            guard case .integer(let count)? = results.popFirst() else { return nil }
            if count == 0 { return .null }
            switch sum(first) {
            case .integer(let sum)?: return .number(Double(sum) / Double(count))
            case .real(let sum)?: return .number(sum / Double(count))
            default: return nil
            }
        }
    }

    private func sum(_ value: RowValue) -> RowValue? {
        switch value {
        case .null: isReal ? .real(0) : .integer(0)
        case .integer: isReal ? nil : value
        case .real(let sum): isReal ? .number(sum) : nil
        case .text, .blob: nil
        }
    }
}
