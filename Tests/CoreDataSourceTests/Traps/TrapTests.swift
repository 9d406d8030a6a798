import CoreDataSource
import Foundation
import Testing

/// Misuse that the compiler cannot see traps with a message that says what to do instead.
struct TrapTests {
    @Test func settingAnAttributeOfAMainObjectTraps() async throws {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let contacts = try await makeContacts()
            try await contacts.add(ContactData(uid: "1", name: "Guan Yu"))
            try await MainActor.run {
                try contacts.main.first(ContactEntity.self, where: \.uid == "1")?.name = "Zhang Fei"
            }
        }
        #expect(
            try #require(result).standardErrorString.contains(
                "ContactEntity.name was set on an object of the main context or of container.read, which is read-only. Edit the object in a hook or in perform { } of its data source, or edit a copy of the object in a draft."
            ))
    }

    /// Whether an edit is a mistake does not depend on the values.
    @Test func settingAMainObjectsAttributeToTheValueThatItHasTrapsToo() async throws {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let contacts = try await makeContacts()
            try await contacts.add(ContactData(uid: "1", name: "Guan Yu"))
            try await MainActor.run {
                let contact = try #require(try contacts.main.first(ContactEntity.self, where: \.uid == "1"))
                contact.name = contact.name
            }
        }
        #expect(
            try #require(result).standardErrorString.contains(
                "ContactEntity.name was set on an object of the main context or of container.read, which is read-only. Edit the object in a hook or in perform { } of its data source, or edit a copy of the object in a draft."
            ))
    }

    @Test func settingAMainObjectsNumberToTheValueThatItHasTraps() async throws {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let contacts = try await makeContacts()
            try await contacts.add(ContactData(uid: "1", name: "Guan Yu"))
            try await MainActor.run {
                let contact = try #require(try contacts.main.first(ContactEntity.self, where: \.uid == "1"))
                (contact.age, contact.score) = (contact.age, contact.score)
            }
        }
        #expect(try #require(result).standardErrorString.contains("ContactEntity.age was set on an object of the main"))
    }

    @Test func settingAMainObjectsMissingValueToNilTraps() async throws {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let contacts = try await makeContacts()
            try await contacts.add(ContactData(uid: "1", name: "Guan Yu"))
            try await MainActor.run {
                try contacts.main.first(ContactEntity.self, where: \.uid == "1")?.note = nil
            }
        }
        #expect(
            try #require(result).standardErrorString.contains("ContactEntity.note was set on an object of the main"))
    }

    @Test func settingARowsAttributeInAReadToTheValueThatItHasTraps() async throws {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let container = try await PersistentContainer(model: .contacts, store: .inMemory)
            let contacts = try await container.dataSource(ContactDataSource.self)
            try await contacts.add(ContactData(uid: "1", name: "Guan Yu"))
            try await container.read { context in
                let contact = try #require(try context.first(ContactEntity.self))
                contact.name = contact.name
            }
        }
        #expect(
            try #require(result).standardErrorString.contains("ContactEntity.name was set on an object of the main"))
    }

    @Test func performAndWaitInsideItsOwnContextTraps() async throws {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let contacts = try await makeContacts()
            try await contacts.perform { _ in try contacts.performAndWait { _ in } }
        }
        #expect(
            try #require(result).standardErrorString.contains(
                "performAndWait of ContactDataSource was called inside a private context or container.read, and could wait for itself. In a hook or perform { }, use the context that is passed in, and write to other data sources afterwards."
            ))
    }

    @Test func performAndWaitInsideAHookTraps() async throws {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let container = try await PersistentContainer(model: .contacts, store: .inMemory)
            try await container.dataSource(WaitingDataSource.self).add(1)
        }
        #expect(
            try #require(result).standardErrorString.contains(
                "performAndWait of WaitingDataSource was called inside a private context"))
    }

    /// It would wait for a reset that waits for the read.
    @Test func performAndWaitInsideAReadTraps() async throws {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let container = try await PersistentContainer(model: .contacts, store: .inMemory)
            let contacts = try await container.dataSource(ContactDataSource.self)
            try await container.read { _ in try contacts.performAndWait { _ in } }
        }
        #expect(
            try #require(result).standardErrorString.contains(
                "performAndWait of ContactDataSource was called inside a private context or container.read"))
    }

    /// It would wait for a reset that waits for the read.
    @Test func flushAndWaitInsideAReadTraps() async throws {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let container = try await PersistentContainer(model: .contacts, store: .inMemory)
            try await container.read { _ in try container.flushAndWait() }
        }
        #expect(
            try #require(result).standardErrorString.contains(
                "flushAndWait was called inside a private context or container.read, and could wait for itself. Call flush() or flushAndWait() after the hook, perform { } or read { } has returned."
            ))
    }

    /// It would wait for saves that wait for the context.
    @Test func flushAndWaitInsideAPrivateContextTraps() async throws {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let container = try await PersistentContainer(model: .contacts, store: .inMemory)
            let contacts = try await container.dataSource(ContactDataSource.self)
            try await contacts.perform { _ in try container.flushAndWait() }
        }
        #expect(
            try #require(result).standardErrorString.contains(
                "flushAndWait was called inside a private context or container.read"))
    }

    /// Two data sources that wait for each other would hang.
    @Test func performAndWaitInsideAnotherContextTraps() async throws {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let container = try await PersistentContainer(model: .contacts, store: .inMemory)
            let contacts = try await container.dataSource(ContactDataSource.self)
            let groups = try await container.dataSource(GroupDataSource.self)
            try await contacts.perform { _ in try groups.performAndWait { _ in } }
        }
        #expect(
            try #require(result).standardErrorString.contains(
                "performAndWait of GroupDataSource was called inside a private context"))
    }

    @Test func editingOutsideOfABatchTraps() async throws {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let contacts = try await makeContacts()
            try await insertByHand(contacts.tier)
        }
        #expect(
            try #require(result).standardErrorString.contains(
                "An object of ContactDataSource was inserted, edited or deleted outside of a batch."))
    }

    @Test func editingAnObjectOfAnEndedBatchTraps() async throws {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let contacts = try await makeContacts()
            try await contacts.add(ContactData(uid: "1", name: "early"))
            try await renameByHand(contacts.tier)
        }
        #expect(
            try #require(result).standardErrorString.contains(
                "An object of ContactDataSource was inserted, edited or deleted outside of a batch."))
    }

    @Test func editingAMainObjectWhoseContainerIsGoneTraps() async throws {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            try await editObjectOfClosedContainer()
        }
        #expect(try #require(result).standardErrorString.contains("which is read-only"))
    }

    /// Nothing can be read instead of nil: no default value, no case of 0, no list of cases.
    @Test func aRequiredEnumWithoutAnyDefaultTraps() async throws {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let attribute = AttributeDescription(name: "mood", type: .string)
            var model = ManagedObjectModel(
                name: "Moods", entities: [EntityDescription(name: "Mood", attributes: [attribute])])
            model.classes = ["Mood": MoodEntity.self]
            let container = try await PersistentContainer(model: model, store: .inMemory)
            try await container.dataSource(PlainDataSource<MoodEntity>.self).perform { context in
                _ = try context.insert(MoodEntity.self).mood
            }
        }
        #expect(
            try #require(result).standardErrorString.contains(
                "Mood.mood has no value or a value that is not a case of Mood, and no default. In the model, give the attribute a default value that is the raw value of a case or make it optional, or make Mood CaseIterable."
            ))
    }

}

