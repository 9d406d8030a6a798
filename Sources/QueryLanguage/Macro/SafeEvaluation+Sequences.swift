internal import Foundation

// Lists, strings and dictionaries.

extension PredicateExpressions.SequenceContainsWhere: SafelyEvaluated {
    func safeValue(in scope: EvaluationScope) throws -> Bool {
        guard let list = try scope.present(sequence) else { return false }
        var isFound = false
        try scope.each(list) { element in
            isFound = try scope.binding(variable, to: element).holds(test)
            return !isFound
        }
        return isFound
    }
}

extension PredicateExpressions.SequenceAllSatisfy: SafelyEvaluated {
    func safeValue(in scope: EvaluationScope) throws -> Bool {
        guard let list = try scope.present(sequence) else { return false }
        var isTrue = true
        try scope.each(list) { element in
            isTrue = try scope.binding(variable, to: element).holds(test)
            return isTrue
        }
        return isTrue
    }
}

extension PredicateExpressions.Filter: SafelyEvaluated {
    func safeValue(in scope: EvaluationScope) throws -> [LHS.Output.Element] {
        var found: [LHS.Output.Element] = []
        try scope.each(scope.value(sequence)) { element in
            if try scope.binding(variable, to: element).holds(filter) { found.append(element) }
            return true
        }
        return found
    }
}

extension PredicateExpressions.SequenceContains: SafelyEvaluated {
    func safeValue(in scope: EvaluationScope) throws -> Bool {
        guard let list = try scope.present(sequence) else { return false }
        let element = try scope.present(element)
        if let element, list is any StoredElements || list is any CountedRange { return list.contains(element) }
        var isFound = false
        try scope.each(list) {
            isFound = element.map { [element = $0] in element == $0 } ?? isAbsent($0)
            return !isFound
        }
        return isFound
    }
}

extension PredicateExpressions.SequenceMinimum: SafelyEvaluated {
    func safeValue(in scope: EvaluationScope) throws -> Elements.Output.Element? {
        try scope.extreme(elements) { $0 < $1 }
    }
}

extension PredicateExpressions.SequenceMaximum: SafelyEvaluated {
    func safeValue(in scope: EvaluationScope) throws -> Elements.Output.Element? {
        try scope.extreme(elements) { $1 < $0 }
    }
}

extension EvaluationScope {
    /// Returns the first element that no other element precedes.
    fileprivate func extreme<Elements: PredicateExpression>(
        _ elements: Elements, _ isBefore: (Elements.Output.Element, Elements.Output.Element) -> Bool
    ) throws -> Elements.Output.Element? where Elements.Output: Sequence {
        var extreme: Elements.Output.Element?
        try each(value(elements)) { element in
            guard let current = extreme else {
                extreme = element
                return true
            }
            if isBefore(element, current) { extreme = element }
            return true
        }
        return extreme
    }
}

// MARK: Parts of lists

extension PredicateExpressions.SequenceStartsWith: SafelyEvaluated {
    func safeValue(in scope: EvaluationScope) throws -> Bool {
        guard let base = try scope.present(base), let prefix = try scope.present(prefix) else { return false }
        try scope.checkEnd(base)
        var rest = base.makeIterator()
        var isStart = true
        try scope.each(prefix) { element in
            isStart = rest.next() == element
            return isStart
        }
        return isStart
    }
}

extension PredicateExpressions.CollectionContainsCollection: SafelyEvaluated {
    func safeValue(in scope: EvaluationScope) throws -> Bool {
        guard let base = try scope.present(base), let other = try scope.present(other) else { return false }
        // Count the elements of a range first, because the range might have no end.
        if !(base is any StoredElements) { try scope.each(base) { _ in true } }
        if !(other is any StoredElements) { try scope.each(other) { _ in true } }
        return base.contains(other)
    }
}

extension PredicateExpressions.StringContainsRegex: SafelyEvaluated {
    func safeValue(in scope: EvaluationScope) throws -> Bool {
        guard let text = try scope.present(subject), let pattern = try scope.present(regex) else { return false }
        return text.contains(pattern)
    }
}

