import CoreDataSource
import ErrorExpectations
import Testing

/// The names in a format are checked when the predicate is made, before any container is open.
@MainActor struct FormatNameTests {
    @Test(arguments: [
        ("nmae == 'x'", "ContactEntity", "nmae"), ("age > 1 AND NOT (uid == x)", "ContactEntity", "x"),
        ("group.nmae == 'x'", "GroupEntity", "nmae"), ("uppercase(nmae) == 'X'", "ContactEntity", "nmae"),
        ("TERNARY(nmae == 1, age, score) > 2", "ContactEntity", "nmae"), ("age IN {1, agee}", "ContactEntity", "agee"),
    ])
    func anUnknownNameIsRefusedWithTheKnownNames(_ format: String, _ entity: String, _ name: String) throws {
        let error = try requireThrows(DataSourceError.self) { try FetchPredicate<ContactEntity>(format: format) }
        #expect(error.code == .unknownAttribute)
        #expect(error.entityName == entity && error.attributeName == name)
        #expect(error.message.contains("has no attribute or relationship \"\(name)\""))
        #expect(error.message.contains(entity == "GroupEntity" ? "memberCount" : "birthday"))
    }

    @Test(arguments: [
        "ANY members.nmae == 'x'", "members.@max.agee > 1", "SUBQUERY(members, $m, $m.agee > 1).@count > 0",
        "SUBQUERY(members, $m, $m.age > memberCoun).@count > 0", "SUBQUERY(membrs, $m, $m.age > 1).@count > 0",
    ])
    func namesBehindAToManyRelationshipAreChecked(_ format: String) {
        expectError(.unknownAttribute) { try FetchPredicate<GroupEntity>(format: format) }
    }

    /// The inner variable hides the outer one.
    @Test func aVariableMayBeUsedAgainInside() throws {
        let format = "SUBQUERY(members, $x, SUBQUERY($x.group.members, $x, $x.age > 1).@count > 0).@count > 0"
        _ = try FetchPredicate<GroupEntity>(format: format)
        let nested = "SUBQUERY(members, $x, SUBQUERY($x.group, $x, $x.memberCount > 1).@count > 0).@count > 0"
        _ = try FetchPredicate<GroupEntity>(format: nested)
        expectError(.unknownAttribute) {
            try FetchPredicate<GroupEntity>(format: format.replacing("$x.age", with: "$x.agee"))
        }
    }

    @Test(arguments: [
        "syncFlag == 0", "name.length > 2", "members.@count > 1", "members.@max.age > 3", "%@ IN members", "SELF == %@",
        "SUBQUERY(members, $m, $m.age > memberCount AND $m.group.name == name).@count > 0", "name == $NAME",
    ])
    func namesOfTheModelAreAccepted(_ format: String) throws {
        let arguments: [(any Sendable)?] = format.contains("%@") ? [nil] : []
        _ = try FetchPredicate<GroupEntity>(format: format, arguments: arguments)
    }

    /// The library names the elements of a quantifier itself. A format once could have a variable of the same name.
    @Test(arguments: ["m", "_0", "_1", "_2"]) func aVariableMayHaveAnyName(_ name: String) async throws {
        let container = try await PersistentContainer(model: .contacts, store: .inMemory)
        let groups = try container.dataSource(GroupsAndContacts.self)
        try await groups.perform { context in
            for index in 0..<4 {
                let group = try context.insert(GroupEntity.self)
                (group.gid, group.name) = ("\(index)", "g\(index)")
                for age in 0..<index {
                    let contact = try context.insert(ContactEntity.self)
                    (contact.uid, contact.age, contact.score) = ("\(index) \(age)", Int32(age), Double(age + 1))
                    contact.group = group
                }
            }
        }
        let format = "SUBQUERY(members, $x, ANY $x.group.members.age == $x.score).@count > 0"
        let predicate = try FetchPredicate<GroupEntity>(format: format.replacing("$x", with: "$\(name)"))
        let found = try groups.fetch(GroupEntity.self, where: predicate, order: [.ascending(\.gid)])
        #expect(found.map(\.gid) == ["2", "3"])
        try await container.close()
    }

    /// `.any` names the elements itself, too, and the predicate inside may use that name.
    @Test(arguments: ["m", "_any0", "_any1"]) func aVariableInsideOfAnyMayHaveAnyName(_ name: String) throws {
        let inner = "SUBQUERY(group.members, $m, $m.age > age).@count > 0"
        let predicate = try FetchPredicate<ContactEntity>(format: inner.replacing("$m", with: "$\(name)"))
        let any = FetchPredicate<GroupEntity>.any(\.members, predicate)
        let variable = name == "_any0" ? "_any1" : "_any0"
        #expect(
            any.predicateFormat.contains(
                "SUBQUERY($\(variable).group.members, $\(name), $\(name).age > $\(variable).age)"))
    }

    @Test func anObjectIsFoundByItsID() async throws {
        let container = try await PersistentContainer(model: .contacts, store: .inMemory)
        let groups = try container.dataSource(GroupsAndContacts.self)
        try await groups.perform { context in
            for index in 0..<3 { try context.insert(GroupEntity.self).gid = "\(index)" }
        }
        let second = try #require(try groups.fetch(GroupEntity.self, where: \.gid == "1").first)
        #expect(try groups.fetch(GroupEntity.self, where: \.objectID == second.objectID).map(\.gid) == ["1"])
        let others = try groups.fetch(
            GroupEntity.self, where: !(\.objectID == second.objectID), order: [.ascending(\.gid)])
        #expect(others.map(\.gid) == ["0", "2"])
        try await container.close()
    }

    /// The class was written by hand, so it may have fewer properties than its entity.
    @Test func aClassThatDoesNotKnowTheNamesLeavesTheCheckToTheFetch() throws {
        #expect(ByHand.propertyNames == nil)
        #expect(BelowGenerated.propertyNames == nil)
        _ = try FetchPredicate<ByHand>(format: "anything == 1")
        _ = try FetchPredicate<BelowGenerated>(format: "anything == 1")
        _ = try FetchPredicate<ManagedObject>(format: "anything == 1")
    }
}

private final class GroupsAndContacts: DataSource<Never> {
    nonisolated override class var entities: [ManagedObject.Type] { [ContactEntity.self, GroupEntity.self] }
}

private final class ByHand: ManagedObject {
    override class var entityName: String { "ContactEntity" }
}

/// A class by hand for a sub-entity of an entity with a generated class.
private final class BelowGenerated: BaseEntity {
    override class var entityName: String { "Special" }
}
