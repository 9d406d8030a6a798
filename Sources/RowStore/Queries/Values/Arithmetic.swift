package import Foundation

/// Arithmetic for queries, the same in memory and in a database.
///
/// An operation without a result gives null: any operation with null, a division by zero, an integer beyond 64 bits, a decimal
/// beyond its range, NaN, and a shift by fewer than 0 or more than 63 bits. Integer division drops the remainder. A power is a
/// real. Bit operations use 64-bit integers in two's complement.
enum Arithmetic {
    static func combine(
        _ one: RowValue, _ operation: ArithmeticOperator, _ other: RowValue, as kind: ValueKind
    ) -> RowValue {
        if one == .null || other == .null { return .null }
        switch kind {
        case .integer:
            guard let one = one.asInteger, let other = other.asInteger else { return .null }
            return combine(one, operation, other).map { .integer($0) } ?? .null
        case .decimal:
            guard let one = one.asDecimal, let other = other.asDecimal else { return .null }
            return combine(one, operation, other).map { .text($0.description) } ?? .null
        default:
            guard let one = one.asReal, let other = other.asReal else { return .null }
            return .number(combine(one, operation, other))
        }
    }

    private static func combine(_ one: Int64, _ operation: ArithmeticOperator, _ other: Int64) -> Int64? {
        let result =
            switch operation {
            case .add: one.addingReportingOverflow(other)
            case .subtract: one.subtractingReportingOverflow(other)
            case .multiply: one.multipliedReportingOverflow(by: other)
            case .divide: one.dividedReportingOverflow(by: other)
            case .remainder: one.remainderReportingOverflow(dividingBy: other)
            case .bitwiseAnd: (partialValue: one & other, overflow: false)
            case .bitwiseOr: (partialValue: one | other, overflow: false)
            case .bitwiseXor: (partialValue: one ^ other, overflow: false)
            case .shiftLeft: (partialValue: one << other, overflow: !shiftCounts.contains(other))
            case .shiftRight: (partialValue: one >> other, overflow: !shiftCounts.contains(other))
            case .power: (partialValue: Int64(0), overflow: true)
            }
        return result.overflow ? nil : result.partialValue
    }

    /// The numbers of bits by which an integer can be shifted.
    private static let shiftCounts: ClosedRange<Int64> = 0...63

    private static func combine(_ one: Double, _ operation: ArithmeticOperator, _ other: Double) -> Double {
        switch operation {
        case .add: one + other
        case .subtract: one - other
        case .multiply: one * other
        case .divide: other == 0 ? .nan : one / other
        case .remainder: other == 0 ? .nan : fmod(one, other)
        case .power: pow(one, other)
        case .bitwiseAnd, .bitwiseOr, .bitwiseXor, .shiftLeft, .shiftRight: .nan
        }
    }

    private static func combine(_ one: Decimal, _ operation: ArithmeticOperator, _ other: Decimal) -> Decimal? {
        var (left, right, result) = (one, other, Decimal())
        let error: NSDecimalNumber.CalculationError
        switch operation {
        case .add: error = NSDecimalAdd(&result, &left, &right, .plain)
        case .subtract: error = NSDecimalSubtract(&result, &left, &right, .plain)
        case .multiply:
            // Foundation traps if the exponent is below the smallest possible one.
            if one.exponent + other.exponent < Decimal.leastExponent { return nil }
            error = NSDecimalMultiply(&result, &left, &right, .plain)
        case .divide:
            if right.isZero { return nil }
            error = NSDecimalDivide(&result, &left, &right, .plain)
        case .remainder:
            if right.isZero { return nil }
            guard let quotient = combine(one, .divide, other), let whole = quotient.rounded(.trunc),
                let taken = combine(whole, .multiply, other)
            else { return nil }
            return combine(one, .subtract, taken)
        case .power, .bitwiseAnd, .bitwiseOr, .bitwiseXor, .shiftLeft, .shiftRight: return nil
        }
        return error == .overflow || error == .divideByZero || result.isNaN ? nil : result
    }