// MARK: Subscripts

extension PredicateExpressions.CollectionIndexSubscript: SafelyEvaluated {
    func safeValue(in scope: EvaluationScope) throws -> Wrapped.Output.Element {
        let (list, index) = (try scope.value(wrapped), try scope.value(index))
        guard list.startIndex <= index, index < list.endIndex else {
            throw UnsafeValue(description: "an index beyond the end of a list")
        }
        return list[index]
    }
}

extension PredicateExpressions.CollectionRangeSubscript: SafelyEvaluated {
    func safeValue(in scope: EvaluationScope) throws -> Wrapped.Output.SubSequence {
        let (list, range) = (try scope.value(wrapped), try scope.value(range))
        guard list.startIndex <= range.lowerBound, range.upperBound <= list.endIndex else {
            throw UnsafeValue(description: "an index beyond the end of a list")
        }
        return list[range]
    }
}

extension PredicateExpressions.DictionaryKeySubscript: SafelyEvaluated {
    func safeValue(in scope: EvaluationScope) throws -> Value? { try scope.value(wrapped)[scope.value(key)] }
}

extension PredicateExpressions.DictionaryKeyDefaultValueSubscript: SafelyEvaluated {
    func safeValue(in scope: EvaluationScope) throws -> Default.Output {
        try scope.value(wrapped)[scope.value(key)] ?? scope.value(`default`)
    }
}

// Arithmetic and ranges.

/// An operation on two numbers.
private enum NumberOperation {
    case add, subtract, multiply, divide, remainder

    /// The result for integers of a fixed width, and for the multiplication of decimals; otherwise nil.
    func result<Value>(_ lhs: Value, _ rhs: Value) throws -> Value? {
        if self == .multiply, let lhs = lhs as? Decimal, let rhs = rhs as? Decimal {
            return try product(lhs, rhs) as? Value
        }
        guard let integer = lhs as? any FixedWidthInteger else { return nil }
        func computed<Integer: FixedWidthInteger>(_ lhs: Integer) throws -> Any {
            guard let rhs = rhs as? Integer else { return lhs }
            return try self.computed(lhs, rhs)
        }
        return try computed(integer) as? Value
    }

    private func computed<Integer: FixedWidthInteger>(_ lhs: Integer, _ rhs: Integer) throws -> Integer {
        if rhs == 0, self == .divide || self == .remainder {
            throw MissingValue(description: "a division by zero")
        }
        let result =
            switch self {
            case .add: lhs.addingReportingOverflow(rhs)
            case .subtract: lhs.subtractingReportingOverflow(rhs)
            case .multiply: lhs.multipliedReportingOverflow(by: rhs)
            case .divide: lhs.dividedReportingOverflow(by: rhs)
            case .remainder: lhs.remainderReportingOverflow(dividingBy: rhs)
            }
        if result.overflow { throw MissingValue(description: "a number too large for \(Integer.self)") }
        return result.partialValue
    }

    /// Multiplies without a trap. Foundation traps if the exponent of a product is too small; its sums and differences do not
    /// trap.
    private func product(_ lhs: Decimal, _ rhs: Decimal) throws -> Decimal {
        let exponent = lhs.exponent + rhs.exponent
        if lhs.isNaN || rhs.isNaN || exponent >= Decimal.leastExponent { return lhs * rhs }
        // Multiply only the digits. Digits that do not fit are rounded away, which increases the exponent.
        let digits = lhs.significand.magnitude * rhs.significand.magnitude
        if digits.isZero { return digits }
        guard digits.exponent + exponent >= Decimal.leastExponent else {
            throw MissingValue(description: "a number too small for Decimal")
        }
        return Decimal(sign: lhs.sign == rhs.sign ? .plus : .minus, exponent: exponent, significand: digits)
    }
}

extension Decimal {
    fileprivate static let leastExponent = Int(Int8.min)
}

