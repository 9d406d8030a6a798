import ErrorExpectations
import Foundation
import ManagedModel
import RowStore
import Testing

/// Calculating with values, and adding them up.
struct ValueTests {
    private let layout = ModelLayout(
        ManagedObjectModel(
            name: "Test",
            entities: [EntityDescription(name: "A", attributes: [AttributeDescription(name: "a", type: .integer64)])])
    ).entities[0]

    private func value(_ expression: RowExpression) throws -> RowValue {
        try expression.evaluate(StoredRow(key: 0, row: RowSnapshot(columnCount: 1)), layout, QueryBudget())
    }

    private func combine(
        _ one: RowValue, _ operation: ArithmeticOperator, _ other: RowValue, _ kind: ValueKind
    ) throws -> RowValue {
        try value(.arithmetic(.constant(one), operation, .constant(other), kind))
    }

    @Test func operationsWithoutAResultAreNull() throws {
        #expect(try combine(.integer(.max), .add, .integer(1), .integer) == .null)
        #expect(try combine(.integer(.min), .divide, .integer(-1), .integer) == .null)
        #expect(try combine(.integer(.min), .remainder, .integer(0), .integer) == .null)
        #expect(try combine(.integer(1), .divide, .integer(0), .integer) == .null)
        #expect(try combine(.real(1), .divide, .real(0), .real) == .null)
        #expect(try combine(.real(.infinity), .subtract, .real(.infinity), .real) == .null)
        #expect(try combine(.text("1"), .divide, .text("0"), .decimal) == .null)
        #expect(try combine(.text("1e120"), .multiply, .text("1e120"), .decimal) == .null)
        #expect(try combine(.null, .add, .integer(1), .integer) == .null)
        #expect(try value(.negated(.constant(.integer(.min)), .integer)) == .null)
        #expect(try value(.function(.abs, [.constant(.integer(.min))], .integer)) == .null)
        #expect(try value(.function(.sqrt, [.constant(.real(-1))], .real)) == .null)
    }

    @Test func numbersAreCalculatedInTheirKind() throws {
        #expect(try combine(.integer(7), .divide, .integer(2), .integer) == .integer(3))
        #expect(try combine(.integer(-7), .remainder, .integer(2), .integer) == .integer(-1))
        #expect(try combine(.integer(7), .divide, .real(2), .real) == .real(3.5))
        #expect(try combine(.text("0.1"), .add, .text("0.2"), .decimal) == .text("0.3"))
        #expect(try combine(.integer(7), .remainder, .text("2.5"), .decimal) == .text("2"))
        #expect(try combine(.integer(2), .power, .integer(10), .real) == .real(1024))
        #expect(try value(.function(.floor, [.constant(.text("-1.5"))], .decimal)) == .text("-2"))
        #expect(try value(.function(.ceiling, [.constant(.text("-1.5"))], .decimal)) == .text("-1"))
        #expect(try value(.function(.trunc, [.constant(.real(-1.5))], .real)) == .real(-1))
    }

