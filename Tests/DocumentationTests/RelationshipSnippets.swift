import CoreDataSource
import FrameworkNames
import Testing

/// The snippets about relationships.
@MainActor
struct RelationshipSnippets {
    @Test func bothSidesShowALinkUntilADeleteRuleRemovesIt() async throws {
        try await withOath { contacts, groups in
            var names: [String] = []
            for group in try groups.fetch(GroupEntity.self) {
                names += try group.members.sorted(by: [.descending(\.name)]).map(\.name)
            }
            #expect(names == ["Zhang Fei", "Guan Yu"])

            try await groups.delete(Group(gid: "1", name: "Oath"))
            let left = try contacts.fetch(ContactEntity.self)
            #expect(left.count == 3)
            #expect(left.allSatisfy { $0.group == nil })
        }
    }

    @Test func theObjectsOfAToManyRelationshipAreASet() async throws {
        try await withOath { contacts, groups in
            try await contacts.perform { context in
                guard let brothers = try context.first(GroupEntity.self, where: \.gid, equals: "1") else { return }
                brothers.members.insert(contentsOf: try context.fetch(ContactEntity.self, where: \.age < 18))
                for member in brothers.members where member.name == "Zhang Fei" { brothers.members.remove(member) }
            }
            let brothers = try #require(try groups.main.first(GroupEntity.self, where: \.gid, equals: "1"))
            #expect(brothers.members.map(\.name) == ["Guan Yu", "Guan Ping"])
        }
    }

    @Test func aListHasASectionForEachGroup() async throws {
        try await withOath { contacts, _ in
            let list = try contacts.list(
                ObjectRequest(ContactEntity.self, order: [.ascending(\.name)]), sectionBy: \.group?.name)
            for section in list.sections { print(section.name, section.numberOfObjects) }
            #expect(list.sections.map(\.name) == ["", "Oath"])
            #expect(list.sections.map(\.numberOfObjects) == [1, 2])
        }
    }

    @Test func listsFollowWhatTheirObjectsLeadTo() async throws {
        try await withOath { contacts, groups in
            let table = Table()
            let request = ObjectRequest(ContactEntity.self, order: [.ascending(\.group?.name), .ascending(\.name)])
            try contacts.register(table, dataKey: "byGroup", request, sectionBy: \.group?.name)
            #expect(contacts.sectionInfo(at: 1, dataKey: "byGroup")?.name == "Oath")
            let brothers = try #require(try groups.main.first(GroupEntity.self, where: \.gid, equals: "1"))
            let members = ObjectRequest(brothers, \.members, order: [.ascending(\.name)])
            for await update in contacts.updates(members) {
                print(update.snapshot.count)
                if update.snapshot.count > 1 { break }
            }
        }
    }
}

@MainActor private final class Table: DataSourceDelegate {
    func didChangeContent(dataKey: String) {}
}
