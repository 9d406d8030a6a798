import CoreDataSource
import ErrorExpectations
import Foundation
import TestSupport
import Testing

/// A predicate of Foundation never ends the process, whatever the rows hold. Without the guards, these tests do not fail, but
/// abort.
@MainActor @Suite struct MacroSafetyTests {
    /// Each has a sum that is too large, or a quotient by zero, inside a node of its own.
    @Test func everyNodeEvaluatesItsPartsSafely() async throws {
        let (wides, places): ([Int64], [Int]) = ([1, 2], [1, 2])
        let (names, shares): ([Int64: String], [Int32: String]) = ([1: "a"], [1: "a"])
        let (one, two, zero): (Int64, Float, Float) = (1, 2, 0)
        let pattern = /a/
        let predicates: [Predicate<EveryType>] = [
            #Predicate { names[$0.integer64Required + 1] == "a" },
            #Predicate { shares[1 / $0.integer32Required] == "a" },
            #Predicate { names[$0.integer64Required + 1, default: "b"] == "a" },
            #Predicate { ($0.integer64Required + one == one ? two : $0.floatZero) / two > zero },
            #Predicate { object in wides.filter { $0 < object.integer64Required + 1 }.max() == 2 },
            #Predicate { object in wides.filter { $0 < object.integer64Required + 1 }.min() == 2 },
            #Predicate { object in
                wides.starts(with: wides.filter { $0 < object.integer64Required + 1 }) && object.stringRequired == "x"
            },
            #Predicate { object in wides.contains(wides.filter { $0 > object.integer64Required + 1 }) && false },
            #Predicate { $0.integer64Required + one == one && $0.stringRequired.contains(pattern) },
            #Predicate { ($0.integer64Required...one).contains(1) && $0.stringRequired.utf8.count == 1 },
            Predicate { Expressions.TypeCheck<_, Int32>(sum($0)) },
            Predicate {
                Expressions.build_Equal(
                    lhs: Expressions.ForceCast<_, Int32>(sum($0)), rhs: Expressions.build_Arg(Int32(1)))
            },
            Predicate {
                Expressions.build_Equal(
                    lhs: Expressions.ConditionalCast<_, Int32>(sum($0)), rhs: Expressions.build_Arg(Int32?(1)))
            },
        ]
        try await withOne { container in
            for (number, predicate) in predicates.enumerated() {
                let found = try container.main.count(EveryType.self, where: FetchPredicate(predicate))
                #expect(found == 0, "predicate \(number)")
            }
            let error = failure(
                container, #Predicate { object in places[0..<object.stringRequired.utf8.count + 5].isEmpty })
            #expect(error?.cause == "an index beyond the end of a list")
            let cast = Predicate<EveryType> {
                Expressions.build_Equal(
                    lhs: Expressions.ForceCast<_, Int32>(
                        Expressions.build_KeyPath(root: $0, keyPath: \EveryType.stringRequired)),
                    rhs: Expressions.build_Arg(Int32(1)))
            }
            #expect(failure(container, cast)?.cause == "as! Int32 of a String")
        }
    }

    /// A node of an app, or of a later Foundation, could evaluate its parts in any way.
    @Test func anUnknownNodeIsAnErrorWithItsName() async throws {
        try await withOne { container in
            let error = failure(container, Predicate<EveryType> { _ in UnknownExpression() })
            #expect(error?.code == .predicateFailed)
            #expect(error?.cause == "UnknownExpression, which is not supported")
        }
    }

    // MARK: Decimals