    /// Bit by bit, by the digits of both.
    @Test func bitsAreThoseOfTwosComplement() throws {
        let numbers: [Int64] = [.min, .min + 1, -64, -2, -1, 0, 1, 5, 62, 63, 64, 65, 0x0F0F_0F0F_0F0F_0F0F, .max]
        let digits = { (number: Int64) in (0..<64).map { UInt64(bitPattern: number) / (1 << UInt64($0)) % 2 } }
        let number = { (digits: [UInt64]) in
            RowValue.integer(Int64(bitPattern: digits.enumerated().reduce(0) { $0 + $1.element << UInt64($1.offset) }))
        }
        for one in numbers {
            let left = digits(one)
            #expect(
                try value(.function(.onesComplement, [.constant(.integer(one))], .integer))
                    == number(left.map { 1 - $0 }))
            for other in numbers {
                let both = zip(left, digits(other))
                func result(_ operation: ArithmeticOperator) throws -> RowValue {
                    try combine(.integer(one), operation, .integer(other), .integer)
                }
                #expect(try result(.bitwiseAnd) == number(both.map { $0 * $1 }))
                #expect(try result(.bitwiseOr) == number(both.map { max($0, $1) }))
                #expect(try result(.bitwiseXor) == number(both.map { $0 == $1 ? 0 : 1 }))
                guard (0...63).contains(other) else {
                    #expect(try result(.shiftLeft) == .null)
                    #expect(try result(.shiftRight) == .null)
                    continue
                }
                let count = Int(other)
                #expect(
                    try result(.shiftLeft) == number(Array(repeating: 0, count: count) + left.dropLast(count)))
                #expect(
                    try result(.shiftRight)
                        == number(left.dropFirst(count) + Array(repeating: left[63], count: count)))
            }
        }
        #expect(try combine(.null, .bitwiseAnd, .integer(1), .integer) == .null)
        #expect(try combine(.integer(1), .shiftLeft, .null, .integer) == .null)
    }

    private func list(_ function: FetchFunction, _ values: [RowValue], _ kind: ValueKind) throws -> RowValue {
        try value(.function(function, values.map { .constant($0) }, kind))
    }

    @Test func statisticsOfAListDoNotDependOnItsOrder() throws {
        let numbers: [RowValue] = [.integer(4), .integer(-1), .null, .integer(4), .integer(9), .integer(9)]
        for shift in numbers.indices {
            let values = Array(numbers[shift...] + numbers[..<shift])
            #expect(try list(.median, values, .integer) == .real(4))
            #expect(try list(.mode, values, .integer) == .integer(4))
            #expect(
                try list(.stddev, [.null] + values.map { $0 == .integer(-1) ? .integer(4) : $0 }, .integer)
                    == .real(6.0.squareRoot()))
        }
        let decimals: [RowValue] = [.text("10"), .text("9.5"), .text("1e1")]
        #expect(try list(.median, decimals, .decimal) == .text("10"))
        #expect(try list(.median, Array(decimals.prefix(2)), .decimal) == .text("9.75"))
        #expect(try list(.mode, decimals, .decimal) == .text("10"))
        #expect(try list(.median, [.real(1e308), .real(1.5e308)], .real) == .real(1.25e308))
        #expect(try list(.median, [.real(.infinity), .real(.infinity)], .real) == .real(.infinity))
        #expect(try list(.median, [.real(.infinity), .real(-.infinity)], .real) == .null)
        #expect(try list(.mode, [.real(1), .real(.nan)], .real) == .null)
        for function in [FetchFunction.median, .mode, .stddev] { #expect(try list(function, [.null], .real) == .null) }
    }

    @Test(arguments: [
        (Int64.max, 0x1p63, -1), (Int64.min, -0x1p63, 0), (9_007_199_254_740_993, 9_007_199_254_740_992, 1),
        (0, 0.5, -1),
        (0, -0.5, 1), (-1, -1.5, 1), (0, .infinity, -1), (0, -.infinity, 1), (5, 5, 0),
    ])
    func anIntegerAndARealAreComparedWithoutRounding(integer: Int64, real: Double, expected: Int) {
        #expect(compareExactly(integer, real) == expected)
    }

    private func result(
        _ operation: Aggregation.Operation, _ kind: ValueKind, _ values: [RowValue]
    ) throws -> RowValue {
        var aggregation = Aggregation(operation, column: 0, kind)
        for value in values {
            var row = RowSnapshot(columnCount: 1)
            row.setValue(value, 0)
            aggregation.add(StoredRow(key: 0, row: row))
        }
        return try aggregation.result()
    }

    @Test func sumsAreExactWhateverTheirOrder() throws {
        #expect(try result(.sum, .real, [.real(1e16), .real(1), .real(-1e16), .real(1)]) == .real(2))
        #expect(try result(.sum, .real, Array(repeating: .real(0.1), count: 10)) == .real(1))
        #expect(try result(.sum, .integer, [.integer(.max), .integer(1), .integer(-1)]) == .integer(.max))
        #expect(try result(.sum, .decimal, [.text("0.1"), .null, .text("0.2")]) == .text("0.3"))
        #expect(try result(.sum, .real, [.real(.infinity), .real(1)]) == .real(.infinity))
        let large: [RowValue] = [.real(1e308), .real(1e308), .real(-1e308), .real(-1e308), .real(0.5)]
        for shift in large.indices {
            let values = Array(large[shift...] + large[..<shift])
            #expect(try result(.sum, .real, values) == .real(0.5))
            #expect(try result(.average, .real, values) == .real(0.1))
        }
        #expect(try result(.sum, .real, [.real(1e308), .real(1e308)]) == .real(.infinity))
        #expect(try result(.sum, .real, [.real(-.infinity), .real(1e308)]) == .real(-.infinity))
        #expect(try result(.average, .integer, [.integer(.max), .integer(.max)]) == .real(0x1p63))
        #expect(try result(.average, .integer, [.null]) == .null)
        #expect(try result(.sum, .integer, []) == .integer(0))
    }

    /// Compared with whole numbers of 128 bits, of which each value is one.
    @Test func aSumOfRealsIsThatOfTheirDigits() throws {
        var random = SystemRandomNumberGenerator()
        for round in 0..<400 {
            let largestShift = round % 41
            let values = (0..<(round + 1)).map { _ -> (real: Double, exact: Int128) in
                let digits = Int64.random(in: -(1 << 53)...(1 << 53), using: &random)
                let shift = Int.random(in: 0...largestShift, using: &random)
                return (Double(digits) * Double(sign: .plus, exponent: shift, significand: 1), Int128(digits) << shift)
            }
            let sum = try result(.sum, .real, values.map { .real($0.real) })
            #expect(sum == .real(Double(values.reduce(0) { $0 + $1.exact })))
        }
    }

    @Test func aSumThatDoesNotFitIsAnError() {
        for values in [[RowValue.integer(.max), .integer(1)], [.integer(.min), .integer(-1)]] {
            expectError(.numberOverflow) { try result(.sum, .integer, values) }
        }
        let decimals = [RowValue.text("1e60"), .text("1e-60")]
        expectThrows(DataSourceError.self) { try result(.sum, .decimal, decimals) }
        expectThrows(DataSourceError.self) { try result(.sum, .real, [.real(.infinity), .real(-.infinity)]) }
        expectThrows(DataSourceError.self) { try result(.average, .real, [.real(-.infinity), .real(.infinity)]) }
    }

    @Test func decimalsAreAddedUpExactlyInAnyOrder() throws {
        var random = SystemRandomNumberGenerator()
        let wide = ["1e127", "-1e127", "0.1", "1e-127", "-1e-127", "99999999999999999999999999999999999999"]
        for _ in 0..<50 {
            let values = wide.shuffled(using: &random).map { RowValue.text($0) }
            #expect(
                try result(.sum, .decimal, values + [.text("-99999999999999999999999999999999999999")]) == .text("0.1"))
        }
        for _ in 0..<200 {
            let cents = (0..<20).map { _ in Int64.random(in: -1_000_000_000_000...1_000_000_000_000, using: &random) }
            let values = cents.map { RowValue.text((Decimal($0) / 100).description) }
            #expect(try result(.sum, .decimal, values) == .text((Decimal(cents.reduce(0, +)) / 100).description))
        }
        #expect(
            try result(.average, .decimal, [.text("0.1"), .text("1e40"), .text("-1e40"), .null, .text("0.1")])
                == .text("0.05"))
    }

    /// Foundation traps where a product has more digits after the point than a decimal.
    @Test func decimalsAreCalculatedWithWithoutTraps() throws {
        let extremes = [
            "1e-128", "1e-65", "-1e-127", "1e127", "3", "-0.7", "99999999999999999999999999999999999999", "0",
        ]
        let operations: [ArithmeticOperator] = [.add, .subtract, .multiply, .divide, .remainder, .power]
        for one in extremes {
            for other in extremes {
                for operation in operations {
                    let expression = RowExpression.arithmetic(
                        .constant(.text(one)), operation, .constant(.text(other)), .decimal)
                    let value = try value(expression)
                    if operation == .multiply, one == "1e-65", other == "1e-65" { #expect(value == .null) }
                    if operation == .multiply, one == "3", other == "-0.7" { #expect(value == .text("-2.1")) }
                }
            }
        }
    }

    @Test func extremesAreFoundByValue() throws {
        let decimals: [RowValue] = [.text("9"), .text("10"), .null, .text("-1")]
        #expect(try result(.min, .decimal, decimals) == .text("-1"))
        #expect(try result(.max, .decimal, decimals) == .text("10"))
        #expect(try result(.count, .decimal, decimals) == .integer(3))
        #expect(try result(.max, .text, []) == .null)
    }
}
