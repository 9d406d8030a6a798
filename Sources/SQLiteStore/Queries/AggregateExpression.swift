internal import RowStore

/// A calculation over all rows of a query. SQLite calculates the same result as ``Aggregation``.
struct AggregateExpression: Hashable {
    private let operation: Aggregation.Operation
    /// The column with the values; nil to count rows.
    private let column: Int?
    private let isReal: Bool

    /// Returns nil if SQLite's result would differ. For example, SQLite has no decimals.
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

    /// Returns the SQL expressions to select. An average needs two expressions, the sum and the number of values. All other
    /// calculations need one.
    func sql(_ table: EntityTable) -> String {
        guard let column else { return "count(*)" }
        let expression = table.expressions[column]
        let sum = isReal ? "\(Connection.exactSum)(\(expression))" : "sum(\(expression))"
        return switch operation {
        case .count: "count(\(expression))"
        case .min: "min(\(expression))"
        case .max: "max(\(expression))"
        case .sum: sum
        case .average: "\(sum), count(\(expression))"
        }
    }

    /// Removes the results of the expressions of ``sql(_:)`` from the front of a row, and returns the result of the
    /// calculation.
    ///
    /// - Returns: The result. Nil if a result of SQL has an unexpected storage class. This happens after an overflow, or if
    ///   another program wrote the values.
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
