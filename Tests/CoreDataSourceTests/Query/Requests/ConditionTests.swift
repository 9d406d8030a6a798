import CoreDataSource
import ErrorExpectations
import Foundation
import Testing

/// Conditions that operators on key paths make.
@Suite struct ConditionTests {
    private func form(_ condition: FetchPredicate<ContactEntity>) -> String { condition.predicateFormat }

    @Test func operatorsCompareAttributes() {
        #expect(form(\.age == 1) == "age == 1")
        #expect(form(\.age != 1) == "age != 1")
        #expect(form(\.age < 1) == "age < 1")
        #expect(form(\.age <= 1) == "age <= 1")
        #expect(form(\.age > 1) == "age > 1")
        #expect(form(\.age >= 1) == "age >= 1")
        #expect(form(\.isFavorite == true) == "isFavorite == TRUE")
        #expect(form(\.score > 0.5) == "score > 0.5")
    }

    @Test func optionalsCompareWithNilAndWithValues() {
        #expect(form(\.phone == nil) == "phone == NULL")
        #expect(form(\.phone != nil) == "phone != NULL")
        #expect(form(\.phone == "x") == "phone == \"x\"")
        #expect(form(\.birthday < Date(timeIntervalSinceReferenceDate: 5)) == "birthday < DATE(5.0)")
    }

    @Test func rangesHoldAttributes() {
        #expect(form(18...30 ~= \.age) == "age BETWEEN {18, 30}")
        #expect(form(18..<30 ~= \.age) == "age >= 18 AND age < 30")
        #expect(form("a"..."c" ~= \.phone) == "phone BETWEEN {\"a\", \"c\"}")
        #expect(form("a"..<"c" ~= \.phone) == "phone >= \"a\" AND phone < \"c\"")
        #expect(form(.isIn(\.age, [1, 2])) == "age IN {1, 2}")
        #expect(form(.isIn(\.phone, ["a", nil])) == "phone IN {\"a\", NULL}")
    }

    @Test func stringsAreTestedWithOptions() {
        #expect(form(.contains(\.name, "x")) == "name CONTAINS \"x\"")
        #expect(form(.contains(\.phone, "x", [.caseInsensitive, .diacriticInsensitive])) == "phone CONTAINS[cd] \"x\"")
        #expect(form(.beginsWith(\.name, "x")) == "name BEGINSWITH \"x\"")
        #expect(form(.endsWith(\.name, "x", [.localized])) == "name ENDSWITH[l] \"x\"")
        #expect(form(.like(\.name, "x*", [.characters])) == "name LIKE[u] \"x*\"")
        #expect(form(.matches(\.name, "x+")) == "name MATCHES \"x+\"")
        #expect(form(.equal(\.name, "x", [.caseInsensitive])) == "name ==[c] \"x\"")
    }

    @Test func theRootOfLaterKeyPathsIsInferred() {
        let condition = \ContactEntity.age > 18 && \.name == "x" || !(\.phone == nil)
        #expect(form(condition) == "(age > 18 AND name == \"x\") OR (NOT phone == NULL)")
        #expect(form(\.age > 18 && .contains(\.name, "x")) == "age > 18 AND name CONTAINS \"x\"")
    }

    /// A chain that takes the compiler long would not be accepted at all.
    @Test func longChainsCompile() {
        let condition =
            \ContactEntity.age > 18 && \.name == "x" && \.score < 3.5 && \.phone == "3" && \.isFavorite == true
            && \.age != 4 && \.name != "q" && \.note == "r" && \.age <= 3 && \.age >= 5
            || \.phone == nil && \.score > -1
            || 1...5 ~= \.age && .beginsWith(\.name, "a") && !(\.note != nil)
        #expect(form(condition).contains("age >= 5"))
    }

    @Test func aBooleanIsNegated() {
        #expect(form(!\.isFavorite) == "isFavorite != TRUE")
        #expect(form(!\.isFavorite && \.age > 3) == "isFavorite != TRUE AND age > 3")
        #expect(form(\.age > 3 || !\.isFavorite) == "age > 3 OR isFavorite != TRUE")
    }

    @Test func aConditionDescribesItselfAsItsFormat() {
        let condition: FetchPredicate<ContactEntity> = \.age > 3 && \.name != "x"
        #expect("\(condition)" == "age > 3 AND name != \"x\"")
    }

    @Test func bothSidesOfAChainAreOneList() {
        let one: FetchPredicate<ContactEntity> = \.age > 1 && \.age > 2
        let other: FetchPredicate<ContactEntity> = \.age > 3 && \.age > 4
        #expect(form(one && other) == "age > 1 AND age > 2 AND age > 3 AND age > 4")
        #expect(form(\.age > 0 && other) == "age > 0 AND age > 3 AND age > 4")
        #expect(form((\.age > 0 || other) || (one || \.age > 5)).hasSuffix("(age > 1 AND age > 2) OR age > 5"))
        #expect(form((\.age > 0 || \.age > 1) && other) == "(age > 0 OR age > 1) AND age > 3 AND age > 4")
    }

    private static let growth:
        [@Sendable (FetchPredicate<ContactEntity>, FetchPredicate<ContactEntity>) -> FetchPredicate] = [
            { $0 || $1 }, { $1 || $0 }, { $0 && $1 }, { $1 && $0 },
        ]

    /// - Parameter length: Of the chain that is added each time.
    @Test(arguments: growth.indices, [1, 2, 31, 40, 64])
    func aChainMayGrowOnEitherSide(growth: Int, length: Int) throws {
        let add = ConditionTests.growth[growth]
        var chain = \ContactEntity.age != -1
        var numbers: [Int] = []
        for first in stride(from: 0, to: 5_000, by: length) {
            let terms = (first..<first + length).map {
                \ContactEntity.age != Int32($0)
            }
            chain = add(chain, terms.dropFirst().reduce(terms[0], growth < 2 ? { $0 || $1 } : { $0 && $1 }))
            numbers = growth % 2 == 0 ? numbers + (first..<first + length) : Array(first..<first + length) + numbers
        }
        #expect(!chain.description.contains("nested deeper"))
        let words = chain.description.split { !"-0123456789".contains($0) }
        #expect(words.compactMap { Int($0) }.filter { $0 >= 0 } == numbers)
    }

    @Test func aPropertyThatIsNoAttributeIsAnErrorOfTheFetch() async throws {
        try await withContainer { container, _ in
            expectError(.unknownAttribute) {
                try container.main.fetch(ContactEntity.self, where: \.isDeleted == true)
            }
        }
    }
}
