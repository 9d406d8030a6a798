import CoreDataSource
import Foundation
import TestSupport
import Testing

/// Literals of a format with more digits than a `Double` has.
@MainActor @Suite struct LongLiteralTests {
    private final class Amount: ManagedObject {
        override class var entityName: String { "Amount" }

        var exact: Decimal { attribute(at: 0) }
        var near: Double { attribute(at: 1) }
    }

    private func withAmounts(
        _ values: [(Decimal, Double)], _ body: @MainActor (PersistentContainer) throws -> Void
    ) async throws {
        let model = ManagedObjectModel(
            name: "Amounts",
            entities: [
                EntityDescription(
                    name: "Amount",
                    attributes: [
                        AttributeDescription(name: "exact", type: .decimal),
                        AttributeDescription(name: "near", type: .double),
                    ])
            ])
        let directory = try TemporaryDirectory()
        for location in [StoreLocation.inMemory, .sqlite(directory.store)] {
            let container = try await PersistentContainer(model: model, store: location)
            try await container.dataSource(PlainDataSource<Amount>.self).perform { context in
                for (exact, near) in values {
                    let amount = try context.insert(Amount.self)
                    amount.setAttribute(exact, at: 0)
                    amount.setAttribute(near, at: 1)
                }
            }
            try body(container)
            try await container.close()
        }
    }

    /// Digits without a sign, as an integer and the number of its digits after the point.
    private struct Literal {
        let text: String
        let scaled: [UInt8]

        init(_ random: inout SeededRandom) {
            let count = 1 + random.next(below: 38)
            var digits = (0..<count).map { _ in UInt8(random.next(below: 10)) }
            let whole = random.next(below: count)
            if whole > 0, digits[0] == 0 { digits[0] = 7 }
            self.init(digits, whole: whole)
        }

        init(_ digits: [UInt8], whole: Int) {
            let characters = digits.map { Character("\($0)") }
            text = (whole == 0 ? "0" : String(characters[..<whole])) + "." + String(characters[whole...])
            let before = [UInt8](repeating: 0, count: 38 - whole)
            scaled = before + digits + [UInt8](repeating: 0, count: 38 + whole - digits.count)
        }
    }

    @Test func randomLiteralsFindTheirDecimals() async throws {
        var random = SeededRandom(seed: 38)
        let literals = (0..<80).map { _ in Literal(&random) }
        let values = try literals.map { (try #require(Decimal(string: $0.text)), 0.0) }
        try await withAmounts(values) { container in
            for literal in literals {
                @MainActor func count(_ format: String) throws -> Int {
                    try container.main.count(Amount.self, where: FetchPredicate(format: format))
                }
                let equal = literals.count { $0.scaled == literal.scaled }
                let less = literals.count { $0.scaled.lexicographicallyPrecedes(literal.scaled) }
                #expect(try count("exact == \(literal.text)") == equal, "\(literal.text)")
                #expect(try count("exact IN {1, \(literal.text)}") == equal, "\(literal.text)")
                #expect(try count("-exact == -\(literal.text)") == equal, "\(literal.text)")
                #expect(try count("exact < \(literal.text)") == less, "\(literal.text)")
                #expect(try count("exact BETWEEN {0, \(literal.text)}") == less + equal, "\(literal.text)")
                let predicate = try FetchPredicate<Amount>(format: "exact == \(literal.text)")
                #expect(try FetchPredicate<Amount>(format: predicate.predicateFormat) == predicate)
            }
        }
    }

    @Test func besideADoubleALiteralIsTheNearestDouble() async throws {
        try await withAmounts([(0, .pi), (1, .pi.nextUp)]) { container in
            for format in [
                "near == 3.14159265358979323846", "near IN {3.14159265358979323846}", "3.14159265358979323846 == near",
                "near <= 3.14159265358979323846", "near + 0 == 3.14159265358979323846",
            ] {
                let count = try container.main.count(Amount.self, where: FetchPredicate(format: format))
                #expect(count == 1, "\(format)")
            }
        }
    }

    @Test(arguments: ["DATE(0.12345678901234567890)", "STORED(0.12345678901234567890)"])
    func aCallTakesALongNumber(format: String) throws {
        _ = try FetchPredicate<ManagedObject>(format: "a == \(format)")
    }
}
