import CoreDataSource
import DataSourceTesting
import ErrorExpectations
import Foundation
import ManagedModel
import RowStore
import Testing

/// What the contract finds in data sources that keep it, and in those that break one rule each.
struct DataSourceContractTests {
    private static let values = (1...5).map {
        PersonValue(uid: "\($0)", name: "name \($0)", group: $0 % 2 == 0 ? "g" : nil)
    }

    private func rules<Source: DataSource<PersonValue>>(
        _ source: Source.Type, values: [PersonValue] = Self.values, refused: [PersonValue] = []
    ) async throws -> Set<DataSourceRule> {
        let contract = DataSourceContract(
            source, model: .contacts, entity: ContactEntity.self, values: values, refused: refused)
        return Set(try await contract.violations().map(\.rule))
    }

    @Test func aCorrectSourceKeepsAllRules() async throws {
        let contract = DataSourceContract(
            PersonDataSource.self, model: .contacts, entity: ContactEntity.self, values: Self.values,
            refused: [PersonValue(uid: "6", name: "poison")])
        #expect(try await contract.violations() == [])
        try await contract.check()
    }

    @Test func aSourceWithAKeyKeepsAllRules() async throws {
        #expect(try await rules(KeyedPersonDataSource.self) == [])
    }

    /// What the clock gives differs from store to store.
    @Test func aSourceOfAnEntityThatDerivesTheTimeKeepsAllRules() async throws {
        let model = ManagedObjectModel(
            name: "Stamps",
            entities: [
                EntityDescription(
                    name: "Stamp",
                    attributes: [
                        AttributeDescription(name: "uid", type: .string, isOptional: true),
                        AttributeDescription(
                            name: "savedAt", type: .date, isOptional: true, derivationExpression: "now()"),
                        AttributeDescription(
                            name: "shownAt", type: .date, isOptional: true, derivationExpression: "savedAt"),
                    ])
            ])
        let contract = DataSourceContract(
            StampDataSource.self, model: model, entity: Stamp.self, values: ["1", "2", "3", "4"])
        #expect(try await contract.violations() == [])
    }

    /// A deletion changes the count of the rack that the other volumes are linked to.
    @Test func aSourceThatKeepsCountsKeepsAllRules() async throws {
        let contract = DataSourceContract(
            RackedVolumes.self, model: .library, entity: Volume.self, values: ["1", "2", "3", "4", "5"])
        #expect(try await contract.violations() == [])
    }

    @Test func aSourceThatCountsItsCallsAddsTwice() async throws {
        #expect(try await rules(CountingDataSource.self) == [.adding, .syncing])
    }

    @Test func aSourceThatAlwaysInsertsAddsTwice() async throws {
        #expect(try await rules(InsertingDataSource.self).contains(.adding))
    }

    @Test func aSourceThatDeletesNothingLeavesObjects() async throws {
        #expect(try await rules(KeepingDataSource.self) == [.deleting])
    }

    @Test func aSourceThatCannotDeleteIsNamed() async throws {
        let contract = DataSourceContract(
            AddingDataSource.self, model: .contacts, entity: ContactEntity.self, values: Self.values)
        let violations = try await contract.violations()
        #expect(violations.map(\.rule) == [.deleting])
        #expect(violations.first?.explanation.contains("does not override onDelete(_:in:)") == true)
    }

    @Test func aSourceThatDeletesEverythingDeletesOthers() async throws {
        #expect(try await rules(EmptyingDataSource.self) == [.deleting])
    }

    @Test func aSourceThatReplacesObjectsWritesWhenNothingChanged() async throws {
        #expect(try await rules(ReplacingDataSource.self) == [.syncing])
    }

    @Test func aSourceThatNumbersItsObjectsDependsOnTheirOrder() async throws {
        #expect(try await rules(NumberingDataSource.self) == [.order])
    }

    @Test func aSourceThatRemembersWhatItHasSeenLosesABatchThatThrew() async throws {
        #expect(try await rules(RememberingDataSource.self) == [.throwing])
    }

