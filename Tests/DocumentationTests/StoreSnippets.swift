import CoreDataSource
import Foundation
import FrameworkNames
import TestSupport
import Testing

/// The snippets about stores, reset, sync and durability.
@MainActor
struct StoreSnippets {
    private let directory: TemporaryDirectory
    private var url: URL { directory.url.appending(component: "contacts.sqlite") }

    init() throws {
        directory = try TemporaryDirectory()
    }

    @Test func aStartSaysWhatBecameOfTheStore() async throws {
        let container = try await PersistentContainer(
            model: .contacts, store: .sqlite(url), databaseKey: "1",
            configuration: .init(resetPolicy: .migrate(otherwise: .standard)))
        let startup = container.startup
        if startup.isReset {
            print("\(startup.reason): \(startup.rowsDropped) objects dropped")
            print("backup: \(startup.backup?.path ?? "none")")
        }
        #expect(startup.reason == .firstLaunch)
        #expect(!startup.isReset)
        try await container.close()
    }

    @Test func aKeyOfOneDataSourceDropsItsRows() async throws {
        for key in ["7", "8"] {
            let container = try await PersistentContainer(
                model: .contacts, store: .sqlite(url), databaseKey: "1",
                configuration: .init(databaseKeys: [ContactDataSource.self: key]))
            let contacts = try container.dataSource(ContactDataSource.self)
            let groups = try container.dataSource(GroupDataSource.self)
            #expect(try contacts.count(ContactEntity.self) == 0)
            #expect(try groups.count(GroupEntity.self) == (key == "7" ? 0 : 1))
            try await contacts.add(Contact(uid: "1", name: "Guan Yu"))
            try await groups.add(Group(gid: "1", name: "Oath"))
            try await container.close()
        }
    }

    @Test func aBackupIsRestored() async throws {
        let backup = directory.url.appending(component: "backup.sqlite")
        let container = try await PersistentContainer(model: .contacts, store: .sqlite(url), databaseKey: "1")
        try await container.backup(to: backup)
        try await container.reset()
        try await container.close()
        try await PersistentContainer.restore(backup, to: url, replacingStore: true)
        #expect(FileManager.default.fileExists(atPath: url.path))
    }

    @Test func aSyncIsPlannedFirst() async throws {
        try await withContacts { _, contacts in
            let serverList = [Contact(uid: "1", name: "Guan Yunchang"), Contact(uid: "4", name: "Zhao Yun")]
            let plan = try await contacts.planSync(serverList, entity: ContactEntity.self)
            #expect(plan.deleted == 2)
            let sync = try await contacts.sync(
                serverList, scope: .beginsWith(\.name, "Guan"), deleting: .atMost(0.5), options: .reportsIDs)
            print("\(sync.inserted) new, \(sync.updated) changed, \(sync.deleted) gone")
            let counts: [Int] = [sync.inserted, sync.updated, sync.unchanged, sync.deleted]
            #expect(counts == [1, 1, 0, 1])
        }
    }

    @Test func aCounterLosesNoUpdate() async throws {
        let container = try await PersistentContainer(model: .contacts, store: .sqlite(url, sharing: .processes))
        let other = try await PersistentContainer(model: .contacts, store: .sqlite(url, sharing: .processes))
        let sources = try [
            container.dataSource(ContactDataSource.self), other.dataSource(ContactDataSource.self),
        ]
        try await sources[0].add(Contact(uid: "1", name: "Guan Yu"))
        let age = try #require(try sources[0].fetch(ContactEntity.self).first?.age)
        for contacts in sources + sources {
            try await contacts.perform { context in
                try context.first(ContactEntity.self, where: \.uid == "1")?.age += 1
            }
        }
        let ages = try await other.read { context in try context.fetch(ContactEntity.self).map(\.age) }
        #expect(ages == [age + 4])
        try await other.close()
        try await container.close()
    }

    @Test func processesShareAStore() async throws {
        let container = try await PersistentContainer(model: .contacts, store: .sqlite(url, sharing: .processes))
        let other = try await PersistentContainer(model: .contacts, store: .sqlite(url, sharing: .processes))
        try await container.dataSource(ContactDataSource.self).add(Contact(uid: "1", name: "Guan Yu"))
        for lease in try container.leases { print(lease) }
        #expect(try container.leases.map(\.isHeldHere) == [true])
        #expect(try other.leases.map(\.isHeldHere) == [false])
        #expect(try other.dataSource(ContactDataSource.self).count(ContactEntity.self) == 1)
        try await other.close()
        try await container.close()
    }

    @Test func failuresAreALoop() async throws {
        let container = try await PersistentContainer(
            model: .contacts, store: .sqlite(url), configuration: .init(synchronous: .normal))
        let log = Task {
            for await failure in container.failures { print(failure) }
        }
        try await container.flush()
        try await container.close()
        await log.value
    }
}
