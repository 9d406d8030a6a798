import CoreDataSource
import Foundation
import TestSupport
import Testing

/// What is calculated is what Foundation would calculate, and nil where it would trap, whoever calculates.
@MainActor @Suite struct MacroArithmeticTests {
    private let one: Int32 = 1
    private let short: Int16 = 1

    /// The same conditions twice: as the store answers them, and joined with what only the objects can say.
    @Test(arguments: StoreKind.allCases)
    func aResultTooLargeForItsTypeIsNilEverywhere(_ kind: StoreKind) async throws {
        let (one, short, none) = (one, short, Int32(0))
        try await withRows(kind) { container in
            for (number, (stored, asked, answer)) in pairs(one, short, none).enumerated() {
                #expect(FetchPredicate(stored).needsObjects == nil, "\(number)")
                #expect(FetchPredicate(asked).needsObjects != nil, "\(number)")
                for predicate in [stored, asked] {
                    let found = try container.main.count(EveryType.self, where: FetchPredicate(predicate))
                    #expect(found == (answer ? 1 : 0), "\(number): \(FetchPredicate(predicate))")
                }
            }
        }
    }

    private typealias Pair = (Predicate<EveryType>, Predicate<EveryType>, Bool)

    /// Of a row with the largest integer of 32 bits and of 64, and the smallest of 16.
    private func pairs(_ one: Int32, _ short: Int16, _ none: Int32) -> [Pair] {
        let wide: Int64 = 1
        return [
            (
                #Predicate { $0.integer32Required + one > 0 },
                #Predicate { $0.integer32Required + one > 0 || $0.stringRequired.utf8.count > 1 }, false
            ),
            (
                #Predicate { $0.integer16Required - short < 0 },
                #Predicate { $0.integer16Required - short < 0 || $0.stringRequired.utf8.count > 1 }, false
            ),
            (
                #Predicate { -$0.integer16Required > 0 },
                #Predicate { -$0.integer16Required > 0 || $0.stringRequired.utf8.count > 1 }, false
            ),
            (
                #Predicate { $0.integer16Required / -short > 0 || $0.integer16Required % -short == 0 },
                #Predicate {
                    $0.integer16Required / -short > 0 || $0.integer16Required % -short == 0
                        || $0.stringRequired.utf8.count > 1
                }, false
            ),
            (
                #Predicate { $0.integer32Required + one - one == $0.integer32Required },
                #Predicate {
                    $0.integer32Required + one - one == $0.integer32Required || $0.stringRequired.utf8.count > 1
                }, false
            ),
            (
                #Predicate { $0.integer32Required - one + one == $0.integer32Required },
                #Predicate {
                    $0.integer32Required - one + one == $0.integer32Required || $0.stringRequired.utf8.count > 1
                }, true
            ),
            (
                #Predicate { $0.integer32Required * $0.integer32Required == $0.integer32Required + one },
                #Predicate {
                    $0.integer32Required * $0.integer32Required == $0.integer32Required + one
                        || $0.stringRequired.utf8.count > 1
                }, true
            ),
            (
                #Predicate { $0.integer32Required + one != one },
                #Predicate { $0.integer32Required + one != one || $0.stringRequired.utf8.count > 1 }, true
            ),
            (
                #Predicate { $0.integer32Required / none == one || $0.integer32Required % none >= none },
                #Predicate {
                    $0.integer32Required / none == one || $0.integer32Required % none >= none
                        || $0.stringRequired.utf8.count > 1
                }, false
            ),
            (
                #Predicate { $0.integer64Required + wide > 0 || $0.integer64Required + wide <= 0 },
                #Predicate {
                    $0.integer64Required + wide > 0 || $0.integer64Required + wide <= 0
                        || $0.stringRequired.utf8.count > 1
                }, false
            ),
            (
                #Predicate { (one...$0.integer32Required + one).contains($0.integer32Zero) },
                #Predicate {
                    (one...$0.integer32Required + one).contains($0.integer32Zero) || $0.stringRequired.utf8.count > 1
                }, false
            ),
        ] + optionalPairs(wide)
    }

    private func optionalPairs(_ wide: Int64) -> [Pair] {
        [
            (
                #Predicate { $0.integer64Optional.flatMap { $0 + wide } == nil },
                #Predicate { $0.integer64Optional.flatMap { $0 + wide } == nil || $0.stringRequired.utf8.count > 1 },
                true
            ),
            (
                #Predicate { $0.integer64Optional.flatMap { $0 + wide } ?? wide == wide },
                #Predicate {
                    $0.integer64Optional.flatMap { $0 + wide } ?? wide == wide || $0.stringRequired.utf8.count > 1
                }, true
            ),
            (
                #Predicate { ($0.booleanRequired ? $0.integer64Required + wide : wide) == wide },
                #Predicate {
                    ($0.booleanRequired ? $0.integer64Required + wide : wide) == wide
                        || $0.stringRequired.utf8.count > 1
                }, false
            ),
        ]
    }

    // MARK: Forms

    private func form(_ predicate: Predicate<EveryType>) -> String { FetchPredicate(predicate).predicateFormat }

    @Test func aLimitIsNamedOnlyWhereItCanBeReached() {
        let (one, short) = (one, short)
        let number = "COALESCE(integer32Zero, 0)"
        #expect(
            form(#Predicate { $0.integer32Zero + one > 5 }) == "(\(number) + 1) > 5 AND (\(number) + 1) <= 2147483647")
        #expect(form(#Predicate { $0.integer32Zero + one < 5 }) == "(\(number) + 1) < 5")
        #expect(form(#Predicate { 5 > $0.integer32Zero + one }) == "(\(number) + 1) < 5")
        #expect(form(#Predicate { $0.integer32Zero * 3 == 5 }) == "(\(number) * 3) == 5")
        #expect(
            form(#Predicate { $0.integer32Zero / 3 > 5 && $0.integer32Zero % 3 > 5 }).contains("2147483647") == false)
        #expect(
            form(#Predicate { -$0.integer16Zero > short })
                == "(-(COALESCE(integer16Zero, 0))) > 1 AND (-(COALESCE(integer16Zero, 0))) <= 32767")
        #expect(
            form(#Predicate { $0.integer32Zero + one == $0.integer32Required })
                == "TERNARY((\(number) + 1) <= 2147483647, \(number) + 1, NULL) == COALESCE(integer32Required, 0)")
    }

    /// A value that is not a number would be nil in the store, and infinity cannot be had by a division there.
    @Test func aResultThatMayBeNaNIsEvaluatedOnTheObjects() {
        let (zero, half) = (0.0, 0.5)
        #expect(form(#Predicate { $0.doubleZero / half > 1 }).hasPrefix("(COALESCE(doubleZero, 0.0) / 0.5) > 1.0"))
        #expect(form(#Predicate { $0.doubleZero / zero > 1 }) == "<a division by a number that may be zero>")
        #expect(
            form(#Predicate { $0.doubleZero / $0.doubleRequired > 1 }) == "<a division by a number that may be zero>")
        #expect(FetchPredicate(#Predicate<EveryType> { $0.doubleZero * $0.doubleZero > 1 }).needsObjects == nil)
        #expect(FetchPredicate(#Predicate<EveryType> { $0.doubleZero * half == $0.doubleRequired }).needsObjects == nil)
        #expect(FetchPredicate(#Predicate<EveryType> { $0.doubleZero * zero == half }).needsObjects == nil)
        let compared = "<a calculated number that may be NaN and is compared with nil>"
        #expect(form(#Predicate { $0.doubleZero * zero == $0.doubleZero }) == compared)
        #expect(form(#Predicate { ($0.doubleOptional.flatMap { $0 - $0 } ?? half) == half }) == compared)
        #expect(form(#Predicate { $0.doubleOptional.flatMap { $0 * $0 } == nil }) == compared)
    }

    private func withRows(_ kind: StoreKind, _ body: @MainActor (PersistentContainer) throws -> Void) async throws {
        let directory = try TemporaryDirectory()
        let container = try await PersistentContainer(
            model: .allTypes, store: kind == .sqlite ? .sqlite(directory.store) : .inMemory)
        try await container.dataSource(PlainDataSource<Bounded, EveryType>.self).perform { context in
            var values = RandomValues(random: SeededRandom(seed: 7))
            let object = try context.insert(EveryType.self)
            values.fill(object)
            object.stringRequired = "K"
            object.integer16Required = .min
            object.integer32Required = .max
            object.integer64Required = .max
            object.integer64Optional = .max
            object.booleanRequired = true
        }
        try body(container)
        try await container.close()
    }
}
