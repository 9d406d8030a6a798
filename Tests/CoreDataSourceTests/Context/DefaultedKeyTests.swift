import CoreDataSource
import ErrorExpectations
import Foundation
import ManagedModel
import TestSupport
import Testing

/// Attributes that have to be unique and have a default value, which every new object has for a moment.
@MainActor
struct DefaultedKeyTests {
    /// They gathered in one place of the index: 800 objects took 6,000 steps each, and ten times as many took ten times as many.
    @Test(arguments: [500, 4_000])
    func aNewObjectCostsTheSameHoweverManyHadTheDefaultValue(count: Int) async throws {
        let container = try await container()
        let items = try container.dataSource(PlainDataSource<DefaultedItem>.self)
        let looks = try await items.perform { context in
            for number in 0..<count {
                let item = try context.findOrInsert(DefaultedItem.self, where: \.code, equals: "\(number)")
                (item.kind, item.number) = (1, Int64(number))
            }
            return context.uniqueIndexProbeCount
        }
        #expect(looks <= count * 4)
        #expect(try items.count(DefaultedItem.self) == count)
    }

    /// A thousand objects with one value are an error that is found, and not looked for a million times.
    @Test func manyObjectsThatKeepTheDefaultValueAreRefused() async throws {
        let container = try await container()
        let items = try container.dataSource(PlainDataSource<DefaultedItem>.self)
        let looks = Shared(0)
        await expectError(.uniquenessViolated) {
            try await items.perform { context in
                for number in 0..<4_000 {
                    let item = try context.insert(DefaultedItem.self)
                    (item.kind, item.number) = (1, Int64(number))
                }
                #expect(try context.first(DefaultedItem.self, where: \.code, equals: "") != nil)
                looks.value = context.uniqueIndexProbeCount
            }
        }
        #expect(looks.value <= 4_000 * 100)
    }

    @Test func theObjectThatHasTheDefaultValueIsFound() async throws {
        let container = try await container()
        let items = try container.dataSource(PlainDataSource<DefaultedItem>.self)
        let found = try await items.perform { context in
            let objects = try (0..<40).map { _ in try context.insert(DefaultedItem.self) }
            for (number, item) in objects.enumerated() where number != 33 {
                (item.code, item.kind, item.number) = ("\(number)", 2, Int64(number))
            }
            objects[33].number = 33
            return try context.first(DefaultedItem.self, where: \.code, equals: "")?.number
        }
        #expect(found == 33)
        let again = try await items.perform { context in
            let item = try context.findOrInsert(DefaultedItem.self, where: \.code, equals: "")
            let other = try context.findOrInsert(DefaultedItem.self, where: \.code, equals: "7")
            return [item.number, other.number]
        }
        #expect(again == [33, 7])
        await expectError(.uniquenessViolated) {
            try await items.perform { context in
                let item = try context.insert(DefaultedItem.self)
                (item.kind, item.number) = (9, 9)
            }
        }
    }

    /// The value of a constraint over two attributes between the setting of one and of the other.
    @Test func aPairIsComparedOnceBothAreSet() async throws {
        let container = try await container()
        let items = try container.dataSource(PlainDataSource<DefaultedItem>.self)
        let looks = try await items.perform { context in
            for number in 0..<2_000 {
                let item = try context.insert(DefaultedItem.self)
                item.kind = 1
                item.number = Int64(number)
                item.code = "\(number)"
            }
            return context.uniqueIndexProbeCount
        }
        #expect(looks <= 2_000 * 8)
        await expectError(.uniquenessViolated) {
            try await items.perform { context in
                let item = try context.insert(DefaultedItem.self)
                (item.kind, item.number, item.code) = (1, 1_999, "new")
            }
        }
    }

    /// After a fetch of all rows the store is not asked for what the index lacks.
    @Test func anObjectIsFoundByItsKeyAfterAnEditWasRolledBack() async throws {
        let directory = try TemporaryDirectory()
        let store = StoreLocation.sqlite(directory.url.appending(path: "items.sqlite"))
        let first = try await PersistentContainer(model: model, store: store)
        try await first.dataSource(PlainDataSource<DefaultedItem>.self).perform { context in
            let item = try context.insert(DefaultedItem.self)
            (item.code, item.kind, item.number) = ("stored", 1, 1)
        }
        try await first.close()
        let container = try await PersistentContainer(model: model, store: store)
        let items = try container.dataSource(PlainDataSource<DefaultedItem>.self)
        await expectThrows(CancellationError.self) {
            try await items.perform { context in
                for item in try context.fetch(DefaultedItem.self) { item.code = "edited" }
                #expect(try context.first(DefaultedItem.self, where: \.code, equals: "other") == nil)
                throw CancellationError()
            }
        }
        let number = try await items.perform { context in
            try context.findOrInsert(DefaultedItem.self, where: \.code, equals: "stored").number
        }
        #expect(number == 1)
        #expect(try items.count(DefaultedItem.self) == 1)
        try await container.close()
    }

    private func container() async throws -> PersistentContainer {
        try await PersistentContainer(model: model, store: .inMemory)
    }

    private var model: ManagedObjectModel {
        var model = ManagedObjectModel(
            name: "Defaulted",
            entities: [
                EntityDescription(
                    name: "DefaultedItem",
                    attributes: [
                        AttributeDescription(name: "code", type: .string, defaultValue: .string("")),
                        AttributeDescription(name: "kind", type: .integer64, defaultValue: .integer(0)),
                        AttributeDescription(name: "number", type: .integer64, defaultValue: .integer(0)),
                    ],
                    uniquenessConstraints: [["code"], ["kind", "number"]])
            ])
        model.classes = ["DefaultedItem": DefaultedItem.self]
        return model
    }
}

final class DefaultedItem: ManagedObject {
    override class var entityName: String { "DefaultedItem" }
    override class var attributeKeyPaths: [AnyKeyPath: String] {
        [\DefaultedItem.code: "code", \DefaultedItem.kind: "kind", \DefaultedItem.number: "number"]
    }

    var code: String {
        get { attribute(at: 0) }
        set { setAttribute(newValue, at: 0) }
    }
    var kind: Int64 {
        get { attribute(at: 1) }
        set { setAttribute(newValue, at: 1) }
    }
    var number: Int64 {
        get { attribute(at: 2) }
        set { setAttribute(newValue, at: 2) }
    }
}
