import CoreDataSource
import ErrorExpectations
import Foundation
import TestSupport
import Testing

/// A fetch by a predicate of Foundation finds the objects for which Foundation answers yes.
///
/// `COREDATASOURCE_MACRO_ROUNDS` says how many times all predicates are tried with other values.
@MainActor @Suite struct MacroMeaningTests {
    private let rounds = Int(ProcessInfo.processInfo.environment["COREDATASOURCE_MACRO_ROUNDS"] ?? "") ?? 5

    @Test(arguments: StoreKind.allCases)
    func aFetchFindsWhatFoundationFinds(_ kind: StoreKind) async throws {
        let seed = testSeed()
        try await withRows(kind, seed) { container in
            var values = RandomValues(random: SeededRandom(seed: seed))
            let objects = try container.main.fetch(EveryType.self)
            for _ in 0..<rounds {
                for (number, predicate) in predicates(&values).enumerated() {
                    let expected = try objects.filter { try predicate.evaluate($0) }.map(\.objectID)
                    let found = try container.main.fetch(EveryType.self, where: FetchPredicate(predicate)).map(
                        \.objectID)
                    try #require(
                        found == expected,
                        "seed \(seed), predicate \(number): \(predicate) as \(FetchPredicate(predicate))")
                    #expect(
                        try container.main.count(EveryType.self, where: FetchPredicate(predicate)) == expected.count)
                }
            }
        }
    }

    /// Limit and offset count the objects that are left after the objects themselves were asked.
    @Test(arguments: StoreKind.allCases)
    func pagesAreThoseOfTheMatchingObjects(_ kind: StoreKind) async throws {
        try await withRows(kind, 1) { container in
            let predicate = #Predicate<EveryType> { $0.stringRequired.utf8.count > 1 && $0.integer32Required >= 0 }
            let sort = [SortDescriptor(\EveryType.integer32Required), SortDescriptor(\EveryType.stringRequired)]
            let all = try container.main.fetch(EveryType.self, where: FetchPredicate(predicate), order: sort)
            #expect(all.count > 4)
            let page = try container.main.fetch(
                EveryType.self, where: FetchPredicate(predicate), order: sort, limit: 3, offset: 1)
            #expect(page.map(\.objectID) == all.dropFirst().prefix(3).map(\.objectID))
        }
    }

    @Test func trapsOfFoundationBecomeNil() async throws {
        try await withRows(.sqlite, 1) { container in
            let sums = #Predicate<EveryType> {
                $0.integer64Required + $0.integer64Required != 0 || $0.stringRequired.utf8.count < 0
            }
            let stored = #Predicate<EveryType> { $0.integer64Required + $0.integer64Required != 0 }
            let found = try container.main.count(EveryType.self, where: FetchPredicate(stored))
            #expect(found > 0)
            #expect(try container.main.count(EveryType.self, where: FetchPredicate(sums)) == found)
            let zero: Int32 = 0
            let divided = #Predicate<EveryType> { $0.integer32Required / zero == 1 }
            #expect(try container.main.fetch(EveryType.self, where: FetchPredicate(divided)).isEmpty)
        }
    }

    @Test func aForcedUnwrapOfNilIsNilOrAnError() async throws {
        try await withRows(.sqlite, 1) { container in
            let stored = #Predicate<EveryType> { $0.stringOptional! == "a" }
            let found = try container.main.fetch(EveryType.self, where: FetchPredicate(stored))
            #expect(found.allSatisfy { $0.stringOptional == "a" })
            let asked = #Predicate<EveryType> { $0.stringOptional!.utf8.count == 1 }
            expectError(.predicateFailed) {
                try container.main.fetch(EveryType.self, where: FetchPredicate(asked))
            }
        }
    }

    private func withRows(
        _ kind: StoreKind, _ seed: UInt64, _ body: @MainActor (PersistentContainer) async throws -> Void
    ) async throws {
        let directory = try TemporaryDirectory()
        let container = try await PersistentContainer(
            model: .allTypes, store: kind == .sqlite ? .sqlite(directory.store) : .inMemory)
        try await container.dataSource(PlainDataSource<Bounded, EveryType>.self).perform { context in
            var values = RandomValues(random: SeededRandom(seed: seed))
            for _ in 0..<80 { values.fill(try context.insert(EveryType.self)) }
        }
        try await body(container)
        try await container.close()
    }
}

/// Values that are near the edges, and often equal.
struct RandomValues {
    var random: SeededRandom

    mutating func pick<Value>(_ values: [Value]) -> Value { values[Int.random(in: 0..<values.count, using: &random)] }

    mutating func text() -> String {
        let pieces = [
            "a", "A", "é", "e\u{301}", "K", "\u{212A}", "\r\n", "\r", "\0", "%", "_", "'", "ß", "😀", "ab", ";",
        ]
        return (0..<pick([0, 1, 1, 2, 3])).map { _ in pick(pieces) }.joined()
    }

    mutating func small() -> Int32 { Int32.random(in: -4...4, using: &random) }
    mutating func large() -> Int64 { pick([.min, .max, 0, 1, -1, Int64(small())]) }
    mutating func real() -> Double { pick([0, -0.0, 0.5, -0.5, 1e300, -.infinity, .infinity, Double(small()), 0.1]) }
    mutating func day() -> Date { Date(timeIntervalSinceReferenceDate: pick([0, 1, -1.5, Double(small())])) }
    mutating func uuid() -> UUID { UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, UInt8(small() + 4))) }
    mutating func url() -> URL { pick(["about:blank", "https://a.b/c", "https://a.b/d"]).flatMapURL }
    mutating func number() -> Decimal { Decimal(small()) / pick([1, 2, 10]) }
    mutating func bytes() -> Data { Data(text().utf8) }
    mutating func orNil<Value>(_ value: Value) -> Value? { pick([value, value, nil]) }

    mutating func fill(_ object: EveryType) {
        object.stringRequired = text()
        object.stringOptional = orNil(text())
        object.integer16Required = Int16(small())
        object.integer16Optional = orNil(Int16(small()))
        object.integer32Required = small()
        object.integer64Required = large()
        object.integer64Optional = orNil(large())
        object.doubleRequired = real()
        object.doubleOptional = orNil(real())
        object.floatRequired = Float(real())
        object.booleanRequired = pick([true, false])
        object.booleanOptional = orNil(pick([true, false]))
        object.dateRequired = day()
        object.dateOptional = orNil(day())
        object.uuidRequired = uuid()
        object.uuidOptional = orNil(uuid())
        object.uriRequired = url()
        object.binaryRequired = bytes()
        object.binaryOptional = orNil(bytes())
        object.decimalRequired = number()
        object.decimalOptional = orNil(number())
        if pick([true, false]) { object.integer32Zero = small() }
        if pick([true, false]) { object.doubleZero = real() }
        if pick([true, false]) { object.booleanZero = pick([true, false]) }
    }
}

extension String {
    fileprivate var flatMapURL: URL { URL(string: self) ?? URL(filePath: "/") }
}
