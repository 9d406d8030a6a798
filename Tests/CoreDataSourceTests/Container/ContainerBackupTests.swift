import CoreDataSource
import ErrorExpectations
import Foundation
import Testing

/// Copies of a container's store, and what the default policy keeps.
@MainActor
struct ContainerBackupTests {
    private func count(_ url: URL) throws -> [String] {
        try RawConnection(url).column("select count(*) from ContactEntity")
    }

    private func copies(_ directory: borrowing TemporaryDirectory) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: directory.url.path).filter { $0.hasPrefix("copy") }
    }

    @Test func aBackupHoldsPendingSavesOfMainToo() async throws {
        let directory = try TemporaryDirectory()
        try await withContainer { container, _ in
            let contacts = try container.dataSource(ContactDataSource.self)
            try await contacts.add(contactList(0..<5))
            try await contacts.add(contactList(5..<9), waitFor: .main)
            let copy = directory.url.appending(component: "copy")
            try await container.backup(to: copy)
            #expect(try count(copy) == ["9"])
            try expectIntact(copy)
            #expect(try FileManager.default.attributesOfItem(atPath: copy.path)[.posixPermissions] as? Int == 0o600)
        }
        #expect(try copies(directory) == ["copy"])
    }

    @Test func savesGoOnWhileABackupIsMade() async throws {
        let directory = try TemporaryDirectory()
        try await withContainer { container, _ in
            let contacts = try container.dataSource(ContactDataSource.self)
            try await contacts.add(contactList(0..<100))
            let isOver = Shared(false)
            let saves = Task {
                var next = 100
                while !isOver.value {
                    try await contacts.add(contactList(next..<next + 2))
                    next += 2
                }
                return next
            }
            for number in 0..<5 {
                try await container.backup(to: directory.url.appending(component: "copy\(number)"))
            }
            isOver.value = true
            let total = try await saves.value
            #expect(try contacts.count(ContactEntity.self) == total)
        }
        for name in try copies(directory) {
            let copy = directory.url.appending(component: name)
            #expect(try RawConnection(copy).column("select count(*) % 2 from ContactEntity") == ["0"])
            try expectIntact(copy)
        }
        #expect(try copies(directory).count == 5)
    }

    @Test func aBackupNeverReplacesAFile() async throws {
        let directory = try TemporaryDirectory()
        let copy = directory.url.appending(component: "copy")
        try Data("mine".utf8).write(to: copy)
        try await withContainer { container, _ in
            await expectError(.fileExists) { try await container.backup(to: copy) }
        }
        #expect(try Data(contentsOf: copy) == Data("mine".utf8))
        #expect(try copies(directory) == ["copy"])
    }

    @Test func aStoreInMemoryHasNothingToBackUp() async throws {
        let directory = try TemporaryDirectory()
        try await withContainer(.inMemory) { container, _ in
            let copy = directory.url.appending(component: "copy")
            let error = await expectError(.storeUnreadable) { try await container.backup(to: copy) }
            #expect(error?.message.contains("in memory") == true)
            // Nor is there anything that the default policy could keep.
            let startup = try await container.reset()
            #expect(startup.backup == nil && startup.removedBackups.isEmpty)
        }
        #expect(try copies(directory).isEmpty)
    }

    @Test func aCancelledBackupLeavesNoFile() async throws {
        let directory = try TemporaryDirectory()
        let copy = directory.url.appending(component: "copy")
        try await withContainer { container, _ in
            let task = Task {
                while !Task.isCancelled { await Task.yield() }
                try await container.backup(to: copy)
            }
            task.cancel()
            await expectThrows(CancellationError.self) { try await task.value }
        }
        #expect(try copies(directory).isEmpty)
    }

    @Test func aBackupOfAClosedContainerIsAnError() async throws {
        let directory = try TemporaryDirectory()
        let copy = directory.url.appending(component: "copy")
        try await withContainer { container, _ in
            try await container.close()
            await expectError(.storeClosed) { try await container.backup(to: copy) }
        }
        #expect(try copies(directory).isEmpty)
    }

    // MARK: Bringing it back

    private func open(_ url: URL, key: String = "1", model: ManagedObjectModel = .contacts) async throws
        -> PersistentContainer
    {
        try await PersistentContainer(model: model, store: .sqlite(url), databaseKey: key)
    }

    @Test func aRestoredBackupIsTheStoreOfTheNextContainer() async throws {
        let directory = try TemporaryDirectory()
        let copy = directory.url.appending(component: "copy")
        let container = try await open(directory.store)
        try await container.dataSource(ContactDataSource.self).add(contactList(0..<5))
        try await container.backup(to: copy)
        try await container.dataSource(ContactDataSource.self).add(contactList(5..<9))
        let url = directory.store
        await expectError(.storeInUse) {
            try await PersistentContainer.restore(copy, to: url, replacingStore: true)
        }
        try await container.close()
        await expectError(.fileExists) {
            try await PersistentContainer.restore(copy, to: url)
        }
        try await PersistentContainer.restore(copy, to: url, replacingStore: true)
        let restored = try await open(url)
        #expect(restored.startup.reason == .current)
        #expect(try restored.main.count(ContactEntity.self) == 5)
        try await restored.close()
        try expectIntact(url)
    }

    @Test func aDestroyedStoreIsGoneAndOneInUseIsNot() async throws {
        let directory = try TemporaryDirectory()
        let container = try await open(directory.store)
        try await container.dataSource(ContactDataSource.self).add(contactList(0..<5))
        let url = directory.store
        await expectError(.storeInUse) { try await PersistentContainer.destroy(storeAt: url) }
        try await container.close()
        try await PersistentContainer.destroy(storeAt: url, includingBackups: true)
        let next = try await open(url)
        #expect(next.startup.reason == .firstLaunch)
        try await next.close()
    }

    // MARK: The default policy

    private var changedModel: ManagedObjectModel {
        get throws {
            var changed = ManagedObjectModel.contacts
            let contact = try #require(changed.entities.firstIndex { $0.name == "ContactEntity" })
            changed.entities[contact].versionHashModifier = "2"
            return changed
        }
    }

    /// Opens a store with another model than the one that its five rows were saved for.
    private func openChanged(_ url: URL) async throws -> PersistentContainer {
        let container = try await open(url)
        try await container.dataSource(ContactDataSource.self).add(contactList(0..<5))
        try await container.close()
        return try await open(url, model: changedModel)
    }

    @Test func withoutAPolicyAnotherModelKeepsABackupOfEveryRow() async throws {
        let directory = try TemporaryDirectory()
        #expect(PersistentContainer.Configuration().resetPolicy == .standard)
        let container = try await openChanged(directory.store)
        #expect(container.startup.rowsDropped == 5)
        #expect(try container.main.count(ContactEntity.self) == 0)
        let backup = try #require(container.startup.backup)
        #expect(try count(backup) == ["5"])
        try await container.close()
        // And the old app can have it back.
        try await PersistentContainer.restore(backup, to: directory.store, replacingStore: true)
        let old = try await open(directory.store)
        #expect(try old.main.count(ContactEntity.self) == 5)
        try await old.close()
    }

    @Test func withoutAPolicyAnotherKeyLeavesNoRowInAnyFile() async throws {
        let directory = try TemporaryDirectory()
        let container = try await openChanged(directory.store)
        let backup = try #require(container.startup.backup)
        try await container.close()
        let next = try await open(directory.store, key: "2", model: changedModel)
        #expect(next.startup.backup == nil)
        #expect(next.startup.removedBackups == [backup])
        #expect(!FileManager.default.fileExists(atPath: backup.path))
        try await next.close()
    }

    @Test func withoutAPolicyAResetLeavesNoRowInAnyFile() async throws {
        let directory = try TemporaryDirectory()
        let container = try await openChanged(directory.store)
        let backup = try #require(container.startup.backup)
        let startup = try await container.reset()
        #expect(startup.backup == nil)
        #expect(startup.removedBackups == [backup])
        #expect(!FileManager.default.fileExists(atPath: backup.path))
        try await container.close()
    }
}
