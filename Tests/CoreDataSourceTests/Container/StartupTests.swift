import CoreDataSource
import ErrorExpectations
import Foundation
import Testing

@MainActor
struct StartupTests {
    private func open(
        _ url: URL, key: String = "1", model: ManagedObjectModel = .contacts, _ policy: ResetPolicy = .discard
    ) async throws -> PersistentContainer {
        try await PersistentContainer(
            model: model, store: .sqlite(url), databaseKey: key, configuration: .init(resetPolicy: policy))
    }

    private func fill(_ url: URL) async throws {
        let container = try await open(url)
        try await container.dataSource(ContactDataSource.self).add(contactList(0..<5))
        try await container.close()
    }

    @Test func anotherKeyResetsTheStoreAndSaysSo() async throws {
        let directory = try TemporaryDirectory()
        try await fill(directory.store)
        let container = try await open(directory.store, key: "2")
        #expect(container.startup.reason == .databaseKeyChanged)
        #expect(container.startup.rowsDropped == 5)
        #expect(try container.main.count(ContactEntity.self) == 0)
        try await container.close()
        #expect(try await open(directory.store, key: "2").startup.reason == .current)
        try expectIntact(directory.store)
    }

    @Test(arguments: [0o600, 0o640])
    func theFilesHaveTheModeThatIsAskedFor(mode: Int) async throws {
        let directory = try TemporaryDirectory()
        let container = try await PersistentContainer(
            model: .contacts, store: .sqlite(directory.store), configuration: .init(fileMode: mode))
        try await container.dataSource(ContactDataSource.self).add(contactList(0..<5))
        let names = try FileManager.default.contentsOfDirectory(atPath: directory.url.path)
        #expect(names.count == 4)
        for name in names {
            let attributes = try FileManager.default.attributesOfItem(
                atPath: directory.url.appending(component: name).path)
            #expect(attributes[.posixPermissions] as? Int == mode, "\(name)")
        }
        try await container.close()
    }

    /// D2: the hash of the ancestor was blind to some changes; this one names the entities that differ.
    @Test func anotherModelResetsTheStoreAndNamesTheEntities() async throws {
        let directory = try TemporaryDirectory()
        try await fill(directory.store)
        var changed = ManagedObjectModel.contacts
        let contact = try #require(changed.entities.firstIndex { $0.name == "ContactEntity" })
        changed.entities[contact].versionHashModifier = "2"
        let container = try await open(directory.store, model: changed)
        #expect(container.startup.reason == .modelChanged(entities: ["ContactEntity"]))
        #expect(container.startup.rowsDropped == 5)
    }

    @Test func theFailPolicyLeavesTheStoreAlone() async throws {
        let directory = try TemporaryDirectory()
        try await fill(directory.store)
        let before = try Data(contentsOf: directory.store)
        await expectError(.modelChanged) { try await open(directory.store, key: "2", .fail) }
        #expect(try Data(contentsOf: directory.store) == before)
        let container = try await open(directory.store)
        #expect(try container.main.count(ContactEntity.self) == 5)
    }

    private func fillBoth(_ url: URL, _ keys: DataSourceKeys) async throws -> PersistentContainer {
        let container = try await PersistentContainer(
            model: .contacts, store: .sqlite(url), configuration: .init(databaseKeys: keys))
        try await container.dataSource(ContactDataSource.self).add(contactList(0..<5))
        try await container.dataSource(GroupDataSource.self).add(GroupData(gid: "1", name: "Shu"))
        return container
    }

    @Test func theKeyOfADataSourceDropsItsRowsAndNoOthers() async throws {
        let directory = try TemporaryDirectory()
        try await fillBoth(directory.store, [GroupDataSource.self: "1"]).close()
        let container = try await fillBoth(
            directory.store, [ContactDataSource.self: "7", GroupDataSource.self: "1"])
        #expect(container.startup.reason == .sourceKeysChanged(entities: ["ContactEntity"]))
        #expect(container.startup.entitiesReset == ["ContactEntity"])
        #expect(container.startup.rowsDropped == 5)
        #expect(try container.main.count(ContactEntity.self) == 5)
        #expect(try container.main.count(GroupEntity.self) == 1)
        try await container.close()
        try expectIntact(directory.store)
    }

