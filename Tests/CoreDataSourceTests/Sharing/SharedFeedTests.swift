import CoreDataSource
import ErrorExpectations
import Foundation
import RowStore
import SQLiteStore
import Testing

/// What a container takes in of what others have saved, and when.
@MainActor
struct SharedFeedTests {
    /// A container whose store can be made to fail, beside another one.
    private func withFaulty(
        _ body: (PersistentContainer, FaultyStore, PersistentContainer, URL) async throws -> Void
    ) async throws {
        let directory = try TemporaryDirectory()
        let layout = ModelLayout(.contacts)
        var options = SQLiteStore.Options(
            url: directory.store, layout: layout,
            identity: StoreIdentity(
                modelHash: ManagedObjectModel.contacts.hash.description,
                entityHashes: ManagedObjectModel.contacts.entityHashes.mapValues(\.description), databaseKey: ""))
        options.isShared = true
        let store = FaultyStore(over: try SQLiteStore.open(options))
        let one = PersistentContainer(layout, store, startup: StoreStartup(reason: .firstLaunch))
        let other = try PersistentContainer.shared(directory.store)
        try await body(one, store, other, directory.store)
        try await one.close()
        try await other.close()
    }

    /// A save that cannot be committed keeps what others saved after it over what reads find in the store.
    @Test func rowsUnderAnUnknownChangeAreNotShownStale() async throws {
        try await withFaulty { one, store, other, _ in
            let mine = try one.dataSource(ContactDataSource.self)
            let groups = try one.dataSource(GroupDataSource.self)
            let theirs = try other.dataSource(ContactDataSource.self)
            try await theirs.add(contactList(0..<10))
            #expect(try mine.count(ContactEntity.self) == 10)
            store.fail(with: noRoom)
            try await groups.add(GroupData(gid: "g", name: "pending"), waitFor: .main)
            try await theirs.add(contactList(0..<1) { _ in "few" })
            #expect(try mine.main.first(ContactEntity.self, where: \.uid == "uid-0")?.name == "few")
            // So many that they are not reported one by one.
            try await theirs.add(contactList(0..<5000) { _ in "many" })
            #expect(try mine.fetch(ContactEntity.self).filter { $0.name != "many" }.count == 0)
            #expect(try await mine.perform { try $0.count(ContactEntity.self, where: \.name == "few") } == 0)
            store.fail(with: nil)
        }
    }

    /// Who makes few saves forgets old ones too: nobody else may be there to do it.
    @Test func theFirstSaveOfAMemberForgetsOldOnes() async throws {
        let directory = try TemporaryDirectory()
        let one = try PersistentContainer.shared(directory.store)
        let other = try PersistentContainer.shared(directory.store)
        let mine = try one.dataSource(ContactDataSource.self)
        for step in 0..<5 { try await mine.add(contactList(step..<step + 1)) }
        let raw = try RawConnection(directory.store)
        #expect(try raw.column("SELECT count(*) FROM _changes") == ["5"])
        try raw.execute("UPDATE _changes SET time = 1")
        try await other.dataSource(ContactDataSource.self).add(contactList(5..<6))
        #expect(try raw.column("SELECT count(*) FROM _changes") == ["1"])
        #expect(try mine.count(ContactEntity.self) == 6)
        try await one.close()
        try await other.close()
    }

    @Test func aWriteFromOutsideIsNoticedThoughLeasesWereLookedAtFirst() async throws {
        try await withFaulty { one, _, _, url in
            let mine = try one.dataSource(ContactDataSource.self)
            try await mine.add(contactList(0..<3))
            // Its own save is known when the other program writes.
            _ = try one.leases
            try RawConnection(url).execute("UPDATE ContactEntity SET name = 'outside'")
            _ = try one.leases
            #expect(try await mine.add(contactList(0..<3)) == SaveReport(updated: 3))
        }
    }

    /// It was taken for an own write if it came before the container had looked at the file again.
    @Test func aWriteFromOutsideIsNoticedRightAfterAnOwnSave() async throws {
        let directory = try TemporaryDirectory()
        let container = try PersistentContainer.shared(directory.store)
        let contacts = try container.dataSource(ContactDataSource.self)
        let raw = try RawConnection(directory.store)
        try await contacts.add(contactList(0..<3))
        for step in 3..<40 {
            try await contacts.add(contactList(step..<step + 1))
            try raw.execute("UPDATE ContactEntity SET name = 'outside' WHERE uid IN ('uid-0', 'uid-1', 'uid-2')")
            #expect(try await contacts.add(contactList(0..<3)) == SaveReport(updated: 3), "step \(step)")
        }
        try await container.close()
    }

    /// A hook would build on rows that are older than those of the store.
    @Test func aBatchBeginsOnlyAfterTheFeedWasTakenIn() async throws {
        try await withFaulty { one, store, _, _ in
            let mine = try one.dataSource(ContactDataSource.self)
            try await mine.add(contactList(0..<3))
            store.failFeed(with: noRoom)
            let began = Shared(false)
            await expectError(.diskFull) {
                try await mine.perform { _ in began.value = true }
            }
            #expect(!began.value)
            store.failFeed(with: nil)
            #expect(try await mine.add(contactList(0..<4)) == SaveReport(inserted: 1))
        }
    }
}
