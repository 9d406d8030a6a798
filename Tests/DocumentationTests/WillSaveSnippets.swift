import CoreDataSource
import DataSourceTesting
import Foundation
import FrameworkNames
import Testing

/// Contacts and groups that complete each save.
private class CountedContacts: DataSource<Contact> {
    nonisolated override class var entities: [ManagedObject.Type] { [ContactEntity.self, GroupEntity.self] }

    nonisolated override func onAdd(_ contact: Contact, in context: PrivateContext) throws -> ManagedObject? {
        let entity = try context.findOrInsert(ContactEntity.self, where: \.uid, equals: contact.uid)
        entity.name = contact.name
        entity.group = try context.findOrInsert(GroupEntity.self, where: \.gid, equals: "1")
        return entity
    }

    nonisolated override func willSave(_ changes: PendingChanges, in context: PrivateContext) throws {
        for group in try changes.owners(of: \GroupEntity.members) {
            group.memberCount = Int32(group.members.count)
        }
    }
}

private final class InitialContacts: CountedContacts {
    nonisolated override func willSave(_ changes: PendingChanges, in context: PrivateContext) throws {
        for change in try changes.of(ContactEntity.self)
        where change.kind != .deleted {
            change.object.initial = String(change.object.name.prefix(1))
        }
        for group in try changes.owners(of: \GroupEntity.members) {
            group.memberCount = Int32(group.members.count)
        }
    }
}

private final class NotedContacts: CountedContacts {
    nonisolated override func willSave(_ changes: PendingChanges, in context: PrivateContext) throws {
        for change in try changes.of(ContactEntity.self) {
            guard change.kind == .updated, change.changes(\.name) else { continue }
            change.object.note = change.previous(\.name).map { "once \($0)" }
        }
        let renamed = try changes.of(ContactEntity.self)
            .filter { $0.changes(\.name) }
        for change in try changes.of(ContactEntity.self)
        where change.kind == .deleted {
            print("\(change.object.name) goes")
        }
        for change in changes.bulk {
            if let request = change.request(for: ContactEntity.self) {
                print(try context.count(request))
            }
        }
        for change in changes.bulk {
            let becomesFavorite = change.value(of: \ContactEntity.isFavorite) == true
            #expect(becomesFavorite && renamed.isEmpty)
        }
    }
}

/// The examples of completing a save, and of following one.
@MainActor
struct WillSaveSnippets {
    private func withContainer(_ body: (PersistentContainer) async throws -> Void) async throws {
        let container = try await PersistentContainer(model: .contacts, store: .inMemory)
        try await body(container)
        try await container.close()
    }

    private let list = [Contact(uid: "1", name: "Guan Yu"), Contact(uid: "2", name: "Zhang Fei")]

    @Test func membersAreCounted() async throws {
        try await withContainer { container in
            let contacts = try container.dataSource(CountedContacts.self)
            try await contacts.add(list)
            #expect(try contacts.fetch(GroupEntity.self).map(\.memberCount) == [2])
        }
        try await withContainer { container in
            let contacts = try container.dataSource(InitialContacts.self)
            try await contacts.add(list)
            #expect(try contacts.fetch(GroupEntity.self).map(\.memberCount) == [2])
            #expect(try contacts.fetch(ContactEntity.self).map(\.initial) == ["G", "Z"])
        }
    }

    @Test func previousNamesAreNoted() async throws {
        try await withContainer { container in
            let contacts = try container.dataSource(NotedContacts.self)
            try await contacts.add(list)
            try await contacts.add([Contact(uid: "1", name: "Guan Yunchang")])
            #expect(try contacts.fetch(ContactEntity.self).map(\.note) == ["once Guan Yu", nil])
            try await contacts.delete(ContactEntity.self, where: nil)
            #expect(try contacts.count(ContactEntity.self) == 0)
            try await contacts.add((0..<17_000).map { Contact(uid: "\($0)", name: "Name") })
            try await contacts.update(ContactEntity.self, set: [.set(\.isFavorite, true)])
            #expect(try contacts.count(ContactEntity.self, where: \.isFavorite == true) == 17_000)
        }
    }

    @Test func aCallIsFollowed() async throws {
        try await withContacts { _, contacts in
            try await contacts.add(
                list,
                progress: BatchProgress { completed, total in
                    print("\(completed) of \(total)")
                })
            let progress = Progress(totalUnitCount: 0)
            try await contacts.add(list, progress: BatchProgress(progress))
            #expect(progress.isFinished)
        }
        try await withContacts { _, contacts in
            let serverList = list
            let progress = Progress(totalUnitCount: 0)
            try await contacts.sync(serverList, progress: BatchProgress(progress))
            #expect(progress.isFinished)
        }
    }

    @Test func aContractHasObjectsOfOthers() async throws {
        let contract = DataSourceContract(
            RecruitDataSource.self, model: .contacts, entity: ContactEntity.self,
            values: [Recruit(uid: "1", gid: "7"), Recruit(uid: "2", gid: "7")]
        ) { container in
            let groups = try await container.dataSource(GroupDataSource.self)
            try await groups.add(Group(gid: "7", name: "Oath"))
        }
        #expect(try await contract.violations() == [])
    }
}
