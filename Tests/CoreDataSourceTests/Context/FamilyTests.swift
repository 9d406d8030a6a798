import CoreDataSource
import ErrorExpectations
import Foundation
import Synchronization
import Testing

/// Entities with entities below them.
@MainActor
struct FamilyTests {
    /// The key was looked for in one table, and not checked again by the save.
    @Test func findOrInsertMindsTheWholeFamilysConstraint() async throws {
        let container = try await PersistentContainer(model: .chat, store: .inMemory)
        let everything = try container.dataSource(PlainDataSource<Item>.self)
        try await everything.perform { try $0.insert(Room.self).key = "same" }
        await expectError(.uniquenessViolated) {
            try await everything.perform { _ = try $0.findOrInsert(Sender.self, where: \.key, equals: "same") }
        }
    }

    /// It was missed while the other source's object was registered here.
    @Test func anotherSourcesKeyCountsEvenIfItsObjectWasRead() async throws {
        let container = try await PersistentContainer(model: .chat, store: .inMemory)
        let rooms = try container.dataSource(RoomDataSource.self)
        let senders = try container.dataSource(SenderDataSource.self)
        try await rooms.add(ItemData(key: "same", number: 1))
        await expectError(.uniquenessViolated) {
            try await senders.perform { context in
                let room = try context.fetch(Room.self).first
                try context.insert(Sender.self).key = room?.key ?? ""
            }
        }
    }

    /// Each found the value free, for neither had saved when the other one checked.
    @Test func twoSourcesThatSaveAtOnceCannotBothHaveTheKey() async throws {
        let container = try await PersistentContainer(model: .chat, store: .inMemory)
        let rooms = try container.dataSource(RoomDataSource.self)
        let senders = try container.dataSource(SenderDataSource.self)
        let keys = (0..<300).map { "key \($0)" }
        await withTaskGroup(of: Void.self) { group in
            for key in keys {
                group.addTask { try? await rooms.perform { try $0.insert(Room.self).key = key } }
                group.addTask { try? await senders.perform { try $0.insert(Sender.self).key = key } }
            }
        }
        #expect(try container.main.fetch(Item.self).map(\.key).sorted() == keys.sorted())
    }

    @Test func firstReturnsTheFirstOfTheWholeFamily() async throws {
        let container = try await PersistentContainer(model: .chat, store: .inMemory)
        let everything = try container.dataSource(PlainDataSource<Item>.self)
        try await everything.perform { context in
            try context.insert(Sender.self).key = "older"
            try context.insert(Message.self).key = "newer"
            let first = try context.first(Item.self, where: \.number, equals: 0)
            #expect(first?.key == "older")
        }
        #expect(try container.main.first(Item.self, where: \.number, equals: 0)?.key == "older")
    }

    /// Each entity was counted, and looked into, in a state of its own.
    @Test func anObjectReplacedByAnotherEntityIsCountedOnce() async throws {
        let directory = try TemporaryDirectory()
        let container = try await PersistentContainer(
            model: .chat, store: .sqlite(directory.store), configuration: .init(synchronous: .normal))
        let everything = try container.dataSource(PlainDataSource<Item>.self)
        try await everything.perform { try $0.insert(Room.self).key = "same" }
        let isDone = Atomic(false)
        let writing = Task.detached {
            defer { isDone.store(true, ordering: .releasing) }
            for step in 0..<2000 {
                try await everything.perform { context in
                    if let old = try context.first(Item.self, where: \.key, equals: "same") { context.delete(old) }
                    let new: Item = try step % 2 == 0 ? context.insert(Sender.self) : context.insert(Room.self)
                    new.key = "same"
                }
            }
        }
        while !isDone.load(ordering: .acquiring) {
            #expect(try container.main.count(Item.self) == 1)
            #expect(try container.main.first(Item.self, where: \.key, equals: "same") != nil)
            await Task.yield()
        }
        try await writing.value
        try await container.close()
    }

    // MARK: A concrete parent

    private final class Person: ManagedObject {
        override class var entityName: String { "Person" }
    }

    private final class Employee: ManagedObject {
        override class var entityName: String { "Employee" }
    }

    private let model = ManagedObjectModel(
        name: "People",
        entities: [
            EntityDescription(name: "Employee", parentName: "Person"),
            EntityDescription(
                name: "Person", attributes: [AttributeDescription(name: "name", type: .string, isOptional: true)]),
        ])

    /// Sub-entities were counted twice while there were edits of the parent's own objects.
    @Test func aCountWithEditsCountsEachObjectOnce() async throws {
        var model = model
        model.classes = ["Person": Person.self, "Employee": Employee.self]
        let container = try await PersistentContainer(model: model, store: .inMemory)
        let people = try container.dataSource(PlainDataSource<Person, Employee>.self)
        try await people.perform { context in
            _ = try context.insert(Employee.self)
            _ = try context.insert(Person.self)
        }
        let count = try await people.perform { context in
            _ = try context.insert(Person.self)
            return try context.count(Person.self)
        }
        #expect(count == 3)
    }
}
