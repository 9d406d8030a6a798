import CoreDataSource
import Foundation
import Testing

/// What lists and ranges of every type of numbers become, for attributes that are optional and for those that are not.
@Suite struct RangeTests {
    private func form(_ condition: FetchPredicate<EveryType>) -> String { condition.predicateFormat }

    private func form(of predicate: FetchPredicate<EveryType>) -> String { predicate.predicateFormat }

    @Test func closedRangesHaveBothEnds() {
        #expect(form(.isIn(\.integer16Required, 2...5)) == "integer16Required BETWEEN {2, 5}")
        #expect(form(.isIn(\.integer16Optional, 2...5)) == "integer16Optional BETWEEN {2, 5}")
        #expect(form(.isIn(\.integer32Required, 2...5)) == "integer32Required BETWEEN {2, 5}")
        #expect(form(.isIn(\.integer32Optional, 2...5)) == "integer32Optional BETWEEN {2, 5}")
        #expect(form(.isIn(\.integer64Required, 2...5)) == "integer64Required BETWEEN {2, 5}")
        #expect(form(.isIn(\.integer64Optional, 2...5)) == "integer64Optional BETWEEN {2, 5}")
        #expect(form(.isIn(\.floatRequired, 2...5)) == "floatRequired BETWEEN {2.0, 5.0}")
        #expect(form(.isIn(\.floatOptional, 2...5)) == "floatOptional BETWEEN {2.0, 5.0}")
        #expect(form(.isIn(\.doubleRequired, 2...5)) == "doubleRequired BETWEEN {2.0, 5.0}")
        #expect(form(.isIn(\.doubleOptional, 2...5)) == "doubleOptional BETWEEN {2.0, 5.0}")
        #expect(form(.isIn(\.decimalRequired, 2...5)) == form(of: .isIn(\EveryType.decimalRequired, 2...5)))
        #expect(form(.isIn(\.decimalOptional, 2...5)).hasPrefix("decimalOptional BETWEEN {"))
    }

    @Test func halfOpenRangesLackTheUpperEnd() {
        #expect(form(.isIn(\.integer16Required, 2..<5)) == "integer16Required >= 2 AND integer16Required < 5")
        #expect(form(.isIn(\.integer16Optional, 2..<5)) == "integer16Optional >= 2 AND integer16Optional < 5")
        #expect(form(.isIn(\.integer32Required, 2..<5)) == "integer32Required >= 2 AND integer32Required < 5")
        #expect(form(.isIn(\.integer32Optional, 2..<5)) == "integer32Optional >= 2 AND integer32Optional < 5")
        #expect(form(.isIn(\.integer64Required, 2..<5)) == "integer64Required >= 2 AND integer64Required < 5")
        #expect(form(.isIn(\.integer64Optional, 2..<5)) == "integer64Optional >= 2 AND integer64Optional < 5")
        #expect(form(.isIn(\.floatRequired, 2..<5)) == "floatRequired >= 2.0 AND floatRequired < 5.0")
        #expect(form(.isIn(\.floatOptional, 2..<5)) == "floatOptional >= 2.0 AND floatOptional < 5.0")
        #expect(form(.isIn(\.doubleRequired, 2..<5)) == "doubleRequired >= 2.0 AND doubleRequired < 5.0")
        #expect(form(.isIn(\.doubleOptional, 2..<5)) == "doubleOptional >= 2.0 AND doubleOptional < 5.0")
        #expect(form(.isIn(\.decimalRequired, 2..<5)) == form(of: .isIn(\EveryType.decimalRequired, 2..<5)))
        #expect(form(.isIn(\.decimalOptional, 2..<5)).hasPrefix("decimalOptional >= "))
    }

    /// A range of integers without an upper end is a sequence without an end.
    @Test func partialRangesHaveOneEnd() {
        #expect(form(.isIn(\.integer32Required, 2...)) == "integer32Required >= 2")
        #expect(form(.isIn(\.integer32Optional, 2...)) == "integer32Optional >= 2")
        #expect(form(.isIn(\.doubleRequired, ...5)) == "doubleRequired <= 5.0")
        #expect(form(.isIn(\.doubleOptional, ..<5)) == "doubleOptional < 5.0")
        #expect(form(of: .isIn(\EveryType.integer64Required, 2...)) == "integer64Required >= 2")
    }

