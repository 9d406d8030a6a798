import CoreDataSource
import CoreDataSourceStores
import ErrorExpectations
import Foundation
import JSONFolderStore
import Testing

/// A container over a store that an app has written.
@MainActor
struct CustomStoreTests {
    private func open(
        _ directory: borrowing TemporaryDirectory, _ model: ManagedObjectModel = .contacts, key: String = "1",
        _ policy: ResetPolicy = .standard, _ keys: DataSourceKeys = [:]
    ) async throws -> PersistentContainer {
        let folder = directory.url.appending(component: "contacts")
        let location = StoreLocation.custom(folder.path) { options in
            let store = try JSONFolderStore(folder, options)
            return (store, store.startup)
        }
        return try await PersistentContainer(
            model: model, store: location, databaseKey: key,
            configuration: .init(resetPolicy: policy, databaseKeys: keys))
    }

    private func fill(_ directory: borrowing TemporaryDirectory) async throws {
        let container = try await open(directory)
        try await container.dataSource(ContactDataSource.self).add(contactList(0..<5))
        try await container.dataSource(GroupDataSource.self).add(GroupData(gid: "1", name: "Shu"))
        try await container.close()
    }

    private var changedModel: ManagedObjectModel {
        var model = ManagedObjectModel.contacts
        for index in model.entities.indices where model.entities[index].name == "ContactEntity" {
            model.entities[index].attributes.append(
                AttributeDescription(name: "email", type: .string, isOptional: true))
        }
        return model
    }

    @Test func dataSourcesQueriesAndListsWorkOverACustomStore() async throws {
        let directory = try TemporaryDirectory()
        let container = try await open(directory)
        #expect(container.startup == StoreStartup(reason: .firstLaunch))
        let contacts = try container.dataSource(ContactDataSource.self)
        let list = try contacts.list(
            ObjectRequest(ContactEntity.self, where: \.phone != nil, order: [.descending(\.name)]))
        try await contacts.add(contactList(0..<6))
        try await contacts.delete(contactList(4..<5))
        #expect(list.snapshot.map(\.uid) == ["uid-2", "uid-0"])
        let report = try await contacts.sync(contactList(1..<8, name: { "new \($0)" }), entity: ContactEntity.self)
        #expect(report.inserted == 3 && report.updated == 4 && report.deleted == 1)
        #expect(list.snapshot.map(\.uid) == ["uid-6", "uid-4", "uid-2"])
        let renamed = try container.main.fetch(ContactEntity.self, where: .beginsWith(\.name, "new"))
        #expect(renamed.count == 7)
        let groups = try container.dataSource(GroupDataSource.self)
        try await groups.add(GroupData(gid: "1", name: "Shu"))
        try await contacts.perform { context in
            let contact = try context.first(ContactEntity.self, where: \.uid, equals: "uid-1")
            contact?.group = try context.first(GroupEntity.self, where: \.gid, equals: "1")
        }
        let members = try FetchPredicate<ContactEntity>(format: "group.name == %@", "Shu")
        #expect(try container.main.fetch(ContactEntity.self, where: members).map(\.uid) == ["uid-1"])
        let names = try await container.read {
            try $0.fetch(ContactEntity.self, order: [.ascending(\.uid)]).map(\.name)
        }
        #expect(names.first == "new 1")
        try await container.close()
    }

    @Test func objectsAreThereAtTheNextStart() async throws {
        let directory = try TemporaryDirectory()
        let container = try await open(directory)
        let contacts = try container.dataSource(ContactDataSource.self)
        try await contacts.add(contactList(0..<3))
        let birthday = Date(timeIntervalSinceReferenceDate: 812_345_678.123_456_7)
        try await contacts.perform { context in
            let contact = try #require(try context.first(ContactEntity.self, where: \.uid, equals: "uid-1"))
            (contact.birthday, contact.score, contact.isFavorite) = (birthday, 0.1, true)
        }
        try await container.close()
        let reopened = try await open(directory)
        #expect(reopened.startup.reason == .current)
        #expect(try reopened.main.count(ContactEntity.self) == 3)
        let contact = try #require(try reopened.main.first(ContactEntity.self, where: \.uid, equals: "uid-1"))
        #expect(contact.birthday == birthday)
        #expect(contact.score == 0.1)
        #expect(contact.isFavorite)
        #expect(contact.phone == nil)
        try await reopened.close()
    }

