import CoreDataSource
import FrameworkNames
import Testing

struct Team: Sendable {
    var gid: String
    var members: [Contact]
}

final class TeamDataSource: DataSource<Team> {
    nonisolated override class var entities: [ManagedObject.Type] { [GroupEntity.self, ContactEntity.self] }

    nonisolated override func onAdd(_ team: Team, in context: PrivateContext) throws -> ManagedObject? {
        let group = try context.findOrInsert(GroupEntity.self, where: \.gid, equals: team.gid)
        let members = try team.members.map { member in
            let contact = try context.findOrInsert(ContactEntity.self, where: \.uid, equals: member.uid)
            contact.name = member.name
            contact.group = group
            return contact
        }
        try context.sweep(\.members, of: group, keeping: members)
        return group
    }
}

struct Recruit: Sendable {
    var uid: String
    var gid: String?
}

/// A data source whose lists have contacts and groups in any order.
final class RecruitDataSource: KeyedDataSource<Recruit, ContactEntity> {
    nonisolated override class var key: ObjectKey<Recruit, ContactEntity> { ObjectKey(\.uid, \.uid) }

    nonisolated override func update(_ contact: ContactEntity, from recruit: Recruit, in context: PrivateContext) {}

    nonisolated override func link(_ contact: ContactEntity, from recruit: Recruit, in context: PrivateContext) throws {
        contact.group = try recruit.gid.flatMap {
            try context.first(GroupEntity.self, where: \.gid, equals: $0)
        }
    }
}

/// The snippets about children and links in the article on syncing.
@MainActor
struct SyncSnippets {
    @Test func aTeamIsSyncedWithItsMembers() async throws {
        let container = try await PersistentContainer(model: .contacts, store: .inMemory)
        let teams = try container.dataSource(TeamDataSource.self)
        let brothers = ["Liu Bei", "Guan Yu", "Zhang Fei"].map { Contact(uid: $0, name: $0) }
        try await teams.sync([Team(gid: "1", members: brothers)], entity: GroupEntity.self)
        let report = try await teams.sync(
            [Team(gid: "1", members: Array(brothers.prefix(2)))], entity: GroupEntity.self)
        #expect(report.deletedChildren == 1 && report.totalDeleted == 1)
        #expect(try teams.count(ContactEntity.self) == 2)
        try await container.close()
    }

    @Test func theMembersOfOneGroupAreSyncedAlone() async throws {
        try await withContacts { container, contacts in
            let groups = try container.dataSource(GroupDataSource.self)
            try await groups.add([Group(gid: "1", name: "Oath")])
            try await contacts.perform { context in
                let brothers = try context.first(GroupEntity.self, where: \.gid, equals: "1")
                for contact in try context.fetch(ContactEntity.self, where: \.uid != "3") { contact.group = brothers }
            }
            let members = [Contact(uid: "1", name: "Guan Yunchang")]

            try await contacts.sync(members, scope: \.group?.gid == "1")

            #expect(try contacts.fetch(ContactEntity.self, order: [.ascending(\.uid)]).map(\.uid) == ["1", "3"])
        }
    }

    @Test func aRecruitIsLinkedToItsGroup() async throws {
        let container = try await PersistentContainer(model: .contacts, store: .inMemory)
        let groups = try container.dataSource(GroupDataSource.self)
        let recruits = try container.dataSource(RecruitDataSource.self)
        try await groups.add(Group(gid: "1", name: "Oath"))
        try await recruits.add([Recruit(uid: "1", gid: "1"), Recruit(uid: "2", gid: "9")])
        let found = try recruits.fetch(ContactEntity.self, order: [.ascending(\.uid)])
        #expect(found.map { $0.group?.name } == ["Oath", nil])
        try await container.close()
    }
}