    @Test func aSourceThatHidesAnErrorDoesNotRefuse() async throws {
        let poison = [PersonValue(uid: "6", name: "poison")]
        #expect(try await rules(HidingDataSource.self, refused: poison) == [.throwing])
        #expect(try await rules(HidingDataSource.self) == [])
    }

    /// Its hook links objects of another data source, and refuses values without them.
    @Test func objectsOfOtherDataSourcesAreAddedBefore() async throws {
        func contract(
            _ prepare: @escaping @Sendable (PersistentContainer) async throws -> Void
        ) -> DataSourceContract<PersonValue, LinkingDataSource, ContactEntity> {
            let values = Self.values.map { PersonValue(uid: $0.uid, name: $0.name, group: "g") }
            return DataSourceContract(
                LinkingDataSource.self, model: .contacts, entity: ContactEntity.self, values: values, prepare: prepare)
        }
        await expectThrows(Poison.self) { try await contract { _ in }.violations() }
        let prepared = contract { container in
            try await container.dataSource(GroupDataSource.self).add(GroupData(gid: "g", name: "group"))
        }
        #expect(try await prepared.violations() == [])
        await expectThrows(CocoaError.self) {
            try await contract { _ in throw CocoaError(.fileNoSuchFile) }.violations()
        }
    }

    @Test func valuesWithoutObjectsProveNothing() async throws {
        #expect(try await rules(PersonDataSource.self, values: []) == [.values])
        let ignored = (1...3).map { PersonValue(uid: "\($0)", name: "ignored") }
        #expect(try await rules(PersonDataSource.self, values: ignored) == [.values])
    }

    @Test func theErrorListsEveryViolation() async throws {
        let contract = DataSourceContract(
            CountingDataSource.self, model: .contacts, entity: ContactEntity.self, values: Self.values)
        let error = await expectThrows(DataSourceContractError.self) { try await contract.check() }
        let text = try #require(error).description
        #expect(text.contains("adding: ") && text.contains("syncing: "))
        // It shows what there is and what there should be.
        #expect(text.contains("ContactEntity (") && text.contains("age 2") && text.contains("age 1"))
    }

    @Test func anErrorOfTheFirstAddIsThrown() async throws {
        let values = Self.values + [PersonValue(uid: "6", name: "poison")]
        await expectThrows(Poison.self) { try await rules(PersonDataSource.self, values: values) }
    }
}

private struct PersonValue: Sendable {
    var uid: String
    var name: String
    var group: String?
}

private class PersonDataSource: DataSource<PersonValue> {
    override class var entities: [ManagedObject.Type] { [ContactEntity.self, GroupEntity.self] }

    override func onAdd(_ person: PersonValue, in context: PrivateContext) throws -> ManagedObject? {
        if person.name == "poison" { throw Poison() }
        if person.name == "ignored" { return nil }
        let contact = try context.findOrInsert(ContactEntity.self, where: \.uid, equals: person.uid)
        contact.name = person.name
        if let group = person.group { _ = try context.findOrInsert(GroupEntity.self, where: \.gid, equals: group) }
        return contact
    }

    override func onDelete(_ person: PersonValue, in context: PrivateContext) throws {
        try context.delete(ContactEntity.self, where: \.uid == person.uid)
    }
}

private final class KeyedPersonDataSource: KeyedDataSource<PersonValue, ContactEntity> {
    override class var key: ObjectKey<PersonValue, ContactEntity> { ObjectKey(\.uid, \.uid) }

    override func update(_ contact: ContactEntity, from person: PersonValue, in context: PrivateContext) {
        contact.name = person.name
    }
}

private final class CountingDataSource: PersonDataSource {
    override func onAdd(_ person: PersonValue, in context: PrivateContext) throws -> ManagedObject? {
        let object = try super.onAdd(person, in: context)
        (object as? ContactEntity)?.age += 1
        return object
    }
}

private final class InsertingDataSource: PersonDataSource {
    override func onAdd(_ person: PersonValue, in context: PrivateContext) throws -> ManagedObject? {
        let contact = try context.insert(ContactEntity.self)
        contact.uid = person.uid
        return contact
    }
}

private final class KeepingDataSource: PersonDataSource {
    override func onDelete(_ person: PersonValue, in context: PrivateContext) throws {}
}

