import CoreDataSource
import Foundation
import FrameworkNames
import TestSupport
import Testing

/// The data source that the comment on `DataSource` shows.
private enum WithoutKey {
    struct Contact: Sendable {
        var uid: String
        var name: String
    }

    final class ContactDataSource: DataSource<Contact> {
        nonisolated override class var entities: [ManagedObject.Type] { [ContactEntity.self] }

        nonisolated override func onAdd(_ contact: Contact, in context: PrivateContext) throws -> ManagedObject? {
            let entity = try context.findOrInsert(ContactEntity.self, where: \.uid, equals: contact.uid)
            entity.name = contact.name
            return entity
        }

        nonisolated override func onDelete(_ contact: Contact, in context: PrivateContext) throws {
            try context.delete(ContactEntity.self, where: \.uid == contact.uid)
        }
    }
}

/// A data source that looks up its objects together, and links them at the end.
private final class PreparedRecruits: DataSource<Recruit> {
    nonisolated override class var entities: [ManagedObject.Type] { [ContactEntity.self] }

    nonisolated override func onAdd(_ recruit: Recruit, in context: PrivateContext) throws -> ManagedObject? {
        try context.findOrInsert(ContactEntity.self, where: \.uid, equals: recruit.uid)
    }

    nonisolated override func onLink(_ object: ManagedObject, for recruit: Recruit, in context: PrivateContext) throws {
        guard let contact = object as? ContactEntity else { return }
        contact.group = try recruit.gid.flatMap { try context.first(GroupEntity.self, where: \.gid, equals: $0) }
    }
}

private final class PreparedContacts: KeyedDataSource<Contact, ContactEntity> {
    nonisolated override class var key: ObjectKey<Contact, ContactEntity> { ObjectKey(\.uid, \.uid) }

    nonisolated override func prepare(_ contacts: [Contact], in context: PrivateContext) throws {
        try context.preload(ContactEntity.self, where: \.uid, in: contacts.map(\.uid))
    }

    nonisolated override func update(_ entity: ContactEntity, from contact: Contact, in context: PrivateContext) {
        entity.name = contact.name
        entity.phone = contact.phone
    }
}

private struct Caller: Sendable {
    var number: String
}

private struct Server: Sendable {
    func contact(_ uid: String) async throws -> Contact? { Contact(uid: uid, name: "Huang Zhong") }
}

/// The examples in the comments on data sources.
@MainActor
struct DataSourceSnippets {
    @Test func hooksMakeObjectsOfValues() async throws {
        let container = try await PersistentContainer(model: .contacts, store: .inMemory)
        let contacts = try container.dataSource(WithoutKey.ContactDataSource.self)
        let contact = WithoutKey.Contact(uid: "1", name: "Guan Yu")
        #expect(try await contacts.add([contact]).inserted == 1)
        #expect(try await contacts.delete([contact]).deleted == 1)
        try await container.close()
    }

    @Test func hooksPrepareAndLink() async throws {
        let container = try await PersistentContainer(model: .contacts, store: .inMemory)
        let recruits = try container.dataSource(PreparedRecruits.self)
        let groups = try container.dataSource(GroupDataSource.self)
        try await groups.add(Group(gid: "1", name: "Oath"))
        try await recruits.add([Recruit(uid: "1", gid: "1"), Recruit(uid: "2", gid: nil)])
        #expect(try recruits.fetch(ContactEntity.self).map { $0.group?.name } == ["Oath", nil])
        try await container.close()
        let other = try await PersistentContainer(model: .contacts, store: .inMemory)
        let contacts = try other.dataSource(PreparedContacts.self)
        try await contacts.add([Contact(uid: "1", name: "Guan Yu", phone: "110")])
        #expect(try contacts.fetch(ContactEntity.self).map(\.phone) == ["110"])
        try await other.close()
    }

    @Test func aKeyIsAPropertyAndAnAttribute() async throws {
        let key = ObjectKey(\Contact.uid, \ContactEntity.uid)
        #expect(type(of: key) == ObjectKey<Contact, ContactEntity>.self)
    }

    @Test func aKeyMayBeOptional() async throws {
        let key = ObjectKey(\Caller.number, \ContactEntity.phone)
        #expect(type(of: key) == ObjectKey<Caller, ContactEntity>.self)
    }

