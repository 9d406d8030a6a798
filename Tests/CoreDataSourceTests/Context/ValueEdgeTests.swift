import CoreDataSource
import ErrorExpectations
import Foundation
import Testing

@MainActor
struct ValueEdgeTests {
    private final class Entry: ManagedObject {
        override class var entityName: String { "Entry" }
    }

    private func entries(
        _ attributes: [AttributeDescription], unique: [[String]] = []
    ) async throws -> (PersistentContainer, PlainDataSource<Entry>) {
        var model = ManagedObjectModel(
            name: "Entries",
            entities: [EntityDescription(name: "Entry", attributes: attributes, uniquenessConstraints: unique)])
        model.classes = ["Entry": Entry.self]
        let container = try await PersistentContainer(model: model, store: .inMemory)
        return (container, try container.dataSource(PlainDataSource<Entry>.self))
    }

    /// The first alternative was tried alone.
    @Test func aPatternOfAlternativesTakesEachOfThem() async throws {
        var code = AttributeDescription(name: "code", type: .string, isOptional: true)
        code.pattern = "a|ab"
        let (_, entries) = try await entries([code])
        for good in ["a", "ab"] {
            try await entries.perform { try $0.insert(Entry.self).setAttribute(good, at: 0) }
        }
        for bad in ["abc", "xa", "a\n", ""] {
            await expectError(.validationFailed) {
                try await entries.perform { try $0.insert(Entry.self).setAttribute(bad, at: 0) }
            }
        }
    }

    /// The store found it out, refused the save, and then every later one with it.
    @Test func derivedValuesAreCheckedForUniqueness() async throws {
        let (container, entries) = try await entries(
            [
                AttributeDescription(name: "title", type: .string, isOptional: true),
                AttributeDescription(
                    name: "lower", type: .string, isOptional: true, derivationExpression: "lowercase:(title)"),
            ], unique: [["lower"]])
        await expectError(.uniquenessViolated) {
            try await entries.perform { context in
                try context.insert(Entry.self).setAttribute("Same", at: 0)
                try context.insert(Entry.self).setAttribute("SAME", at: 0)
            }
        }
        #expect(container.pendingSaveCount == 0)
        try await entries.perform { try $0.insert(Entry.self).setAttribute("Same", at: 0) }
        await expectError(.uniquenessViolated) {
            try await entries.perform { try $0.insert(Entry.self).setAttribute("SAME", at: 0) }
        }
        #expect(container.pendingSaveCount == 0)
        // The new one comes first, the old one gives its value up after it.
        try await entries.perform { context in
            let old = try context.fetch(Entry.self).first
            try context.insert(Entry.self).setAttribute("same", at: 0)
            old?.setAttribute("Other", at: 0)
        }
        #expect(try container.main.count(Entry.self) == 2)
    }

    /// SQLite limits the row, not the value: it refused the save, and then every later one with it.
    @Test func valuesThatAreTooLongTogetherAreRefused() async throws {
        let (container, _) = PersistentContainer.faulty(longestValue: 1_000)
        let senders = try container.dataSource(SenderDataSource.self)
        let long = String(repeating: "x", count: 600)
        try await senders.add(ItemData(key: long, number: 1, text: "short"))
        await expectError(.valueTooLarge) {
            try await senders.add(ItemData(key: long, number: 1, text: long))
        }
        #expect(container.pendingSaveCount == 0)
    }

    @Test func equalDecimalsAreFoundHoweverTheyAreWritten() async throws {
        let (container, entries) = try await entries([
            AttributeDescription(name: "price", type: .decimal, isOptional: true)
        ])
        let short = Decimal(sign: .plus, exponent: -1, significand: 15)
        try await entries.perform { context in
            try context.insert(Entry.self)
                .setAttribute(Decimal(sign: .plus, exponent: -2, significand: 150), at: 0)
        }
        let isSame = try await entries.perform { context in
            let entry = try context.fetch(Entry.self).first
            entry?.setAttribute(short, at: 0)
            return entry?.changedAttributes.isEmpty
        }
        #expect(isSame == true)
        #expect(try container.main.count(Entry.self) == 1)
    }
}
