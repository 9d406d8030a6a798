import CoreDataSource
import Foundation
import FrameworkNames
import Testing

/// Contacts and groups whose members are counted in each save.
final class CountedDataSource: DataSource<Contact>, SaveCompleting {
    nonisolated override class var entities: [ManagedObject.Type] {
        [ContactEntity.self, GroupEntity.self]
    }

    nonisolated func willSave(
        _ changes: PendingChanges, in context: PrivateContext
    ) throws {
        for group in try changes.owners(of: \GroupEntity.members) {
            group.memberCount = Int32(group.members.count)
        }
    }
}

/// Adds contacts to one group.
private class MemberSource: DataSource<Contact>, SaveCompleting {
    nonisolated override class var entities: [ManagedObject.Type] { [ContactEntity.self, GroupEntity.self] }

    nonisolated override func onAdd(_ contact: Contact, in context: PrivateContext) throws -> ManagedObject? {
        let entity = try context.findOrInsert(ContactEntity.self, where: \.uid, equals: contact.uid)
        entity.name = contact.name
        entity.group = try context.findOrInsert(GroupEntity.self, where: \.gid, equals: "1")
        return entity
    }

    nonisolated func willSave(
        _ changes: PendingChanges, in context: PrivateContext
    ) throws {
        for change in try changes.of(ContactEntity.self)
        where change.kind != .delete {
            change.object.initial = String(change.object.name.prefix(1))
        }
        for group in try changes.owners(of: \GroupEntity.members) {
            group.memberCount = Int32(group.members.count)
        }
    }
}

/// Keeps the previous names.
private final class NotedSource: MemberSource {
    nonisolated override func willSave(_ changes: PendingChanges, in context: PrivateContext) throws {
        for change in changes.bulk {
            if let request = change.request(for: ContactEntity.self) {
                print(try context.count(request))
            }
        }
        for change in changes.bulk {
            let becomesFavorite = change.value(of: \ContactEntity.isFavorite) == true
            #expect(becomesFavorite)
            return
        }
        for change in try changes.of(ContactEntity.self) {
            guard change.kind == .update, change.changes(\.name) else { continue }
            change.object.note = change.previous(\.name).map { "once \($0)" }
        }
        let renamed = try changes.of(ContactEntity.self)
            .filter { $0.changes(\.name) }
        #expect(renamed.count <= 17_000)
        for change in try changes.of(ContactEntity.self)
        where change.kind == .delete {
            print("\(change.object.name) goes")
        }
    }
}

/// The examples of completing a save.
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
            let contacts = try container.dataSource(CountedDataSource.self)
            try await contacts.perform { context in
                let group = try context.insert(GroupEntity.self)
                group.gid = "1"
                for uid in ["1", "2"] {
                    let contact = try context.insert(ContactEntity.self)
                    (contact.uid, contact.group) = (uid, group)
                }
            }
            #expect(try contacts.fetch(GroupEntity.self).map(\.memberCount) == [2])
        }
        try await withContainer { container in
            let contacts = try container.dataSource(MemberSource.self)
            try await contacts.add(list)
            #expect(try contacts.fetch(GroupEntity.self).map(\.memberCount) == [2])
            #expect(try contacts.fetch(ContactEntity.self).map(\.initial) == ["G", "Z"])
        }
    }

    @Test func previousNamesAreNoted() async throws {
        try await withContainer { container in
            let contacts = try container.dataSource(NotedSource.self)
            try await contacts.add(list)
            try await contacts.add([Contact(uid: "1", name: "Guan Yunchang")])
            #expect(try contacts.fetch(ContactEntity.self).map(\.note) == ["once Guan Yu", nil])
            try await contacts.delete(ContactEntity.self, where: nil)
            #expect(try contacts.count(ContactEntity.self) == 0)
            try await contacts.perform { context in
                for number in 0..<17_000 { try context.insert(ContactEntity.self).uid = "\(number)" }
            }
            try await contacts.update(ContactEntity.self, set: [.set(\.isFavorite, true)])
            #expect(try contacts.count(ContactEntity.self, where: \.isFavorite == true) == 17_000)
        }
    }
}
