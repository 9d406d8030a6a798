import CoreDataSource
import ErrorExpectations
import Foundation
import ManagedModel
import RowStore
import TestSupport
import Testing

/// Objects of classes that describe their entities themselves, in a store on the disk.
@MainActor struct ModelInCodeTests {
    private func withContainer(_ body: (PersistentContainer, CodeDataSource) async throws -> Void) async throws {
        let directory = try TemporaryDirectory()
        let container = try await PersistentContainer(
            model: .inCode, store: .sqlite(directory.url.appending(component: "a.sqlite")))
        try await body(container, try container.dataSource(CodeDataSource.self))
        try await container.close()
    }

    private func insertAnn(_ source: CodeDataSource) async throws {
        try await source.perform { context in
            let ann = try context.insert(PersonEntity.self)
            ann.name = "Ann"
            ann.age = 20
            ann.class = 3
            ann.kind = .person
            ann.tags += ["x"]
            ann.origin = Address(
                street: "Rue", city: "Lyon", position: Position(latitude: 1, longitude: 2), mood: .glad)
            let group = try context.insert(GroupEntity.self)
            group.title = "g"
            group.members.insert(ann)
            ann.notes.insert(try context.insert(NoteEntity.self))
            let bob = try context.insert(PersonEntity.self)
            bob.name = "Bob"
            bob.number = 2
            bob.friend = ann
            bob.owner = ann
        }
    }

    @Test func theNamesInAFormatAreCheckedAgainstTheClasses() throws {
        let names: Set = [
            "createdAt", "origin", "uid", "owner", "name", "kind", "address", "number", "tags", "noteCount", "class",
            "notes",
            "groups", "age", "friend",
        ]
        #expect(try #require(PersonEntity.propertyNames).filter { !$0.contains(".") } == names)
        _ = try FetchPredicate<PersonEntity>(
            format: "origin.city == 'x' AND ANY groups.title == 'g' AND friend.age > 1 AND noteCount > 0")
        expectError(.unknownAttribute) { try FetchPredicate<PersonEntity>(format: "friend.agee > 1") }
        expectError(.unknownAttribute) { try FetchPredicate<ContactEntity>(format: "age > 1") }
    }