    @Test func listsAreTestedAsLists() {
        let few: Set<Int16> = [2]
        let numbers: [Int64] = [2, 3]
        #expect(form(.isIn(\.integer16Required, [2, 3])) == "integer16Required IN {2, 3}")
        #expect(form(.isIn(\.integer16Required, few)) == "integer16Required IN {2}")
        #expect(form(.isIn(\.integer16Optional, few)) == "integer16Optional IN {2}")
        #expect(form(.isIn(\.integer16Optional, [2, nil])) == "integer16Optional IN {2, NULL}")
        #expect(form(.isIn(\.integer32Required, [2, 3])) == "integer32Required IN {2, 3}")
        #expect(form(.isIn(\.integer32Optional, [2] as Set)) == "integer32Optional IN {2}")
        #expect(form(.isIn(\.integer64Required, numbers)) == "integer64Required IN {2, 3}")
        #expect(form(.isIn(\.integer64Optional, numbers)) == "integer64Optional IN {2, 3}")
        #expect(form(.isIn(\.integer64Optional, stride(from: 2, to: 6, by: 2))) == "integer64Optional IN {2, 4}")
        #expect(form(.isIn(\.floatRequired, [2, 3])) == "floatRequired IN {2.0, 3.0}")
        #expect(form(.isIn(\.floatOptional, [2.5])) == "floatOptional IN {2.5}")
        #expect(form(.isIn(\.doubleRequired, [2, 3])) == "doubleRequired IN {2.0, 3.0}")
        #expect(form(.isIn(\.doubleOptional, [2.5] as Set)) == "doubleOptional IN {2.5}")
        #expect(form(.isIn(\.decimalRequired, [2])) == form(of: .isIn(\EveryType.decimalRequired, [2])))
        #expect(form(.isIn(\.decimalOptional, [2] as Set)).hasPrefix("decimalOptional IN {"))
    }

    @Test func predicatesTakeTheSameRanges() {
        #expect(form(of: .isIn(\EveryType.integer16Required, 2...5)) == "integer16Required BETWEEN {2, 5}")
        #expect(form(of: .isIn(\EveryType.integer16Optional, 2...5)) == "integer16Optional BETWEEN {2, 5}")
        #expect(
            form(of: .isIn(\EveryType.integer32Required, 2..<5)) == "integer32Required >= 2 AND integer32Required < 5")
        #expect(
            form(of: .isIn(\EveryType.integer64Optional, 2..<5)) == "integer64Optional >= 2 AND integer64Optional < 5")
        #expect(form(of: .isIn(\EveryType.floatOptional, 2...5)) == "floatOptional BETWEEN {2.0, 5.0}")
        #expect(form(of: .isIn(\EveryType.doubleRequired, 2..<5)) == "doubleRequired >= 2.0 AND doubleRequired < 5.0")
        #expect(form(of: .isIn(\EveryType.integer64Required, [2, 3])) == "integer64Required IN {2, 3}")
        #expect(form(of: .isIn(\EveryType.integer64Optional, [2] as Set)) == "integer64Optional IN {2}")
    }

    @MainActor @Test(arguments: StoreKind.allCases)
    func rangesFindTheRowsBetweenTheirBounds(kind: StoreKind) async throws {
        try await withContainer(kind) { container, _ in
            let contacts = try container.dataSource(ContactDataSource.self)
            try await contacts.perform { context in
                for age in 0..<10 {
                    let contact = try context.insert(ContactEntity.self)
                    contact.uid = "\(age)"
                    contact.age = Int32(age)
                }
            }
            let ages = [Int32(3), 7]
            #expect(try contacts.fetch(ContactEntity.self, where: .isIn(\.age, 2...5)).map(\.age) == [2, 3, 4, 5])
            #expect(try contacts.fetch(ContactEntity.self, where: .isIn(\.age, 2..<5)).map(\.age) == [2, 3, 4])
            #expect(try contacts.fetch(ContactEntity.self, where: .isIn(\.age, 8...)).map(\.age) == [8, 9])
            #expect(try contacts.fetch(ContactEntity.self, where: .isIn(\.age, ages)).map(\.age) == ages)
            #expect(try contacts.count(ContactEntity.self, where: .isIn(\.age, 2..<2)) == 0)
        }
    }
}
