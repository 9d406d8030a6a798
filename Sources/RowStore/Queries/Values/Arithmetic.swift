package import Foundation

/// Arithmetic for queries. The results are the same in memory and in a database.
///
/// The result of an operation is null in these cases: an operand is null; the divisor is zero; an integer needs more than 64
/// bits; a decimal is out of its range; the result is NaN; a shift is by fewer than 0 or more than 63 bits. Integer division
/// drops the remainder. The result of a power is a real. Bit operations work on 64-bit integers in two's complement.
enum Arithmetic {
    static func combine(
        _ lhs: RowValue, _ operation: ArithmeticOperator, _ rhs: RowValue, as kind: ValueKind
    ) -> RowValue {
        if lhs == .null || rhs == .null { return .null }
        switch kind {
        case .integer:
            guard let lhs = lhs.asInteger, let rhs = rhs.asInteger else { return .null }
            return combine(lhs, operation, rhs).map { .integer($0) } ?? .null
        case .decimal:
            guard let lhs = lhs.asDecimal, let rhs = rhs.asDecimal else { return .null }
            return combine(lhs, operation, rhs).map { .text($0.description) } ?? .null
        default:
            guard let lhs = lhs.asReal, let rhs = rhs.asReal else { return .null }
            return .number(combine(lhs, operation, rhs))
        }
    }

    private static func combine(_ lhs: Int64, _ operation: ArithmeticOperator, _ rhs: Int64) -> Int64? {
        let result =
            switch operation {
            case .add: lhs.addingReportingOverflow(rhs)
            case .subtract: lhs.subtractingReportingOverflow(rhs)
            case .multiply: lhs.multipliedReportingOverflow(by: rhs)
            case .divide: lhs.dividedReportingOverflow(by: rhs)
            case .remainder: lhs.remainderReportingOverflow(dividingBy: rhs)
            case .bitwiseAnd: (partialValue: lhs & rhs, overflow: false)
            case .bitwiseOr: (partialValue: lhs | rhs, overflow: false)
            case .bitwiseXor: (partialValue: lhs ^ rhs, overflow: false)
            case .shiftLeft: (partialValue: lhs << rhs, overflow: !shiftCounts.contains(rhs))
            case .shiftRight: (partialValue: lhs >> rhs, overflow: !shiftCounts.contains(rhs))
            case .power: (partialValue: Int64(0), overflow: true)
            }
        return result.overflow ? nil : result.partialValue
    }

    /// The numbers of bits by which an integer can be shifted.
    private static let shiftCounts: ClosedRange<Int64> = 0...63

    private static func combine(_ lhs: Double, _ operation: ArithmeticOperator, _ rhs: Double) -> Double {
        switch operation {
        case .add: lhs + rhs
        case .subtract: lhs - rhs
        case .multiply: lhs * rhs
        case .divide: rhs == 0 ? .nan : lhs / rhs
        case .remainder: rhs == 0 ? .nan : fmod(lhs, rhs)
        case .power: pow(lhs, rhs)
        case .bitwiseAnd, .bitwiseOr, .bitwiseXor, .shiftLeft, .shiftRight: .nan
        }
    }

    private static func combine(_ lhs: Decimal, _ operation: ArithmeticOperator, _ rhs: Decimal) -> Decimal? {
        var (left, right, result) = (lhs, rhs, Decimal())
        let error: NSDecimalNumber.CalculationError
        switch operation {
        case .add: error = NSDecimalAdd(&result, &left, &right, .plain)
        case .subtract: error = NSDecimalSubtract(&result, &left, &right, .plain)
        case .multiply:
            // Foundation traps if the exponent is below the minimum.
            if lhs.exponent + rhs.exponent < Decimal.leastExponent { return nil }
            error = NSDecimalMultiply(&result, &left, &right, .plain)
        case .divide:
            if right.isZero { return nil }
            error = NSDecimalDivide(&result, &left, &right, .plain)
        case .remainder:
            if right.isZero { return nil }
            guard let quotient = combine(lhs, .divide, rhs), let whole = quotient.rounded(.trunc),
                let taken = combine(whole, .multiply, rhs)
            else { return nil }
            return combine(lhs, .subtract, taken)
        case .power, .bitwiseAnd, .bitwiseOr, .bitwiseXor, .shiftLeft, .shiftRight: return nil
        }
        return error == .overflow || error == .divideByZero || result.isNaN ? nil : result
    }

    static func negate(_ value: RowValue, as kind: ValueKind) -> RowValue {
        combine(kind == .decimal ? .text("0") : kind == .integer ? .integer(0) : .real(0), .subtract, value, as: kind)
    }

    /// Applies a function that has one number as its argument.
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

// Declared outside the extension of `FetchFunction`, because its cases hide the functions of Foundation with the same names.

private func naturalLogarithm(_ number: Double) -> Double { log(number) }

private func exponential(_ number: Double) -> Double { exp(number) }

extension Decimal {
    /// The minimum exponent of a decimal. The exponent is the power of ten of the last digit.
    fileprivate static let leastExponent = -128

    /// Returns the number rounded down, up or towards zero.
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
    /// Returns a real, or null for NaN. Negative zero becomes zero, as in a store.
    package static func number(_ value: Double) -> RowValue {
        value.isNaN ? .null : .real(value == 0 ? 0 : value)
    }

    /// The number, truncated to an integer; nil if the integer does not fit into 64 bits.
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