private final class EmptyingDataSource: PersonDataSource {
    override func onDelete(_ person: PersonValue, in context: PrivateContext) throws {
        try context.delete(ContactEntity.self, where: nil)
    }
}

private final class ReplacingDataSource: PersonDataSource {
    override func onAdd(_ person: PersonValue, in context: PrivateContext) throws -> ManagedObject? {
        try onDelete(person, in: context)
        return try super.onAdd(person, in: context)
    }
}

private final class NumberingDataSource: PersonDataSource {
    override func onAdd(_ person: PersonValue, in context: PrivateContext) throws -> ManagedObject? {
        let object = try super.onAdd(person, in: context)
        if let contact = object as? ContactEntity, contact.age == 0 {
            contact.age = Int32(try context.count(ContactEntity.self))
        }
        return object
    }
}

private final class RememberingDataSource: PersonDataSource {
    private nonisolated let seen = Guarded<Set<String>>([])

    override func onAdd(_ person: PersonValue, in context: PrivateContext) throws -> ManagedObject? {
        guard seen.withLock({ $0.insert(person.uid).inserted }) else {
            return try context.first(ContactEntity.self, where: \.uid, equals: person.uid)
        }
        return try super.onAdd(person, in: context)
    }
}

private final class HidingDataSource: PersonDataSource {
    override func onAdd(_ person: PersonValue, in context: PrivateContext) throws -> ManagedObject? {
        try? super.onAdd(person, in: context)
    }
}

private final class AddingDataSource: DataSource<PersonValue> {
    override class var entities: [ManagedObject.Type] { [ContactEntity.self] }

    override func onAdd(_ person: PersonValue, in context: PrivateContext) throws -> ManagedObject? {
        let contact = try context.findOrInsert(ContactEntity.self, where: \.uid, equals: person.uid)
        contact.name = person.name
        return contact
    }
}

private final class Stamp: ManagedObject {
    override class var entityName: String { "Stamp" }

    var uid: String? {
        get { attribute(at: 0) }
        set { setAttribute(newValue, at: 0) }
    }
}

private final class StampDataSource: DataSource<String> {
    override class var entities: [ManagedObject.Type] { [Stamp.self] }

    override func onAdd(_ uid: String, in context: PrivateContext) throws -> ManagedObject? {
        if let stamp = try stamp(uid, in: context) { return stamp }
        let stamp = try context.insert(Stamp.self)
        stamp.uid = uid
        return stamp
    }

    override func onDelete(_ uid: String, in context: PrivateContext) throws {
        if let stamp = try stamp(uid, in: context) { context.delete(stamp) }
    }

    private nonisolated func stamp(_ uid: String, in context: PrivateContext) throws -> Stamp? {
        try context.fetch(Stamp.self).first { $0.uid == uid }
    }
}

private final class LinkingDataSource: KeyedDataSource<PersonValue, ContactEntity> {
    override class var key: ObjectKey<PersonValue, ContactEntity> { ObjectKey(\.uid, \.uid) }

    override func update(_ contact: ContactEntity, from person: PersonValue, in context: PrivateContext) throws {
        contact.name = person.name
        let group = try context.first(GroupEntity.self, where: \.gid, equals: person.group ?? "")
        guard let group else { throw Poison() }
        contact.group = group
    }
}

/// Puts all volumes into one rack, which keeps their count.
private final class RackedVolumes: DataSource<String>, SaveCompleting {
    override class var entities: [ManagedObject.Type] { [Rack.self, Volume.self] }

    override func onAdd(_ key: String, in context: PrivateContext) throws -> ManagedObject? {
        let volume = try context.findOrInsert(Volume.self, where: \.key, equals: key)
        volume.shelf = try context.findOrInsert(Rack.self, where: \.key, equals: "rack")
        return volume
    }

    override func onDelete(_ key: String, in context: PrivateContext) throws {
        try context.delete(Volume.self, where: \.key == key)
    }

    nonisolated func willSave(_ changes: PendingChanges, in context: PrivateContext) throws {
        for rack in try changes.owners(of: \Rack.books) { rack.bookCount = Int64(rack.books.count) }
    }
}
