internal import ManagedModel

/// An expression that is calculated from a row. The kinds of its values are resolved in advance, so that the evaluation does
/// not need to determine them.
package indirect enum RowExpression: Sendable, Hashable {
    case column(Int)
    /// The key of the row.
    case key
    case constant(RowValue)
    /// Arithmetic on two values. Both sides are converted to the kind, which is integer, real or decimal.
    case arithmetic(RowExpression, ArithmeticOperator, RowExpression, ValueKind)
    case negated(RowExpression, ValueKind)
    case function(FetchFunction, [RowExpression], ValueKind)
    case conditional(RowPredicate, RowExpression, RowExpression)
    case coalesce(RowExpression, RowExpression)
    case cast(RowExpression, from: ValueKind, to: ValueKind)
}

extension RowExpression {
    /// Calculates the value for one row.
    ///
    /// - Throws: The errors of predicates in the expression.
    package func evaluate(
        _ row: StoredRow, _ layout: EntityLayout, _ budget: QueryBudget
    ) throws(DataSourceError) -> RowValue {
        switch self {
        case .column(let column): return row.value(column, layout.order(of: column).storage)
        case .key: return .integer(row.key)
        case .constant(let value): return value
        case .arithmetic(let lhs, let operation, let rhs, let kind):
            return Arithmetic.combine(
                try lhs.evaluate(row, layout, budget), operation,
                try rhs.evaluate(row, layout, budget), as: kind)
        case .negated(let inner, let kind):
            return Arithmetic.negate(try inner.evaluate(row, layout, budget), as: kind)
        case .function(let function, let arguments, let kind):
            var values: [RowValue] = []
            for argument in arguments { values.append(try argument.evaluate(row, layout, budget)) }
            return function.apply(values, kind)
        case .conditional(let condition, let whenTrue, let whenFalse):
            let isTrue = try condition.evaluate(row, layout, budget)
            return try (isTrue ? whenTrue : whenFalse).evaluate(row, layout, budget)
        case .coalesce(let lhs, let rhs):
            let value = try lhs.evaluate(row, layout, budget)
            return value == .null ? try rhs.evaluate(row, layout, budget) : value
        case .cast(let inner, let source, let target):
            return ValueCast.cast(try inner.evaluate(row, layout, budget), from: source, to: target)
        }
    }

    /// If all operands are constants, returns the value as a constant. Otherwise, or if the expression is conditional,
    /// returns the expression itself.
    package func folded(_ layout: EntityLayout) throws(DataSourceError) -> RowExpression {
        let isConstant =
            switch self {
            case .column, .key, .constant, .conditional: false
            case .arithmetic(let lhs, _, let rhs, _), .coalesce(let lhs, let rhs):
                lhs.isConstant && rhs.isConstant
            case .negated(let inner, _), .cast(let inner, _, _): inner.isConstant
            case .function(_, let arguments, _): arguments.allSatisfy(\.isConstant)
            }
        if !isConstant { return self }
        let nothing = StoredRow(key: 0, row: RowSnapshot(columnCount: layout.columns.count))
        return .constant(try evaluate(nothing, layout, QueryBudget()))
    }

    private var isConstant: Bool {
        if case .constant = self { true } else { false }
    }

    /// Passes the bytes of the expression's string to the body. If the expression is a column, the bytes are not copied. Returns
    /// nil if the value is null.
    func withText<R>(
        of row: StoredRow, layout: EntityLayout, budget: QueryBudget,
        _ body: (UnsafeRawBufferPointer) -> R
    ) throws(DataSourceError) -> R? {
        if case .column(let column) = self {
            let (row, column) = row.cell(column)
            return row.isNull(column) ? nil : row.withBytes(column, body)
        }
        guard case .text(var text) = try evaluate(row, layout, budget) else { return nil }
        return text.withUTF8 { body(UnsafeRawBufferPointer($0)) }
    }
}

extension FetchFunction {
    fileprivate func apply(_ values: [RowValue], _ kind: ValueKind) -> RowValue {
        switch self {
        case .uppercase: return text(values, StringTransformation.uppercase.callAsFunction)
        case .lowercase: return text(values, StringTransformation.lowercase.callAsFunction)
        case .canonical: return text(values, StringTransformation.canonical.callAsFunction)
        case .length:
            switch values.first {
            case .text(let text): return .integer(Int64(text.count))
            case .blob(let bytes): return .integer(Int64(bytes.count))
            default: return .null
            }
        case .abs, .floor, .ceiling, .trunc, .sqrt, .ln, .log, .exp, .onesComplement:
            return Arithmetic.apply(self, values.first ?? .null, as: kind)
        case .now: return values.first ?? .null
        case .sum, .min, .max, .average, .count, .median, .mode, .stddev:
            return combine(values, kind)
        }
    }

    private func text(_ values: [RowValue], _ change: (String) -> String) -> RowValue {
        guard case .text(let text) = values.first else { return .null }
        return .text(change(text))
    }

    /// Returns the aggregate of numbers of one kind. Ignores nulls. The result does not depend on the order of the numbers.
    ///
    /// A sum is exact. If the type of the sum cannot represent the exact sum, the result is null. A mean is calculated from the
    /// exact sum, so the mean of integers always exists.
    package func combine(_ values: [RowValue], _ kind: ValueKind) -> RowValue {
        let values = values.filter { $0 != .null }
        let order: ValueOrder = kind == .decimal ? .decimal : .natural
        switch self {
        case .count: return .integer(Int64(values.count))
        case .min: return values.min { order.compare($0, $1).map { $0 < 0 } ?? false } ?? .null
        case .max: return values.max { order.compare($0, $1).map { $0 < 0 } ?? false } ?? .null
        case .median: return Statistics.median(values, kind)
        case .mode: return Statistics.mode(values, kind)
        case .stddev: return Statistics.standardDeviation(values)
        case .sum: return sum(values, kind)
        case .average: return values.isEmpty ? .null : mean(values, kind)
        default: return .null
        }
    }

    private func sum(_ values: [RowValue], _ kind: ValueKind) -> RowValue {
        switch kind {
        case .integer: FetchFunction.integerSum(values).flatMap(Int64.init(exactly:)).map { .integer($0) } ?? .null
        case .decimal: DecimalSum.sum(of: values)
        default: FetchFunction.realSum(values).map { .number($0) } ?? .null
        }
    }

    private func mean(_ values: [RowValue], _ kind: ValueKind) -> RowValue {
        switch kind {
        case .integer: FetchFunction.integerSum(values).map { .number(Double($0) / Double(values.count)) } ?? .null
        case .decimal:
            Arithmetic.combine(DecimalSum.sum(of: values), .divide, .integer(Int64(values.count)), as: .decimal)
        default: FetchFunction.realSum(values).map { .number($0 / Double(values.count)) } ?? .null
        }
    }

    private static func integerSum(_ values: [RowValue]) -> Int128? {
        var sum: Int128 = 0
        for value in values {
            guard let number = value.asInteger else { return nil }
            sum += Int128(number)
        }
        return sum
    }

    private static func realSum(_ values: [RowValue]) -> Double? {
        var sum = ExactSum()
        for value in values {
            guard let number = value.asReal else { return nil }
            sum.add(number)
        }
        return sum.value
    }
}
