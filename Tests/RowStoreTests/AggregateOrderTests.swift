import Foundation
import RowStore
import TestSupport
import Testing

/// The aggregates of related rows do not depend on the order of the rows.
///
/// `COREDATASOURCE_SEED` repeats a run.
struct AggregateOrderTests {
    private static let seed = testSeed()
    private static let functions: [FetchFunction] = [.sum, .average, .min, .max, .median, .mode, .stddev, .count]

    private func value(_ kind: ValueKind, _ random: inout SeededRandom) -> RowValue {
        switch kind {
        case .integer:
            let near = Int64(random.next() % 5)
            return .integer(
                [near, -near, .max - near, .min + near, Int64(bitPattern: random.next())][Int(random.next() % 5)])
        case .decimal:
            let digits = String(repeating: "9", count: 1 + Int(random.next() % 38))
            return .text(
                ["", "-"][Int(random.next() % 2)]
                    + ["1", digits, "0.1", "1" + digits.dropFirst().map { _ in "0" }.joined()][Int(random.next() % 4)])
        default:
            return .real([1e308, -1e308, 1, -1, 1e-300, 0.1, 1e17][Int(random.next() % 7)])
        }
    }

    @Test(arguments: [ValueKind.integer, .decimal, .real, .date])
    func theOrderOfValuesDoesNotChangeAnAggregate(kind: ValueKind) {
        var random = SeededRandom(seed: Self.seed)
        for _ in 0..<2_000 {
            var values = (0..<random.next() % 6).map { _ in value(kind, &random) }
            for function in Self.functions {
                let result = function.combine(values, kind)
                for _ in 0..<3 {
                    values.shuffle(using: &random)
                    #expect(function.combine(values, kind) == result, "\(function) of \(values), seed \(Self.seed)")
                }
            }
        }
    }

    @Test func aSumIsNilOnlyIfItsTypeCannotHoldIt() {
        let (most, least) = (RowValue.integer(.max), RowValue.integer(.min))
        #expect(FetchFunction.sum.combine([most, .integer(1), .integer(-1)], .integer) == most)
        #expect(FetchFunction.sum.combine([.integer(1), most, .integer(-1)], .integer) == most)
        #expect(FetchFunction.sum.combine([least, least, most, most, .integer(3)], .integer) == .integer(1))
        #expect(FetchFunction.sum.combine([most, .integer(1)], .integer) == .null)
        #expect(FetchFunction.sum.combine([least, .integer(-1)], .integer) == .null)
        // A mean is a real, which holds what the sum cannot.
        #expect(FetchFunction.average.combine([most, most], .integer) == .real(0x1p63))
        #expect(FetchFunction.average.combine([], .integer) == .null)
        #expect(FetchFunction.sum.combine([], .integer) == .integer(0))
        let large = RowValue.text(String(repeating: "9", count: 38))
        let negative = RowValue.text("-" + String(repeating: "9", count: 38))
        #expect(FetchFunction.sum.combine([large, .text("0.1"), negative], .decimal) == .text("0.1"))
        #expect(FetchFunction.sum.combine([large, .text("0.1")], .decimal) == .null)
        #expect(FetchFunction.sum.combine([.text("1"), .text("no number")], .decimal) == .null)
        #expect(FetchFunction.sum.combine([], .decimal) == .text("0"))
        #expect(FetchFunction.sum.combine([.text("1.5"), .text("-1.5")], .decimal) == .text("0"))
    }

    @Test func theSumOfNoDecimalsIsZero() throws {
        #expect(try Aggregation(.sum, column: 0, .decimal).result() == .text("0"))
    }

    @Test func theStandardDeviationIsThatOfTheExactMean() {
        let values: [RowValue] = [.real(1e17), .real(1), .real(-1e17), .real(1)]
        #expect(FetchFunction.stddev.combine(values, .real) == FetchFunction.stddev.combine(values.reversed(), .real))
        #expect(FetchFunction.stddev.combine([.integer(2), .integer(4)], .integer) == .real(1))
        #expect(FetchFunction.stddev.combine([.real(.nan)], .real) == .null)
    }
}