    @Test func valuesOfEveryClassOfALineageComeBackFromTheDisk() async throws {
        let directory = try TemporaryDirectory()
        let location = StoreLocation.sqlite(directory.url.appending(component: "a.sqlite"))
        let first = try await PersistentContainer(model: .inCode, store: location)
        try await insertAnn(first.dataSource(CodeDataSource.self))
        try await first.close()
        let container = try await PersistentContainer(model: .inCode, store: location)
        #expect(container.startup.reason == .current)
        let ann = try #require(try container.main.fetch(ObjectRequest<PersonEntity>(where: \.age == 20)).first)
        #expect(
            ann.name == "Ann" && ann.class == 3 && ann.kind == .person && ann.tags == ["new", "x"] && ann.number == 1)
        #expect(
            ann.origin
                == Address(street: "Rue", city: "Lyon", position: Position(latitude: 1, longitude: 2), mood: .glad))
        #expect(ann.address == Address(street: "none") && ann.noteCount == 1 && ann.isCompany == false)
        #expect(ann.createdAt == Date(timeIntervalSinceReferenceDate: 10))
        #expect(ann.groups.map(\.title) == ["g"] && ann.notes.map(\.text) == ["a \"quoted\" {text}"])
        #expect(ann.notes.map(\.amount) == [Decimal(string: "12345678901234567890.123")])
        #expect(
            ann.friend?.name == "Bob" && ann.friend?.owner == ann && ann.friend?.age == nil
                && ann.friend?.kind == .company)
        try await container.close()
    }

    @Test func predicatesFindPropertiesOfTheClassAndOfThoseAbove() async throws {
        try await withContainer { container, source in
            try await insertAnn(source)
            let main = container.main
            let bobs = try main.fetch(
                ObjectRequest<ContactEntity>(
                    where: FetchPredicate(#Predicate<ContactEntity> { $0.name == "Bob" && $0.number > 1 })))
            #expect(bobs.map(\.name) == ["Bob"])
            let friends = try main.fetch(
                ObjectRequest<PersonEntity>(
                    where: FetchPredicate(#Predicate<PersonEntity> { $0.friend?.name == "Ann" }),
                    order: [.ascending(\.createdAt)]))
            #expect(friends.map(\.name) == ["Bob"])
            let notes = try main.fetch(
                ObjectRequest<NoteEntity>(
                    where: FetchPredicate(#Predicate<NoteEntity> { $0.contact?.createdAt != nil })))
            #expect(notes.count == 1)
            let groups = try main.fetch(
                ObjectRequest<GroupEntity>(
                    where: FetchPredicate(#Predicate<GroupEntity> { $0.members.contains { $0.name == "Ann" } })))
            #expect(groups.map(\.title) == ["g"])
            #expect(try main.fetch(ObjectRequest<ContactEntity>(where: \.kind == .company)).map(\.name) == ["Bob"])
        }
    }

    @Test func initialValuesAreCalculatedOncePerObject() async throws {
        try await withContainer { container, source in
            let (one, other) = try await source.perform { context in
                let (one, other) = (try context.insert(PersonEntity.self), try context.insert(PersonEntity.self))
                other.number = 2
                return (one.objectID, other.objectID)
            }
            let people = try [one, other].map { try #require(try container.main.object(PersonEntity.self, id: $0)) }
            #expect(people[0].uid != people[1].uid && people[0].address.street == "none")
            let kept = people[0].uid
            try await source.perform { context in
                try #require(try context.object(PersonEntity.self, id: one)).name = "Ann"
            }
            #expect(people[0].uid == kept && people[0].isSelected == false)
        }
    }

    @Test func aCascadeFollowsAnInverseThatOnlyOneSideNames() async throws {
        try await withContainer { container, source in
            try await insertAnn(source)
            try await source.perform { context in
                for person in try context.fetch(ObjectRequest<PersonEntity>(where: \.name == "Ann")) {
                    context.delete(person)
                }
            }
            #expect(try container.main.count(ObjectRequest<NoteEntity>()) == 0)
            #expect(try container.main.fetch(ObjectRequest<GroupEntity>()).map(\.members.count) == [0])
        }
    }

    /// The columns of a subclass move if a part of the model has other destinations, and the accessors follow.
    @Test func aConfigurationMayLayAClassOutInAnotherWay() async throws {
        let directory = try TemporaryDirectory()
        var model = ManagedObjectModel("Parts") {
            OwnerEntity.self
            ItemEntity.self
            SpecialItemEntity.self
        }
        model.configurations = [EntityConfiguration(name: "Plain", entityNames: ["OwnerEntity", "ItemEntity"])]
        for configuration in [nil, "Plain"] {
            let url = directory.url.appending(component: "\(configuration ?? "all").sqlite")
            let part = try configuration.map { try model.restricted(toConfiguration: $0) } ?? model
            let container = try await PersistentContainer(model: part, store: .sqlite(url))
            let source = try container.dataSource(ItemDataSource.self)
            try await source.perform { context in
                let item = try context.insert(ItemEntity.self)
                item.label = "a"
                item.next = item
            }
            #expect(
                try container.main.fetch(ObjectRequest<ItemEntity>(where: \.label == "a")).map(\.next?.label) == ["a"])
            try await container.close()
        }
    }
}

@StoredEntity class OwnerEntity: ManagedObject {
    @Related var next: ItemEntity?
}

@StoredEntity class ItemEntity: OwnerEntity {
    var label: String = ""
}

@StoredEntity final class SpecialItemEntity: ItemEntity {
    var extra: String = ""
}

final class ItemDataSource: EntityDataSource {
    override class var entities: [ManagedObject.Type] { [OwnerEntity.self] }
}