private func makeContacts() async throws -> ContactDataSource {
    try await PersistentContainer(model: .contacts, store: .inMemory).dataSource(ContactDataSource.self)
}

@MainActor
private func editObjectOfClosedContainer() async throws {
    var contacts: ContactDataSource? = try await makeContacts()
    try await contacts?.add(ContactData(uid: "1", name: "Guan Yu"))
    let contact = try contacts?.fetch(ContactEntity.self).first
    contacts = nil
    contact?.name = "Zhang Fei"
}

private func renameByHand(_ tier: isolated PrivateTier) throws {
    try tier.context.first(ContactEntity.self)?.name = "late"
}

private func insertByHand(_ tier: isolated PrivateTier) throws {
    _ = try tier.context.insert(ContactEntity.self)
}

/// Has no hooks.
/// Waits in its hook for the context that runs it.
private final class WaitingDataSource: DataSource<any Sendable> {
    override class var entities: [ManagedObject.Type] { [ContactEntity.self] }

    override func onAdd(_ object: any Sendable, in context: PrivateContext) throws -> ManagedObject? {
        try performAndWait { _ in }
        return nil
    }
}

private enum Mood: String, AttributeStorable {
    case happy
}

private final class MoodEntity: ManagedObject {
    override class var entityName: String { "Mood" }

    var mood: Mood { attribute(at: 0) }
}