    @Test func aProductOfDecimalsThatIsTooSmallIsNil() async throws {
        let small = Decimal(sign: .plus, exponent: -65, significand: 1)
        try await withOne {
            $0.decimalRequired = small
        } _: { container in
            let none = #Predicate<EveryType> {
                $0.decimalRequired * small > small || $0.decimalRequired * small <= small
            }
            let found = try container.main.count(EveryType.self, where: FetchPredicate(none))
            #expect(found == 0)
            let larger = Decimal(sign: .minus, exponent: -63, significand: 1)
            let product = Decimal(sign: .minus, exponent: -128, significand: 1)
            let some = #Predicate<EveryType> { $0.decimalRequired * larger == product }
            let foundLarger = try container.main.count(EveryType.self, where: FetchPredicate(some))
            #expect(foundLarger == 1)
        }
    }

    /// The exponents alone are too small, but the digits that do not fit make up for it.
    @Test func aProductOfManyDigitsIsRounded() async throws {
        let digits = try #require(Decimal(string: "1234567890123456789012345678901234567"))
        let one = Decimal(sign: .plus, exponent: -100, significand: digits)
        let other = Decimal(sign: .plus, exponent: -40, significand: digits)
        let (low, high) = (
            Decimal(sign: .plus, exponent: -68, significand: 1), Decimal(sign: .plus, exponent: -66, significand: 1)
        )
        try await withOne {
            $0.decimalRequired = one
        } _: { container in
            let predicate = #Predicate<EveryType> {
                $0.decimalRequired * other > low && $0.decimalRequired * other < high
            }
            let found = try container.main.count(EveryType.self, where: FetchPredicate(predicate))
            #expect(found == 1)
        }
    }

    @Test(arguments: ["NaN", "1e-128", "-1e127", "0", "99999999999999999999999999999999999999e90", "7e-100"])
    func decimalsAtTheEdgesCanBeCalculatedWith(_ text: String) async throws {
        let number = Decimal(string: text) ?? .nan
        try await withOne {
            $0.decimalRequired = number.isNaN ? 0 : number
        } _: { container in
            for other in [number, -number, 0, 1, .nan, .leastNonzeroMagnitude, .greatestFiniteMagnitude] {
                let predicate = #Predicate<EveryType> {
                    $0.decimalRequired * other > other || $0.decimalRequired + other < other
                        || $0.decimalRequired - other == other || -$0.decimalRequired * $0.decimalRequired > other
                }
                _ = try container.main.fetch(EveryType.self, where: FetchPredicate(predicate))
            }
        }
    }

    // MARK: Ranges

    @Test func aRangeOfMoreNumbersThanCanBeCountedIsGoneThrough() async throws {
        let (wide, half, from) = (Int64(0)...Int64.max, Int64.min..<Int64.max, Int64(0)...)
        try await withOne {
            $0.integer64Zero = 5
        } _: { container in
            for predicate: Predicate<EveryType> in [
                #Predicate { object in wide.contains { $0 == object.integer64Zero } },
                #Predicate { object in from.contains { $0 == object.integer64Zero } },
                #Predicate { object in !half.allSatisfy { $0 > object.integer64Zero } },
                #Predicate { wide.contains($0.integer64Zero) && half.contains($0.integer64Zero) },
                #Predicate { (0..<5).contains(wide.count) || $0.integer64Zero == 5 },
            ] {
                let found = try container.main.count(EveryType.self, where: FetchPredicate(predicate))
                #expect(found == 1)
            }
        }
    }

    @Test func aRangeIsNotGoneThroughForEver() async throws {
        let (wide, from, short) = (Int64(0)...Int64.max, Int64(0)..., Int16(32_000)...)
        try await withOne {
            $0.integer64Zero = -1
        } _: { container in
            for predicate: Predicate<EveryType> in [
                #Predicate { object in wide.contains { $0 == object.integer64Zero } },
                #Predicate { object in from.contains { $0 == object.integer64Zero } },
                #Predicate { object in short.contains { $0 == object.integer16Required } },
                #Predicate { object in wide.contains { one in wide.contains { $0 + one == object.integer64Zero } } },
                #Predicate { object in wide.filter { $0 > object.integer64Zero }.isEmpty },
                #Predicate { wide.max()! == $0.integer64Zero },
                #Predicate { wide.starts(with: wide) && $0.booleanRequired },
            ] {
                let error = failure(container, predicate)
                #expect(error?.code == .predicateFailed)
                #expect(error?.cause?.hasPrefix("a closure over ") == true, "\(error as Any)")
            }
        }
    }

    // MARK: Support

    private typealias Expressions = PredicateExpressions

    /// One more than the largest number.
    private func sum(_ object: PredicateExpressions.Variable<EveryType>) -> some StandardPredicateExpression<Int64> {
        Expressions.build_Arithmetic(
            lhs: Expressions.build_KeyPath(root: object, keyPath: \.integer64Required),
            rhs: Expressions.build_Arg(Int64(1)), op: .add)
    }

    private func failure(_ container: PersistentContainer, _ predicate: Predicate<EveryType>) -> DataSourceError? {
        expectThrows(DataSourceError.self) {
            try container.main.fetch(EveryType.self, where: FetchPredicate(predicate))
        }
    }

    private func withOne(_ body: @MainActor (PersistentContainer) throws -> Void) async throws {
        try await withOne({ _ in }, body)
    }

    private func withOne(
        _ fill: @escaping @Sendable (EveryType) -> Void,
        _ body: @MainActor (PersistentContainer) throws -> Void
    ) async throws {
        let directory = try TemporaryDirectory()
        let container = try await PersistentContainer(model: .allTypes, store: .sqlite(directory.store))
        try await container.dataSource(PlainDataSource<Bounded, EveryType>.self).perform { context in
            var values = RandomValues(random: SeededRandom(seed: 7))
            let object = try context.insert(EveryType.self)
            values.fill(object)
            object.stringRequired = "K"
            object.integer64Required = .max
            object.integer32Required = 0
            fill(object)
        }
        try body(container)
        try await container.close()
    }
}

/// A node of an unknown type.
private struct UnknownExpression: StandardPredicateExpression {
    func evaluate(_ bindings: PredicateBindings) throws -> Bool { true }
}
