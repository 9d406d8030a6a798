import CoreDataSource
import CoreDataSourceActiveRecord
import Foundation
import FrameworkNames
import Testing

/// The snippets about saves and isolation.
@MainActor
struct SaveSnippets {
    @Test func aPerformIsOneSave() async throws {
        try await withContacts { _, contacts in
            let marked = try await contacts.perform { context in
                let minors = try context.fetch(ContactEntity.self, where: \.age < 18)
                for minor in minors { minor.note = "minor" }
                return minors.count
            }
            #expect(marked == 1)
            #expect(try contacts.count(ContactEntity.self, where: \.note == "minor") == 1)
        }
    }

    @Test func twoDataSourcesAreOneSave() async throws {
        try await withContacts { container, contacts in
            let groups = try container.dataSource(GroupDataSource.self)
            try await container.perform(in: contacts, groups) { contacts, groups in
                let adults = try groups.insert(GroupEntity.self)
                adults.gid = "18"
                for contact in try contacts.fetch(ContactEntity.self, where: \.age >= 18) { contact.group = adults }
            }
            #expect(try groups.fetch(GroupEntity.self).map { $0.members.count } == [2])
        }
    }

    @Test func anObjectThatMainShowsIsDeletedByItsID() async throws {
        try await withContacts { container, contacts in
            let contact = try #require(try contacts.main.first(ContactEntity.self, where: \.uid, equals: "1"))
            let id = contact.objectID
            try await contacts.perform { context in
                if let contact = try context.object(ContactEntity.self, id: id) { context.delete(contact) }
            }
            #expect(contact.isDeleted)
            #expect(try await contacts.delete(ContactEntity.self, where: nil).deleted == 2)
        }
    }

    @Test func aSaveMayStopAtMain() async throws {
        try await withContacts { container, contacts in
            try await contacts.add(Contact(uid: "4", name: "Zhao Yun"), waitFor: .main)
            try await container.flush()
            #expect(container.pendingSaveCount == 0)
        }
    }

    @Test func anErrorHasACode() async throws {
        var refused: [String] = []
        try await withContacts { _, contacts in
            do {
                try await contacts.perform { try $0.insert(ContactEntity.self).name = "Huang Zhong" }
            } catch let error as DataSourceError where error.code == .validationFailed {
                refused.append(error.attributeName ?? error.message)
            }
        }
        #expect(refused == ["uid"])
    }

    @Test func aReadIsOffTheMainActor() async throws {
        try await withContacts { container, _ in
            let (names, count) = try await container.read { context in
                let request = ObjectRequest<ContactEntity>(order: [.ascending(\.name)])
                return (try context.values(request, \.name), try context.count(request))
            }
            #expect(names == ["Guan Ping", "Guan Yu", "Zhang Fei"] && count == 3)
        }
    }

    struct ContactName: ManagedObjectConvertible {
        let name: String

        init(_ contact: ContactEntity) {
            name = contact.name
        }
    }

    /// Where contacts come from that are not stored yet.
    struct Directory: Sendable {
        func contact(_ uid: String) async throws -> Contact? { Contact(uid: uid, name: "Ma Chao") }
    }

    @Test func aMissingValueIsLoaded() async throws {
        try await withContacts { _, contacts in
            let directory = Directory()
            let found = try await contacts.value(where: \.uid, equals: "7", as: ContactName.self) { uid in
                try await directory.contact(uid)
            }
            #expect(found?.name == "Ma Chao")
            #expect(try contacts.count(ContactEntity.self) == 4)
        }
    }

    @Test func valuesLeaveTheirContext() async throws {
        try await withContacts { _, contacts in
            let named = try await contacts.fetch(
                as: ContactName.self, ObjectRequest(where: .beginsWith(\.name, "Guan")))
            #expect(named.map(\.name) == ["Guan Yu", "Guan Ping"])
        }
    }

    @Test func aChainWritesAndReads() async throws {
        var count = 0
        try await withContacts { _, contacts in
            try contacts
                .writeSync { context in try ContactEntity.create(in: context).uid = "4" }
                .read { main in count = try ContactEntity.count(in: main) }
        }
        #expect(count == 4)
    }
}
