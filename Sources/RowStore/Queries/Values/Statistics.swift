/// Statistics of a list of numbers without nulls. Each function returns null for an empty list, and for a list with NaN.
enum Statistics {
    /// Returns the middle number. If the count is even, returns the mean of the two middle numbers. The median of integers is a
    /// real.
    static func median(_ values: [RowValue], _ kind: ValueKind) -> RowValue {
        guard let sorted = sorted(values, kind), let middle = sorted.dropFirst(sorted.count / 2).first else {
            return .null
        }
        let isEven = sorted.count % 2 == 0
        if kind == .decimal {
            guard isEven else { return middle }
            let sum = Arithmetic.combine(sorted[sorted.count / 2 - 1], .add, middle, as: .decimal)
            return Arithmetic.combine(sum, .divide, .integer(2), as: .decimal)
        }
        guard let upper = middle.asReal, let lower = isEven ? sorted[sorted.count / 2 - 1].asReal : upper else {
            return .null
        }
        let sum = lower + upper
        return .number(upper == lower ? upper : sum.isInfinite ? lower / 2 + upper / 2 : sum / 2)
    }

    /// Returns the most frequent number. If several numbers are equally frequent, returns the smallest of them.
    static func mode(_ values: [RowValue], _ kind: ValueKind) -> RowValue {
        guard let sorted = sorted(values, kind) else { return .null }
        let order = order(kind)
        var (mode, modeCount) = (RowValue.null, 0)
        var (last, count) = (RowValue.null, 0)
        for value in sorted {
            count = order.compare(last, value) == 0 ? count + 1 : 1
            if count == 1 { last = value }
            if count > modeCount { (mode, modeCount) = (last, count) }
        }
        return mode
    }

    /// Returns the population standard deviation, which is the square root of the mean squared distance from the mean.
    static func standardDeviation(_ values: [RowValue]) -> RowValue {
        let numbers = values.compactMap(\.asReal)
        guard !numbers.isEmpty, numbers.count == values.count else { return .null }
        let count = Double(numbers.count)
        var (sum, squares) = (ExactSum(), ExactSum())
        for number in numbers { sum.add(number) }
        guard let mean = sum.value.map({ $0 / count }) else { return .null }
        for number in numbers { squares.add((number - mean) * (number - mean)) }
        return squares.value.map { .number(($0 / count).squareRoot()) } ?? .null
    }

    private static func order(_ kind: ValueKind) -> ValueOrder { kind == .decimal ? .decimal : .natural }

    /// Returns the values in ascending order; nil if a value has no order.
    private static func sorted(_ values: [RowValue], _ kind: ValueKind) -> [RowValue]? {
        let order = order(kind)
        if values.contains(where: { order.compare($0, $0) == nil }) { return nil }
        return values.sorted { order.compare($0, $1).map { $0 < 0 } ?? false }
    }
}

/// The functions of expressions.
package enum FetchFunction: String, Sendable, Hashable, Codable, CaseIterable {
    case uppercase, lowercase
    /// The string without case and diacritics.
    case canonical
    /// The number of characters in a string, or of bytes in data.
    case length
    case abs, floor, ceiling, trunc, sqrt
    /// The natural logarithm, the logarithm to base 10, and the exponential function.
    case ln, log, exp
    /// An integer with all of its bits inverted.
    case onesComplement
    /// The time when the query was made.
    case now
    // Aggregates of lists. Null elements do not count.
    case sum, min, max, average, count
    /// The middle element, or the mean of the two middle elements.
    case median
    /// The most frequent element. If several elements are equally frequent, the smallest of them.
    case mode
    /// The population standard deviation.
    case stddev
}
