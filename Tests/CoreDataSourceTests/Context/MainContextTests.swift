import CoreDataSource
import ErrorExpectations
import Foundation
import Testing

@MainActor
struct MainContextTests {
    @Test func shownObjectsFollowEverySave() async throws {
        try await withContainer { container, _ in
            let contacts = try container.dataSource(ContactDataSource.self)
            try await contacts.add(contactList(0..<3))
            let shown = try contacts.fetch(ContactEntity.self)
            try await contacts.add(ContactData(uid: "uid-1", name: "new"), waitFor: .main)
            #expect(shown.map(\.name) == ["name 0", "new", "name 2"])
            try await contacts.delete(ContactData(uid: "uid-2", name: ""), waitFor: .main)
            #expect(shown.map(\.isDeleted) == [false, false, true])
            #expect(shown[2].name == "name 2", "the values of a deleted object stay readable")
        }
    }

    @Test func oneObjectStandsForARow() async throws {
        try await withContainer { container, _ in
            let contacts = try container.dataSource(ContactDataSource.self)
            try await contacts.add(contactList(0..<3))
            let one = try contacts.main.first(ContactEntity.self, where: \.uid == "uid-1")
            let other = try contacts.fetch(ContactEntity.self, where: \.name == "name 1").first
            #expect(one != nil)
            #expect(one === other)
        }
    }

    @Test func objectsThatNobodyHoldsAreForgotten() async throws {
        try await withContainer { container, _ in
            let contacts = try container.dataSource(ContactDataSource.self)
            try await contacts.add(contactList(0..<3_000))
            weak let probe = try contacts.fetch(ContactEntity.self).first
            try await contacts.add(ContactData(uid: "one more", name: ""), waitFor: .main)
            #expect(probe == nil)
        }
    }

    @Test func anIdFindsItsObjectInEveryContext() async throws {
        try await withContainer { container, _ in
            let contacts = try container.dataSource(ContactDataSource.self)
            let id = try await contacts.perform { context in
                let contact = try context.insert(ContactEntity.self)
                contact.uid = "a"
                return contact.objectID
            }
            #expect(try container.main.object(ContactEntity.self, id: id)?.uid == "a")
            #expect(try await contacts.perform { try $0.object(ContactEntity.self, id: id)?.uid } == "a")
            try await contacts.delete(ContactData(uid: "a", name: ""))
            #expect(try container.main.object(ContactEntity.self, id: id) == nil)
            #expect(try await contacts.perform { try $0.object(ContactEntity.self, id: id)?.uid } == nil)
        }
    }

    @Test func aClosedContainerThrowsStoreClosed() async throws {
        let directory = try TemporaryDirectory()
        let container = try await PersistentContainer(model: .contacts, store: .sqlite(directory.store))
        let contacts = try container.dataSource(ContactDataSource.self)
        try await contacts.add(contactList(0..<3))
        let held = try contacts.fetch(ContactEntity.self)
        try await container.close()
        #expect(held.map(\.name) == contactList(0..<3).map(\.name))
        expectError(.storeClosed) { try contacts.fetch(ContactEntity.self) }
        await expectError(.storeClosed) { try await contacts.add(contactList(3..<4)) }
    }

    @Test func aStoreIsFreeWhenItsContainerIsGone() async throws {
        let directory = try TemporaryDirectory()
        for _ in 0..<3 {
            let container = try await PersistentContainer(model: .contacts, store: .sqlite(directory.store))
            try await container.dataSource(ContactDataSource.self).add(contactList(0..<3))
        }
    }
}