    @Test func theNewKeyOfADataSourceIsKept() async throws {
        let directory = try TemporaryDirectory()
        for reason in [StoreStartup.Reason.firstLaunch, .current] {
            let container = try await fillBoth(directory.store, [ContactDataSource.self: "7"])
            #expect(container.startup.reason == reason)
            try await container.close()
        }
    }

    @Test func aBackupIsAStoreThatTheOldAppCanOpen() async throws {
        let directory = try TemporaryDirectory()
        try await fill(directory.store)
        let container = try await open(directory.store, key: "2", .backup(keep: 3))
        #expect(container.startup.reason == .databaseKeyChanged)
        let backup = try #require(container.startup.backup)
        try await container.close()
        let old = try await open(backup)
        #expect(old.startup.reason == .current)
        #expect(try old.main.count(ContactEntity.self) == 5)
        try await old.close()
    }

    @Test func onlyTheEntityThatChangedLosesItsRows() async throws {
        let directory = try TemporaryDirectory()
        try await fillBoth(directory.store, [:]).close()
        var changed = ManagedObjectModel.contacts
        let contact = try #require(changed.entities.firstIndex { $0.name == "ContactEntity" })
        changed.entities[contact].versionHashModifier = "2"
        let container = try await PersistentContainer(
            model: changed, store: .sqlite(directory.store), configuration: .init(resetPolicy: .changedEntities))
        #expect(container.startup.reason == .modelChanged(entities: ["ContactEntity"]))
        #expect(try container.main.count(ContactEntity.self) == 0)
        #expect(try container.main.count(GroupEntity.self) == 1)
        try await container.close()
    }

    /// D1: the ancestor deleted the main file only; its log brought old rows back.
    @Test func aResetLeavesNoOldRowInTheLog() async throws {
        let directory = try TemporaryDirectory()
        let path = directory.store.path
        await #expect(processExitsWith: .signal(SIGKILL)) { [path = path as String] in
            let container = try await PersistentContainer(
                model: .contacts, store: .sqlite(URL(filePath: path)), databaseKey: "1")
            try await container.dataSource(ContactDataSource.self).add(contactList(0..<500))
            kill(getpid(), SIGKILL)
        }
        #expect(FileManager.default.fileExists(atPath: path + "-wal"))
        for key in ["2", "2"] {
            let container = try await open(directory.store, key: key)
            #expect(try container.main.count(ContactEntity.self) == 0)
            try await container.close()
        }
        try expectIntact(directory.store)
    }

    /// Skopelos removed the store whenever it could not be opened.
    @Test func aStoreThatCannotBeOpenedIsNotReset() async throws {
        let directory = try TemporaryDirectory()
        let text = Data("This is a letter, not a database. It has more than a hundred bytes, as letters have.".utf8)
        try (text + text).write(to: directory.store)
        await expectError(.notADatabase) { try await open(directory.store) }
        #expect(try Data(contentsOf: directory.store) == text + text)
    }

    @Test func aSecondContainerIsTurnedAway() async throws {
        let directory = try TemporaryDirectory()
        let container = try await open(directory.store)
        await expectError(.storeInUse) { try await open(directory.store) }
        try await container.close()
        _ = try await open(directory.store)
    }

    @Test func aModelWithAMistakeIsRefusedWithASentence() async throws {
        let model = ManagedObjectModel(
            name: "Broken", entities: [EntityDescription(name: "A", parentName: "Missing")])
        let error = await expectError(.unreadableModel) {
            try await PersistentContainer(model: model, store: .inMemory)
        }
        #expect(error?.message.contains("Missing") == true)
    }
}