    @Test func valuesAreAdded() async throws {
        let container = try await PersistentContainer(model: .contacts, store: .inMemory)
        let contacts = try container.dataSource(ContactDataSource.self)
        let report = try await contacts.add([Contact(uid: "1", name: "Guan Yu"), Contact(uid: "2", name: "Zhang Fei")])
        print("\(report.inserted) new, \(report.updated) changed")
        #expect(report == SaveReport(inserted: 2))
        contacts.add([Contact(uid: "1", name: "Guan Yu")]) { result in
            if case .failure(let error) = result { print(error) }
        }
        let server = Server()
        let contact = try await contacts.value(where: \.uid, equals: "7", as: ContactValue.self) { uid in
            try await server.contact(uid)
        }
        #expect(contact?.name == "Huang Zhong")
        let fresh = try await contacts.value(
            where: \.uid, equals: "7", as: ContactValue.self, maxAge: .seconds(60)
        ) { uid in
            try await server.contact(uid)
        }
        #expect(fresh?.name == "Huang Zhong")
        try await container.close()
    }

    @Test func valuesAreDeleted() async throws {
        try await withContacts { _, contacts in
            let report = try await contacts.delete([Contact(uid: "1", name: "Guan Yu")])
            print("\(report.deleted) gone")
            #expect(report.deleted == 1)
            try await contacts.delete(Contact(uid: "1", name: "Guan Yu"))
            contacts.delete([Contact(uid: "1", name: "Guan Yu")]) { result in
                if case .failure(let error) = result { print(error) }
            }
        }
    }

    @Test func listsAreSynced() async throws {
        try await withContacts { _, contacts in
            let serverList = ["1", "2", "3"].map { Contact(uid: $0, name: "Guan") }
            let report = try await contacts.sync(serverList, deleting: .atMost(0.2))
            print("\(report.inserted) new, \(report.updated) changed, \(report.deleted) gone")
            #expect(report.updated == 3)
            let options = SyncOptions(rawValue: 5)  // [.allowsEmpty, .reportsIDs]
            #expect(options == [.allowsEmpty, .reportsIDs])
            let operations = SyncOperations(rawValue: 3)  // [.insert, .update]
            #expect(operations == [.insert, .update])
        }
    }

    @Test func aListWithoutChangesHasAnEmptyReport() async throws {
        let list = [Contact(uid: "1", name: "Guan Yu"), Contact(uid: "2", name: "Zhang Fei")]
        try await withContacts { _, contacts in
            try await contacts.sync(list)
            let sync = try await contacts.sync(list, options: .reportsIDs)
            #expect(sync.ids == SyncReport.IDs())
            var expected = SyncReport()
            (expected.read, expected.unchanged) = (2, 2)
            #expect(try await contacts.sync(list) == expected)
        }
    }

    @Test func aBatchIsRolledBack() async throws {
        try await withContacts { _, contacts in
            try await contacts.perform { context in
                try context.delete(ContactEntity.self, where: nil)
                context.rollback()
            }
            #expect(try contacts.count(ContactEntity.self) == 3)
        }
    }

    @Test func objectsAreFoundOrInserted() async throws {
        try await withContacts { _, contacts in
            try await contacts.perform { context in
                let contact = try context.insert(ContactEntity.self)
                contact.uid = "4"
            }
            try await contacts.perform { context in
                let contact = try context.findOrInsert(ContactEntity.self, where: \.uid, equals: "1")
                contact.name = "Guan Yu"
            }
            #expect(try contacts.count(ContactEntity.self) == 4)
        }
    }

    @Test func editsMakeOneUndoStep() async throws {
        try await withContacts { _, contacts in
            let contact = try #require(try contacts.main.first(ContactEntity.self, where: \.uid, equals: "2"))
            let draft = try contacts.draft(of: contact)
            draft.object.editTogether {
                draft.object.name = "Zhang Yide"
                draft.object.phone = "120"
            }
            draft.undo()
            #expect(draft.object.name == "Zhang Fei" && draft.object.phone == nil)
            draft.discard()
        }
    }
}

/// The examples in the comments on containers.
@MainActor
struct ContainerSnippets {
    private let directory: TemporaryDirectory
    private var url: URL { directory.url.appending(component: "contacts.sqlite") }
    private let userID = "7"

    init() throws {
        directory = try TemporaryDirectory()
    }