    static func negate(_ value: RowValue, as kind: ValueKind) -> RowValue {
        combine(kind == .decimal ? .text("0") : kind == .integer ? .integer(0) : .real(0), .subtract, value, as: kind)
    }

    /// A function with one number as its argument.
    static func apply(_ function: FetchFunction, _ value: RowValue, as kind: ValueKind) -> RowValue {
        if value == .null { return .null }
        if function.isReal { return value.asReal.map { .number(function.apply($0)) } ?? .null }
        switch kind {
        case .integer:
            guard let number = value.asInteger else { return .null }
            if function == .onesComplement { return .integer(~number) }
            guard function == .abs else { return .integer(number) }
            return number == .min ? .null : .integer(Swift.abs(number))
        case .decimal:
            guard let number = value.asDecimal else { return .null }
            guard function == .abs else { return number.rounded(function).map { .text($0.description) } ?? .null }
            return .text(Swift.abs(number).description)
        default:
            guard let number = value.asReal else { return .null }
            switch function {
            case .abs: return .number(Swift.abs(number))
            case .floor: return .number(number.rounded(.down))
            case .ceiling: return .number(number.rounded(.up))
            default: return .number(number.rounded(.towardZero))
            }
        }
    }
}

extension FetchFunction {
    /// Whether the result is always a real.
    package var isReal: Bool { self == .sqrt || self == .ln || self == .log || self == .exp }

    fileprivate func apply(_ number: Double) -> Double {
        switch self {
        case .sqrt: number.squareRoot()
        case .ln: naturalLogarithm(number)
        case .log: log10(number)
        case .exp: exponential(number)
        default: .nan
        }
    }
}

// Inside an extension of `FetchFunction`, cases hide the functions of Foundation with the same names.

private func naturalLogarithm(_ number: Double) -> Double { log(number) }

private func exponential(_ number: Double) -> Double { exp(number) }

extension Decimal {
    /// The smallest exponent of a decimal: the power of ten of its last digit.
    fileprivate static let leastExponent = -128

    /// The number rounded down, up or towards zero.
    fileprivate func rounded(_ function: FetchFunction) -> Decimal? {
        var (number, result) = (self, Decimal())
        let mode: NSDecimalNumber.RoundingMode =
            switch function {
            case .floor: .down
            case .ceiling: .up
            default: self < 0 ? .up : .down
            }
        NSDecimalRound(&result, &number, 0, mode)
        return result.isNaN ? nil : result
    }
}

extension RowValue {
    /// A real, or null for NaN. Negative zero becomes zero, as in a store.
    package static func number(_ value: Double) -> RowValue {
        value.isNaN ? .null : .real(value == 0 ? 0 : value)
    }

    /// A number truncated to an integer; nil if the integer does not fit into 64 bits.
    package var asInteger: Int64? {
        switch self {
        case .integer(let value): return value
        case .real(let value): return Int64(exactly: value.rounded(.towardZero))
        case .text:
            guard let whole = asDecimal?.rounded(.trunc) else { return nil }
            return Int64(whole.description)
        case .null, .blob: return nil
        }
    }

    package var asReal: Double? {
        switch self {
        case .integer(let value): Double(value)
        case .real(let value): value
        case .text: asDecimal.flatMap { Double($0.description) }
        case .null, .blob: nil
        }
    }

    package var asDecimal: Decimal? {
        switch self {
        case .integer(let value): Decimal(rowText: String(value))
        case .real(let value): value.isFinite ? Decimal(rowText: "\(value)") : nil
        case .text(let text): Decimal(rowText: text)
        case .null, .blob: nil
        }
    }
}

package enum ArithmeticOperator: String, Sendable, Hashable, Codable, CaseIterable {
    case add, subtract, multiply, divide, remainder, power
    // Bit operations on integers. `shiftRight` keeps the sign.
    case bitwiseAnd, bitwiseOr, bitwiseXor, shiftLeft, shiftRight

    package var isBitwise: Bool {
        switch self {
        case .bitwiseAnd, .bitwiseOr, .bitwiseXor, .shiftLeft, .shiftRight: true
        case .add, .subtract, .multiply, .divide, .remainder, .power: false
        }
    }
}
