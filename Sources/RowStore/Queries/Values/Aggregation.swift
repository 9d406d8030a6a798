internal import Foundation

/// Gathers the values of one column, in any order: the result does not depend on it. Nulls do not count.
package struct Aggregation: Sendable {
    package enum Operation: Sendable, Hashable {
        case count, sum, min, max, average
    }

    /// Nil if the rows themselves are counted.
    package let column: Int?
    private let operation: Operation
    private let kind: ValueKind
    private let order: ColumnOrder
    private var count: Int64 = 0
    private var whole: Int128 = 0
    private var real = ExactSum()
    private var decimal: Decimal = 0
    private var isInexact = false
    /// The row that has the least or the greatest value.
    private var extreme: RowSnapshot?

    package init(_ operation: Operation, column: Int?, _ kind: ValueKind) {
        self.operation = operation
        self.column = column
        self.kind = kind
        order = ColumnOrder(kind)
    }

    package mutating func add(_ row: RowSnapshot) {
        guard let column else {
            count += 1
            return
        }
        if row.isNull(column) { return }
        count += 1
        switch operation {
        case .count: return
        case .min:
            guard let least = extreme, row.order(least, column: column, order) >= 0 else { return extreme = row }
        case .max:
            guard let greatest = extreme, row.order(greatest, column: column, order) <= 0 else { return extreme = row }
        case .sum, .average:
            switch order.storage {
            case .integer: whole += Int128(row.integer(column))
            case .real: real.add(row.real(column))
            case .text: add(decimal: row.value(column, .text).asDecimal)
            case .blob: return
            }
        }
    }

    private mutating func add(decimal value: Decimal?) {
        guard var value else { return }
        var (sum, result) = (decimal, Decimal())
        if NSDecimalAdd(&result, &sum, &value, .plain) != .noError { isInexact = true }
        decimal = result
    }

    /// The sum of none is zero; the others of none are null.
    ///
    /// - Throws: `numberOverflow` for a sum of integers beyond 64 bits, or of decimals that does not fit into their digits.
    package func result() throws(DataSourceError) -> RowValue {
        switch operation {
        case .count: return .integer(count)
        case .min, .max:
            guard let extreme, let column else { return .null }
            return extreme.value(column, order.storage)
        case .sum: return try sum()
        case .average:
            if count == 0 { return .null }
            switch kind {
            case .decimal:
                return Arithmetic.combine(try sum(), .divide, .integer(count), as: .decimal)
            case .real, .date: return .number(real.value / Double(count))
            default: return .number(Double(whole) / Double(count))
            }
        }
    }

    private func sum() throws(DataSourceError) -> RowValue {
        switch kind {
        case .decimal:
            if isInexact || decimal.isNaN { throw Aggregation.overflow }
            return .text(decimal.description)
        case .real, .date: return .number(real.value)
        default:
            guard let sum = Int64(exactly: whole) else { throw Aggregation.overflow }
            return .integer(sum)
        }
    }

    private static let overflow = DataSourceError(
        .numberOverflow, "A sum is larger than its type can hold. Sum fewer objects, or an attribute of a wider type.")
}

/// The sum of reals, rounded once at the end, so that their order does not count.
private struct ExactSum: Sendable {
    /// Numbers whose exact sum it is, the smallest first, no two of which overlap.
    private var parts: [Double] = []
    /// The sum of those that are not finite, or of finite ones beyond the range.
    private var special = 0.0

    mutating func add(_ value: Double) {
        guard value.isFinite else {
            special += value
            return
        }
        var value = value
        var kept = 0
        for index in parts.indices {
            var part = parts[index]
            if abs(value) < abs(part) { swap(&value, &part) }
            let sum = value + part
            let rest = part - (sum - value)
            if rest != 0 {
                parts[kept] = rest
                kept += 1
            }
            value = sum
        }
        guard value.isFinite else {
            special += value
            parts.removeAll()
            return
        }
        parts.removeLast(parts.count - kept)
        parts.append(value)
    }

    var value: Double {
        if special != 0 || special.isNaN { return special }
        guard var sum = parts.last else { return 0 }
        var index = parts.count - 1
        var rest = 0.0
        while index > 0 {
            index -= 1
            let before = sum
            sum = before + parts[index]
            rest = parts[index] - (sum - before)
            if rest != 0 { break }
        }
        // Half-way cases are rounded by what is still below.
        if index > 0, rest < 0 && parts[index - 1] < 0 || rest > 0 && parts[index - 1] > 0 {
            let twice = rest * 2
            let rounded = sum + twice
            if twice == rounded - sum { sum = rounded }
        }
        return sum
    }
}
