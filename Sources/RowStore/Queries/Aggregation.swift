internal import Foundation

/// Aggregates the values of one column. The result does not depend on the order of the values. Nulls do not count.
package struct Aggregation: Sendable {
    package enum Operation: Sendable, Hashable {
        case count, sum, min, max, average
    }

    /// The column with the values; nil to count rows.
    package let column: Int?
    package let operation: Operation
    package let kind: ValueKind
    private let order: ColumnOrder
    private var count: Int64 = 0
    private var integerSum: Int128 = 0
    private var real = ExactSum()
    private var decimal: DecimalSum
    /// Whether a stored decimal number is invalid.
    package private(set) var isDamaged = false
    /// The row with the minimum or maximum so far.
    private var extreme: RowSnapshot?

    package init(_ operation: Operation, column: Int?, _ kind: ValueKind) {
        self.operation = operation
        self.column = column
        self.kind = kind
        order = ColumnOrder(kind)
        decimal = DecimalSum(isUsed: order.isDecimal)
    }

    package mutating func add(_ stored: StoredRow) {
        guard let number = column else {
            count += 1
            return
        }
        let (row, column) = stored.cell(number)
        if row.isNull(column) { return }
        count += 1
        if order.isDecimal, operation != .count, !row.withBytes(column, { DecimalText($0) != nil }) {
            isDamaged = true
            return
        }
        switch operation {
        case .count: return
        case .min:
            guard let least = extreme, row.order(least, column: column, order) >= 0 else { return extreme = row }
        case .max:
            guard let greatest = extreme, row.order(greatest, column: column, order) <= 0 else { return extreme = row }
        case .sum, .average:
            switch order.storage {
            case .integer: integerSum += Int128(row.integer(column))
            case .real: real.add(row.real(column))
            case .text: row.withBytes(column) { decimal.add($0) }
            case .blob: return
            }
        }
    }

    /// Removes a row that was added. Not supported for minima and maxima.
    ///
    /// - Returns: Whether the row's value could be subtracted. Infinities, NaN and invalid decimal numbers cannot be
    ///   subtracted.
    package mutating func remove(_ stored: StoredRow) -> Bool {
        guard let number = column else {
            count -= 1
            return true
        }
        let (row, column) = stored.cell(number)
        if row.isNull(column) { return true }
        count -= 1
        if operation == .count { return true }
        switch order.storage {
        case .integer: integerSum -= Int128(row.integer(column))
        case .real:
            guard row.real(column).isFinite else { return false }
            real.add(-row.real(column))
        case .text: return row.withBytes(column) { decimal.remove($0) }
        case .blob: break
        }
        return true
    }

    /// Returns the result. The sum and the count of no values are zero. All other aggregates of no values are null.
    ///
    /// - Throws: `numberOverflow` if a sum of integers exceeds 64 bits, if a sum of decimals has too many digits, or if a sum
    ///   contains infinities of opposite signs.
    package func result() throws(DataSourceError) -> RowValue {
        switch operation {
        case .count: return .integer(count)
        case .min, .max:
            guard let extreme, let column else { return .null }
            return extreme.value(JoinedColumn.isJoined(column) ? JoinedColumn.index(column) : column, order.storage)
        case .sum: return try sum()
        case .average:
            if count == 0 { return .null }
            switch kind {
            case .decimal:
                let average = Arithmetic.combine(try sum(), .divide, .integer(count), as: .decimal)
                if average == .null { throw Aggregation.overflow }
                return average
            case .real, .date: return .number(try realSum() / Double(count))
            default: return .number(Double(integerSum) / Double(count))
            }
        }
    }

    private func sum() throws(DataSourceError) -> RowValue {
        switch kind {
        case .decimal:
            guard let sum = decimal.value else { throw Aggregation.overflow }
            return .text(sum.description)
        case .real, .date: return .number(try realSum())
        default:
            guard let sum = Int64(exactly: integerSum) else { throw Aggregation.overflow }
            return .integer(sum)
        }
    }

    private func realSum() throws(DataSourceError) -> Double {
        guard let sum = real.value else {
            throw DataSourceError(
                .numberOverflow, "Infinities of both signs have no sum. Exclude infinities with a predicate.")
        }
        return sum
    }

    private static let overflow = DataSourceError(
        .numberOverflow, "A sum is larger than its type can hold. Sum fewer objects, or an attribute of a wider type.")
}
