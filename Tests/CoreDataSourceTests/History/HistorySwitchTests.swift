import CoreDataSource
import ErrorExpectations
import Foundation
import ModelMigration
import RowStore
import TestSupport
import Testing

/// A history is switched on and off, and survives or ends with what happens to its store.
@MainActor
struct HistorySwitchTests {
    private static let tables =
        "SELECT name FROM sqlite_schema WHERE name LIKE '\\_history%' ESCAPE '\\' AND type = 'table'"
    private static let format = "SELECT value FROM _metadata WHERE name = 'format'"

    @Test(arguments: HistoryPlace.files)
    func withoutAHistoryNothingIsWrittenForIt(place: HistoryPlace) async throws {
        try await place.withContainer(.init(synchronous: .normal)) { container, url in
            try await container.dataSource(ContactDataSource.self).add(contactList(0..<1))
            #expect(try RawConnection(url).column(Self.tables) == [])
            #expect(try RawConnection(url).column(Self.format) == ["\(ManagedObjectModel.storeFormat)"])
        }
    }

    @Test(arguments: HistoryPlace.lasting)
    func aHistoryIsSwitchedOnAndOff(place: HistoryPlace) async throws {
        let directory = try TemporaryDirectory()
        let url = directory.store
        func add(_ number: Int, _ history: KeptHistory) async throws -> HistoryPosition? {
            let container = try await place.open(url, .keeping(history))
            #expect(container.startup.reason == (number == 0 ? .firstLaunch : .current))
            try await container.dataSource(ContactDataSource.self).add(contactList(number..<number + 1))
            let position = try? await container.historyPosition()
            #expect(try container.main.count(ContactEntity.self) == number + 1)
            try await container.close()
            return position
        }
        #expect(try await add(0, .unchanged) == nil)
        let first = try await add(1, .ample)
        // Before the record of the save, there is one that tells of the beginning.
        #expect(first?.description == "after record 2")
        // An older release refuses the store.
        #expect(try place.format(url) == 1000 + ManagedObjectModel.storeFormat)
        #expect(try await add(2, .unchanged)?.description == "after record 3")
        #expect(try await add(3, .none) == nil)
        if place.isFile { #expect(try RawConnection(url).column(Self.tables) == []) }
        #expect(try place.format(url) == ManagedObjectModel.storeFormat)
        let container = try await place.open(url)
        await expectError(.historyOfOtherStore) { try await container.records(after: first) }
        try await container.close()
        if place.isFile { try expectIntact(url) }
    }

    @Test(arguments: HistoryPlace.lasting)
    func aFormatOfALaterReleaseIsRefused(place: HistoryPlace) async throws {
        let directory = try TemporaryDirectory()
        try await place.open(directory.store).close()
        for format in [1000 + ManagedObjectModel.storeFormat + 1, 2000 + ManagedObjectModel.storeFormat] {
            try place.setFormat(format, directory.store)
            await expectError(.newerFormat) { try await place.open(directory.store) }
        }
    }

    @Test(arguments: HistoryPlace.all)
    func aResetEndsTheHistory(place: HistoryPlace) async throws {
        try await place.withContainer { container, _ in
            let contacts = try container.dataSource(ContactDataSource.self)
            try await contacts.add(contactList(0..<2))
            let position = try await container.historyPosition()
            let consumer = try await container.historyConsumer("index")
            try await container.reset()
            try await contacts.add(contactList(2..<3))
            let error = await expectError(.historyExpired) { try await container.records(after: position) }
            #expect(error?.message.contains("The store was reset") ?? false)
            let records = try await container.records(after: error?.historyStart)
            #expect(records.map(\.kind) == [.reset, .incoming] && records.map(\.number) == [1, 2])
            #expect(!records[0].hasValues && records[0].note == "The store was reset.")
            // A consumer is told by the first record.
            #expect(try await consumer.records().all().first?.kind == .reset)
            try await container.reset()
            await expectError(.historyExpired) { try await container.records(after: position) }
        }
    }

    @Test(arguments: HistoryPlace.lasting)
    func aChangedKeyEndsTheHistory(place: HistoryPlace) async throws {
        let directory = try TemporaryDirectory()
        let first = try await place.open(directory.store, databaseKey: "1")
        try await first.dataSource(ContactDataSource.self).add(contactList(0..<2) { _ in "a secret name" })
        let position = try await first.historyPosition()
        try await first.close()
        #expect(try place.recordCount(containing: "a secret name", directory.store) == 1)
        // By default, a store on a server is never reset.
        let discarding = PersistentContainer.Configuration(synchronous: .normal, resetPolicy: .discard)
        let second = try await place.open(directory.store, discarding, databaseKey: "2")
        #expect(second.startup.isReset)
        let error = await expectError(.historyExpired) { try await second.records(after: position) }
        let reason = place == .custom ? "were dropped" : "the database key changed"
        #expect(error?.message.contains(reason) ?? false)
        #expect(try await second.records().map(\.kind) == [.reset])
        try await second.close()
        #expect(try place.recordCount(containing: "a secret name", directory.store) == 0)
    }

    /// The records have values of the rows that a changed key of a data source drops, so they go, too.
    @Test(arguments: HistoryPlace.lasting)
    func aChangedKeyOfADataSourceEndsTheHistory(place: HistoryPlace) async throws {
        let directory = try TemporaryDirectory()
        func open(_ key: String) async throws -> PersistentContainer {
            var configuration = PersistentContainer.Configuration.keeping()
            configuration.resetPolicy = .discard
            configuration.databaseKeys = [ContactDataSource.self: key]
            return try await place.open(directory.store, configuration)
        }
        let first = try await open("1")
        try await first.dataSource(ContactDataSource.self).add(contactList(0..<2) { _ in "a secret name" })
        try await first.dataSource(GroupDataSource.self).add(GroupData(gid: "1", name: "one"))
        let position = try await first.historyPosition()
        try await first.close()
        #expect(try place.recordCount(containing: "a secret name", directory.store) == 1)
        let second = try await open("2")
        #expect(second.startup.entitiesReset == ["ContactEntity"])
        await expectError(.historyExpired) { try await second.records(after: position) }
        #expect(try await second.records().map(\.kind) == [.reset])
        try await second.close()
        #expect(try place.recordCount(containing: "a secret name", directory.store) == 0)
    }

    /// The contacts' model with another first attribute, another number of each entity, and without the phone.
    private func changed() -> ManagedObjectModel {
        var model = ManagedObjectModel.contacts
        if let contact = model.entities.firstIndex(where: { $0.name == "ContactEntity" }) {
            model.entities[contact].attributes.removeAll { $0.name == "phone" }
            model.entities[contact].attributes.insert(
                AttributeDescription(name: "aCountry", type: .string, isOptional: true), at: 0)
        }
        model.entities.insert(
            EntityDescription(
                name: "AnEntity", attributes: [AttributeDescription(name: "key", type: .string, isOptional: true)]),
            at: 0)
        model.classes = [:]
        return model
    }

    @Test(arguments: HistoryPlace.migrated)
    func aMigrationGoesOnAndOldRecordsAreReadByName(place: HistoryPlace) async throws {
        let directory = try TemporaryDirectory()
        let first = try await place.open(directory.store)
        let contacts = try first.dataSource(ContactDataSource.self)
        try await contacts.add(contactList(0..<1))
        let position = try await first.historyPosition()
        try await contacts.add(contactList(0..<1) { _ in "new" })
        try await contacts.add([ContactData(uid: "uid-0", name: "new", phone: "only the phone")])
        try await first.close()
        var configuration = PersistentContainer.Configuration(synchronous: .normal, resetPolicy: .migrate)
        configuration.history = .unchanged
        let second = try await place.open(directory.store, configuration, model: changed())
        #expect(second.startup.migration != nil)
        let records = try await second.records(after: position)
        #expect(records.map(\.kind) == [.incoming, .incoming, .migration])
        #expect(!records[2].hasValues)
        let layout = second.stack.layout
        let entity = try #require(layout.entity(named: "ContactEntity"))
        let name = try #require(entity.column(named: "name"))
        let changes = try #require(records[0].changeSet?.entities.first)
        #expect(changes.entity == entity.index)
        let update = try #require(changes.updated.first)
        #expect(update.previous.text(name) == "name 0" && update.row.text(name) == "new")
        #expect(update.columns.contains(name))
        // Nothing else has changed that the new model has.
        #expect(records[1].changeSet?.entities.isEmpty ?? false)
        #expect(records[1].hasValues && records[1].entityNames == ["ContactEntity"])
        try await second.close()
        if place.isFile { try expectIntact(directory.store) }
    }

    /// The renaming identifiers say which parts of an old record are meant.
    @Test(arguments: HistoryPlace.migrated)
    func oldRecordsAreReadUnderNewNames(place: HistoryPlace) async throws {
        let directory = try TemporaryDirectory()
        let first = try await place.open(directory.store)
        let (contacts, groups) = (
            try first.dataSource(ContactDataSource.self), try first.dataSource(GroupDataSource.self)
        )
        try await contacts.add(contactList(0..<1))
        try await groups.add(GroupData(gid: "1", name: "one"))
        try await first.perform(in: contacts, groups) { contacts, groups in
            let group = try groups.first(GroupEntity.self, where: \.gid, equals: "1")
            try contacts.first(ContactEntity.self, where: \.uid, equals: "uid-0")?.group = group
        }
        try await first.close()
        var model = ManagedObjectModel.contacts
        let contact = try #require(model.entities.firstIndex { $0.name == "ContactEntity" })
        let group = try #require(model.entities.firstIndex { $0.name == "GroupEntity" })
        for index in model.entities[contact].attributes.indices
        where model.entities[contact].attributes[index].name == "name" {
            model.entities[contact].attributes[index].name = "title"
            model.entities[contact].attributes[index].renamingIdentifier = "name"
        }
        // It has the old name of another attribute.
        model.entities[contact].attributes.append(AttributeDescription(name: "name", type: .string, isOptional: true))
        for index in model.entities[contact].relationships.indices
        where model.entities[contact].relationships[index].name == "group" {
            model.entities[contact].relationships[index].name = "team"
            model.entities[contact].relationships[index].renamingIdentifier = "group"
            model.entities[contact].relationships[index].destinationName = "Team"
        }
        (model.entities[group].name, model.entities[group].renamingIdentifier) = ("Team", "GroupEntity")
        for index in model.entities[group].relationships.indices {
            model.entities[group].relationships[index].inverseName = "team"
        }
        model.classes = [:]
        let configuration = PersistentContainer.Configuration(synchronous: .normal, resetPolicy: .migrate)
        let second = try await place.open(directory.store, configuration, model: model)
        let records = try await second.records()
        let layout = second.stack.layout
        let entity = try #require(layout.entity(named: "ContactEntity"))
        let (title, name) = (try #require(entity.column(named: "title")), try #require(entity.column(named: "name")))
        let inserted = try #require(records[0].changeSet?.entities.first?.inserted.first)
        #expect(inserted.row.text(title) == "name 0" && inserted.row.isNull(name))
        #expect(records[1].changeSet?.entities.first?.entity == layout.entity(named: "Team")?.index)
        let linked = try #require(records[2].changeSet?.entities.first?.updated.first)
        let team = try #require(entity.column(named: "team"))
        #expect(linked.columns.contains(team) && linked.previous.isNull(team) && !linked.row.isNull(team))
        try await second.close()
    }

    /// Damage by another program leads to an error, never to records that are silently missing.
    @Test(
        arguments: [
            "DELETE FROM _history WHERE key >> 20 = 2", "UPDATE _history SET changes = x'00' WHERE key >> 20 = 2",
            "UPDATE _history SET kind = NULL WHERE key >> 20 = 2", "UPDATE _history SET last = 0 WHERE key >> 20 = 2",
            "UPDATE _history_state SET value = 7 WHERE name = 'id'", "DELETE FROM _history_state",
            "UPDATE _history SET key = 9223372036854775807 WHERE key >> 20 = 2",
        ])
    func aDamagedHistoryIsRefused(sql: String) async throws {
        try await HistoryPlace.sqlite.withContainer { container, url in
            let contacts = try container.dataSource(ContactDataSource.self)
            for step in 0..<4 { try await contacts.add(contactList(step..<step + 1)) }
            try RawConnection(url).execute(sql)
            await expectError(.storeCorrupt) { try await container.records() }
        }
    }

    /// The history can be dropped although it is damaged, also if the model has changed.
    @Test(arguments: HistoryPlace.files)
    func aDamagedHistoryDoesNotPreventAMigration(place: HistoryPlace) async throws {
        let directory = try TemporaryDirectory()
        let first = try await place.open(directory.store)
        try await first.dataSource(ContactDataSource.self).add(contactList(0..<2))
        try await first.close()
        try RawConnection(directory.store).execute("DELETE FROM _history_state WHERE name = 'seconds'")
        var configuration = PersistentContainer.Configuration(synchronous: .normal, resetPolicy: .migrate)
        configuration.history = .none
        let second = try await place.open(directory.store, configuration, model: changed())
        #expect(second.startup.migration != nil)
        #expect(try second.main.count(ContactEntity.self) == 2)
        try await second.close()
        #expect(try RawConnection(directory.store).column(Self.tables) == [])
    }

    @Test(arguments: HistoryPlace.all)
    func aHistoryMayBeKeptForEver(place: HistoryPlace) async throws {
        let directory = try TemporaryDirectory()
        let configuration = PersistentContainer.Configuration.keeping(.kept(for: .seconds(Int64.max), upTo: 1 << 20))
        for count in 1...2 {
            let container = try await place.open(directory.store, configuration)
            try await container.dataSource(ContactDataSource.self).add(contactList(count..<count + 1))
            let records = try await container.records()
            #expect(records.count == (place == .memory ? 1 : count))
            try await container.close()
        }
    }

    @Test func aStoreThatOthersHaveOpenIsNotSwitched() async throws {
        let directory = try TemporaryDirectory()
        let place = HistoryPlace.sharedFile
        let first = try await place.open(directory.store, .init(synchronous: .normal))
        await expectError(.storeInUse) { try await place.open(directory.store, .keeping()) }
        try await first.close()
        let second = try await place.open(directory.store, .keeping())
        await expectError(.storeInUse) { try await place.open(directory.store, .keeping(.none)) }
        let third = try await place.open(directory.store, .init(synchronous: .normal))
        #expect(try await third.records().map(\.kind) == [.reset])
        try await third.close()
        try await second.close()
    }

    /// A history is switched on and off on a server, by a container that has the store alone.
    @Test(.enabled(if: SharedPlace.Kind.all.contains(.postgreSQL)))
    func aHistoryIsSwitchedOnAndOffOnAServer() async throws {
        let place = try SharedPlace(.postgreSQL)
        let first = try place.open()
        try await first.dataSource(ContactDataSource.self).add(contactList(0..<1))
        expectError(.storeInUse) { try place.open(configuration: .keeping()) }
        await expectError(.historyNotKept) { try await first.records() }
        try await first.close()
        let second = try place.open(configuration: .keeping())
        let other = try place.open()
        try await other.dataSource(ContactDataSource.self).add(contactList(1..<2))
        #expect(try await second.records().map(\.kind) == [.reset, .incoming])
        try await other.close()
        try await second.close()
        let third = try place.open(configuration: .keeping(.none))
        try await third.dataSource(ContactDataSource.self).add(contactList(2..<3))
        try place.run("UPDATE \"ContactEntity\" SET \"name\" = 'outside'")
        #expect(try third.main.count(ContactEntity.self) == 3)
        try await third.close()
    }

    @Test(.enabled(if: SharedPlace.Kind.all.contains(.postgreSQL)))
    func aDamagedHistoryOfAServerDoesNotPreventAMigration() async throws {
        let place = try SharedPlace(.postgreSQL)
        let first = try place.open(configuration: .keeping())
        try await first.dataSource(ContactDataSource.self).add(contactList(0..<2))
        try await first.close()
        try place.run("DROP TABLE _history")
        var configuration = PersistentContainer.Configuration(synchronous: .normal, resetPolicy: .migrate)
        configuration.history = .none
        let second = try place.open(model: changed(), configuration: configuration)
        #expect(second.startup.migration != nil)
        #expect(try second.main.count(ContactEntity.self) == 2)
        try await second.close()
    }

    @Test func aCustomStoreWithoutAHistoryNamesTheProtocol() async throws {
        let location = StoreLocation.custom(
            CustomLocation(name: "custom") { options in
                (InMemoryStore(options.layout), StoreStartup(reason: .firstLaunch))
            })
        let error = await expectError(.historyNotKept) {
            try await PersistentContainer(model: .contacts, store: location, configuration: .keeping())
        }
        #expect(error?.message.contains("HistoryStore") == true)
        let container = try await PersistentContainer(model: .contacts, store: location)
        await expectError(.historyNotKept) { try await container.records() }
        try await container.close()
    }
}