extension PredicateExpressions.Arithmetic: SafelyEvaluated {
    func safeValue(in scope: EvaluationScope) throws -> LHS.Output {
        let one = try scope.value(lhs)
        let other = try scope.value(rhs)
        switch op {
        case .add: return try NumberOperation.add.result(one, other) ?? one + other
        case .subtract: return try NumberOperation.subtract.result(one, other) ?? one - other
        case .multiply: return try NumberOperation.multiply.result(one, other) ?? one * other
        @unknown default: throw UnsafeValue(description: "an unknown arithmetic operation")
        }
    }
}

extension PredicateExpressions.IntDivision: SafelyEvaluated {
    func safeValue(in scope: EvaluationScope) throws -> LHS.Output {
        let one = try scope.value(lhs)
        let other = try scope.value(rhs)
        return try NumberOperation.divide.result(one, other) ?? one / other
    }
}

extension PredicateExpressions.IntRemainder: SafelyEvaluated {
    func safeValue(in scope: EvaluationScope) throws -> LHS.Output {
        let one = try scope.value(lhs)
        let other = try scope.value(rhs)
        return try NumberOperation.remainder.result(one, other) ?? one % other
    }
}

extension PredicateExpressions.FloatDivision: SafelyEvaluated {
    func safeValue(in scope: EvaluationScope) throws -> LHS.Output { try scope.value(lhs) / scope.value(rhs) }
}

extension PredicateExpressions.UnaryMinus: SafelyEvaluated {
    func safeValue(in scope: EvaluationScope) throws -> Wrapped.Output {
        let value = try scope.value(wrapped)
        return try NumberOperation.subtract.result(Wrapped.Output.zero, value) ?? -value
    }
}

// MARK: Ranges

extension PredicateExpressions.Range: SafelyEvaluated {
    func safeValue(in scope: EvaluationScope) throws -> Range<LHS.Output> {
        let (low, high) = try scope.bounds(lower, upper)
        return low..<high
    }
}

extension PredicateExpressions.ClosedRange: SafelyEvaluated {
    func safeValue(in scope: EvaluationScope) throws -> ClosedRange<LHS.Output> {
        let (low, high) = try scope.bounds(lower, upper)
        return low...high
    }
}

extension EvaluationScope {
    fileprivate func bounds<Low: PredicateExpression, High: PredicateExpression>(
        _ low: Low, _ high: High
    ) throws -> (Low.Output, Low.Output) where Low.Output == High.Output, Low.Output: Comparable {
        let (low, high) = (try value(low), try value(high))
        guard low <= high else { throw MissingValue(description: "a range whose end comes before its start") }
        return (low, high)
    }
}

extension PredicateExpressions.RangeExpressionContains: SafelyEvaluated {
    func safeValue(in scope: EvaluationScope) throws -> Bool {
        guard let range = try scope.present(range), let element = try scope.present(element) else { return false }
        return range.contains(element)
    }
}

/// A range of integers, which can have more elements than fit in `Int`.
protocol CountedRange {
    /// The number of elements; nil if it does not fit in `Int`.
    var safeCount: Int? { get }
    /// The properties that return the number of elements.
    static var countKeyPaths: [AnyKeyPath] { get }
}

extension Range: CountedRange where Bound: FixedWidthInteger, Bound.Stride: SignedInteger {
    static var countKeyPaths: [AnyKeyPath] { [\Self.count, \Self.underestimatedCount] }

    var safeCount: Int? {
        let (count, isTooLarge) = upperBound.subtractingReportingOverflow(lowerBound)
        return isTooLarge ? nil : Int(exactly: count)
    }
}

extension ClosedRange: CountedRange where Bound: FixedWidthInteger, Bound.Stride: SignedInteger {
    static var countKeyPaths: [AnyKeyPath] { [\Self.count, \Self.underestimatedCount] }

    var safeCount: Int? {
        guard let count = (lowerBound..<upperBound).safeCount, count < Int.max else { return nil }
        return count + 1
    }
}
