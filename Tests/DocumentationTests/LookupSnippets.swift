import CoreDataSource
import Foundation
import FrameworkNames
import TestSupport
import Testing

struct Member: Sendable {
    var uid: String
    var name: String
    var gid: String?
}

final class MemberDataSource: KeyedDataSource<Member, ContactEntity> {
    nonisolated override class var key: ObjectKey<Member, ContactEntity> { ObjectKey(\.uid, \.uid) }

    nonisolated override func prepare(_ members: [Member], in context: PrivateContext) throws {
        try super.prepare(members, in: context)
        try context.preload(GroupEntity.self, where: \.gid, in: members.compactMap(\.gid))
    }

    nonisolated override func update(_ contact: ContactEntity, from member: Member, in context: PrivateContext) throws {
        contact.name = member.name
        contact.group = try member.gid.flatMap {
            try context.first(GroupEntity.self, where: \.gid, equals: $0)
        }
    }
}

/// The snippets about looking objects up, and about counting the statements that this takes.
@MainActor
struct LookupSnippets {
    @Test func groupsAreLookedUpTogether() async throws {
        let directory = try TemporaryDirectory()
        let counter = StatementCounter(of: "GroupEntity")
        let container = try await PersistentContainer(
            model: .contacts, store: .sqlite(directory.url.appending(component: "contacts.sqlite")),
            configuration: .init(trace: { counter.count($0) }))
        let groups = try container.dataSource(GroupDataSource.self)
        let members = try container.dataSource(MemberDataSource.self)
        try await groups.add((0..<40).map { Group(gid: "\($0)", name: "group \($0)") })
        _ = counter.take()
        let list = (0..<200).map { number in
            let group = number % 50
            return Member(uid: "\(number)", name: "member \(number)", gid: group == 49 ? nil : "\(group)")
        }
        try await members.add(list)
        // One for all groups, whether they are there or not.
        #expect(counter.take().reads <= 2)
        #expect(try members.count(ContactEntity.self, where: \.group?.name == "group 39") == 4)
        #expect(try members.count(ContactEntity.self, where: \.group == nil) == 40)
        #expect(members.diagnostics.isEmpty)
        try await container.close()
    }
}

/// The snippets about counting statements.
@MainActor
struct CounterSnippets {
    @Test func theStatementsOfAnEntityAreCounted() async throws {
        let directory = try TemporaryDirectory()
        let url = directory.url.appending(component: "contacts.sqlite")
        let counter = StatementCounter(of: "ContactEntity")
        var configuration = PersistentContainer.Configuration()
        configuration.trace = { counter.count($0) }
        let container = try await PersistentContainer(
            model: .contacts, store: .sqlite(url), configuration: configuration)
        let contacts = try container.dataSource(ContactDataSource.self)
        _ = counter.take()
        try await contacts.add((0..<3).map { Contact(uid: "\($0)", name: "name \($0)") })
        let added = counter.take()
        #expect(added.writes >= 1 && added.rows >= 3)
        let found = try contacts.fetch(ContactEntity.self, where: \.name != "name 1")
        let fetched = counter.take()
        #expect(found.count == 2 && fetched.reads >= 1 && fetched.writes == 0)
        try await container.close()
    }
}