    @Test func keysBelongToDataSources() {
        let configuration = PersistentContainer.Configuration(databaseKeys: [ContactDataSource.self: "7"])
        #expect(configuration.databaseKeys[ContactDataSource.self] == "7")
        var keys = DataSourceKeys()
        keys[ContactDataSource.self] = "7"
        #expect(keys[ContactDataSource.self] == "7")
    }

    @Test func keysAreALiteral() {
        let keys: DataSourceKeys = [ContactDataSource.self: "7", GroupDataSource.self: "7"]
        #expect(keys[GroupDataSource.self] == "7")
    }

    @Test func aConfigurationIsMade() {
        let configuration = PersistentContainer.Configuration(synchronous: .normal, resetPolicy: .migrate)
        #expect(configuration.synchronous == .normal)
        let kind = StoreFailure.Kind(rawValue: "saveDelayed")
        #expect(kind == .saveDelayed)
    }

    @Test func storesAreOpenedTogether() async throws {
        let description = StoreDescription(name: "contacts", location: .sqlite(url), databaseKey: userID)
        let stores = await PersistentContainer.open([description], model: .contacts)
        let container = try stores.container(named: description.name)
        #expect(try container.leases.isEmpty)
        for lease in try container.leases { print(lease) }
        try await stores.close()
    }

    @Test func policiesKeepBackups() {
        let configuration = PersistentContainer.Configuration(resetPolicy: .backup(keep: 3))
        #expect(configuration.resetPolicy == .backup(keep: 3))
    }

    @Test func migrationsKeepBackups() {
        let configuration = PersistentContainer.Configuration(resetPolicy: .migrate(otherwise: .backup(keep: 1)))
        #expect(configuration.resetPolicy == .migrate(otherwise: .backup(keep: 1)))
    }

    @Test func aMigrationThatLosesDataIsRefused() {
        let configuration = PersistentContainer.Configuration(resetPolicy: .migrateWithoutLoss(otherwise: .fail))
        #expect(configuration.resetPolicy != .migrate(otherwise: .fail))
    }

    @Test func aStartupIsCompared() async throws {
        let container = try await PersistentContainer(model: .contacts, store: .inMemory)
        let isFirstLaunch = container.startup == StoreStartup(reason: .firstLaunch)
        #expect(isFirstLaunch)
        var dropped = StoreStartup.Dropped()
        dropped.objects["ContactEntity"] = 12
        #expect(dropped != StoreStartup.Dropped())
        #expect(!hasChangedModel(container) && !hasChangedModelAndKey(container) && !hasChangedSourceKeys(container))
        try await container.close()
    }

    private func hasChangedModel(_ container: PersistentContainer) -> Bool {
        let isExpected = container.startup.reason == .modelChanged(entities: ["ContactEntity"])
        return isExpected
    }

    private func hasChangedModelAndKey(_ container: PersistentContainer) -> Bool {
        let isExpected = container.startup.reason == .modelAndDatabaseKeyChanged(entities: ["ContactEntity"])
        return isExpected
    }

    private func hasChangedSourceKeys(_ container: PersistentContainer) -> Bool {
        let isExpected = container.startup.reason == .sourceKeysChanged(entities: ["ContactEntity"])
        return isExpected
    }

    @Test func aGraphIsAValue() async throws {
        try await withContacts { container, _ in
            let other = try await PersistentContainer(model: .contacts, store: .inMemory)
            _ = try other.dataSource(ContactDataSource.self)
            _ = try other.dataSource(GroupDataSource.self)
            let graph = try await container.read { try $0.exportGraph(of: [GroupEntity.self, ContactEntity.self]) }
            try await other.importGraph(graph)
            print(graph.objectCount(ofEntity: "ContactEntity"))  // 3
            #expect(graph.objectCount(ofEntity: "ContactEntity") == 3)
            #expect(graph != ObjectGraph())
            try await other.close()
            let file = directory.url.appending(component: "graph.json")
            try graph.json.write(to: file)
            #expect(try ObjectGraph(json: Data(contentsOf: file)) == graph)
        }
    }

    @Test func aGraphIsReadFromAFile() throws {
        let file = directory.url.appending(component: "graph.json")
        try ObjectGraph().json.write(to: file)
        let graph = try ObjectGraph(json: Data(contentsOf: file))
        #expect(graph.entityNames.isEmpty)
    }
}