    @Test func theFilesAreReadAndEditedByPeople() async throws {
        let directory = try TemporaryDirectory()
        let container = try await open(directory)
        try await container.dataSource(ContactDataSource.self).add(contactList(0..<1))
        try await container.close()
        let folder = directory.url.appending(path: "contacts/ContactEntity")
        let name = try #require(try FileManager.default.contentsOfDirectory(atPath: folder.path).first)
        let file = folder.appending(component: name)
        let text = try String(contentsOf: file, encoding: .utf8)
        #expect(text.contains("\"name\" : \"name 0\""))
        #expect(text.contains("\"isFavorite\" : false"))
        try Data(text.replacing("name 0", with: "Guan Yu").utf8).write(to: file)
        let reopened = try await open(directory)
        let found = try reopened.main.fetch(ContactEntity.self, where: \.name == "Guan Yu")
        #expect(found.map(\.uid) == ["uid-0"])
        try await reopened.close()
    }

    @Test func aChangedModelIsAnErrorByDefaultAndAResetIfThatIsWanted() async throws {
        let directory = try TemporaryDirectory()
        try await fill(directory)
        await expectError(.modelChanged) { try await open(directory, changedModel) }
        let kept = try await open(directory)
        #expect(try kept.main.count(ContactEntity.self) == 5)
        try await kept.close()
        let container = try await open(directory, changedModel, key: "1", .discard)
        #expect(container.startup.reason == .modelChanged(entities: ["ContactEntity"]))
        #expect(container.startup.rowsDropped == 6)
        #expect(try container.main.count(ContactEntity.self) == 0)
        try await container.dataSource(ContactDataSource.self).add(contactList(0..<2))
        try await container.close()
        let next = try await open(directory, changedModel)
        #expect(next.startup == StoreStartup(reason: .current))
        #expect(try next.main.count(ContactEntity.self) == 2)
        try await next.close()
    }

    @Test func aChangedKeyDropsItsRows() async throws {
        let directory = try TemporaryDirectory()
        try await fill(directory)
        let keyed = try await open(directory, .contacts, key: "1", .standard, [GroupDataSource.self: "7"])
        #expect(keyed.startup.reason == .sourceKeysChanged(entities: ["GroupEntity"]))
        #expect(keyed.startup.entitiesReset == ["GroupEntity"])
        #expect(keyed.startup.rowsDropped == 1)
        #expect(try keyed.main.count(ContactEntity.self) == 5)
        #expect(try keyed.main.count(GroupEntity.self) == 0)
        try await keyed.close()
        let other = try await open(directory, key: "2", .standard, [GroupDataSource.self: "7"])
        #expect(other.startup == StoreStartup(reason: .databaseKeyChanged, rowsDropped: 5))
        #expect(try other.main.count(ContactEntity.self) == 0)
        try await other.close()
    }

    @Test func aResetWhileTheAppRunsEmptiesIt() async throws {
        let directory = try TemporaryDirectory()
        try await fill(directory)
        let container = try await open(directory)
        #expect(try await container.reset().rowsDropped == 6)
        #expect(try container.main.count(ContactEntity.self) == 0)
        try await container.dataSource(ContactDataSource.self).add(contactList(0..<1))
        try await container.close()
        let reopened = try await open(directory)
        #expect(try reopened.main.count(ContactEntity.self) == 1)
        try await reopened.close()
    }

    @Test func aSecondContainerIsRefused() async throws {
        let directory = try TemporaryDirectory()
        let container = try await open(directory)
        await expectError(.storeInUse) { try await open(directory) }
        try await container.close()
        try await open(directory).close()
    }

    @Test func callsForTheLibrarysOwnStoresSaySo() async throws {
        let directory = try TemporaryDirectory()
        let container = try await open(directory)
        let backup = directory.url.appending(component: "backup")
        await expectError(.storeUnreadable) { try await container.backup(to: backup) }
        try await container.close()
    }

    private struct Refusal: Error {}

    @Test func anErrorOfOpeningIsThrown() async throws {
        let location = StoreLocation.custom("refused") { _ in throw Refusal() }
        await expectThrows(Refusal.self) {
            _ = try await PersistentContainer(model: .contacts, store: location)
        }
    }

    @Test func locationsOfTheSameNameAreOneStore() async throws {
        let first = StoreLocation.custom("a") { _ in throw Refusal() }
        #expect(first == StoreLocation.custom("a") { _ in throw Refusal() })
        #expect(first != StoreLocation.custom("b") { _ in throw Refusal() })
        #expect(first != .inMemory)
        let stores = await PersistentContainer.open(
            [StoreDescription(name: "1", location: first), StoreDescription(name: "2", location: first)],
            model: .contacts)
        #expect(stores.errors.values.count { $0 is Refusal } == 1)
        #expect(stores.errors.values.count { ($0 as? DataSourceError)?.code == .storeInUse } == 1)
    }
}
