import CoreDataSource
import Foundation
import RowStore
import SQLiteStore
import Testing

/// The keys of new objects in a store that others write too.
@MainActor
struct SharedKeysTests {
    /// Main waited two seconds for the file, and then could not insert.
    @Test func mainInsertsWhileAnotherProgramWrites() async throws {
        let directory = try TemporaryDirectory()
        let container = try PersistentContainer.shared(directory.store)
        let contacts = try container.dataSource(ContactDataSource.self)
        let raw = try RawConnection(directory.store)
        try raw.execute("BEGIN IMMEDIATE")
        let draft = try contacts.draft(inserting: ContactEntity.self)
        for _ in 0..<1000 { _ = try draft.context.insert(ContactEntity.self) }
        draft.discard()
        try raw.execute("ROLLBACK")
        try await container.close()
    }

    @Test func moreKeysAreReservedBeforeTheyAreNeeded() async throws {
        let directory = try TemporaryDirectory()
        let container = try PersistentContainer.shared(directory.store)
        let contacts = try container.dataSource(ContactDataSource.self)
        let draft = try contacts.draft(inserting: ContactEntity.self)
        for _ in 0..<3000 { _ = try draft.context.insert(ContactEntity.self) }
        await container.stack.keys.waitForReservations()
        let raw = try RawConnection(directory.store)
        try raw.execute("BEGIN IMMEDIATE")
        // The rest of the first ones, and others.
        for _ in 0..<4000 { _ = try draft.context.insert(ContactEntity.self) }
        #expect(Set(try draft.context.fetch(ContactEntity.self).map(\.objectID)).count == 7001)
        draft.discard()
        try raw.execute("ROLLBACK")
        try await container.close()
    }

    /// While the store cannot be written, large batches do not queue up one reservation after the other.
    @Test func oneReservationIsTriedAtATime() async throws {
        let directory = try TemporaryDirectory()
        let layout = ModelLayout(.contacts)
        var options = SQLiteStore.Options(url: directory.store, layout: layout, identity: StoreIdentity(.contacts))
        options.isShared = true
        let store = FaultyStore(over: try SQLiteStore.open(options))
        let container = PersistentContainer(layout, store, startup: StoreStartup(reason: .firstLaunch))
        let contacts = try container.dataSource(ContactDataSource.self)
        let (gate, tries) = (Gate(), Shared(0))
        store.whenReserving {
            tries.value += 1
            gate.wait()
            return DataSourceError(.storeBusy, "Somebody else writes.")
        }
        // Each of them might need more keys than there are.
        for _ in 0..<10 { try await contacts.add(contactList(0..<3000)) }
        for _ in 0..<20 { gate.open() }
        await container.stack.keys.waitForReservations()
        #expect(tries.value == 1)
        // It is tried again, and then there are keys.
        store.whenReserving { nil }
        #expect(try await contacts.add(contactList(0..<9000)).inserted == 6000)
        try await container.close()
    }

    /// Who made the new store goes on with keys of the old one, of which the new one must know.
    @Test func keysAfterAResetDoNotCollideBetweenContainers() async throws {
        let directory = try TemporaryDirectory()
        let one = try PersistentContainer.shared(directory.store)
        let mine = try one.dataSource(ContactDataSource.self)
        try await mine.add(contactList(0..<10))
        try await one.reset()
        let other = try PersistentContainer.shared(directory.store)
        let theirs = try other.dataSource(ContactDataSource.self)
        for step in 0..<5 {
            let start = step * 4000
            #expect(try await theirs.add(contactList(start..<start + 2000)).inserted == 2000)
            #expect(try await mine.add(contactList(start + 2000..<start + 4000)).inserted == 2000)
        }
        let raw = try RawConnection(directory.store)
        #expect(try raw.column("SELECT count(DISTINCT _key) FROM ContactEntity") == ["20000"])
        try await other.close()
        try await one.close()
    }

    /// Each of the next inserts was refused, until the reserved keys were used up.
    @Test(arguments: SharedPlace.Kind.all)
    func keysThatAnotherProgramHasUsedAreSkipped(kind: SharedPlace.Kind) async throws {
        let place = try SharedPlace(kind)
        let container = try place.open()
        let contacts = try container.dataSource(ContactDataSource.self)
        let groups = try container.dataSource(GroupDataSource.self)
        try await contacts.add(contactList(0..<1))
        let layout = try #require(container.stack.layout.entity(named: "ContactEntity"))
        let names = layout.storedColumns.map { "\"\(layout.columns[$0].name)\"" }
        let values = names.map { $0 == "\"uid\"" ? "'outside ' || n" : $0 }
        // The rows after the one of this process, which has reserved their keys.
        try place.run(
            """
            WITH RECURSIVE numbers(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < 100) \
            INSERT INTO "ContactEntity" ("_key", \(names.joined(separator: ", "))) \
            SELECT "_key" + n, \(values.joined(separator: ", ")) FROM "ContactEntity", numbers
            """)
        // A read takes in what the other program has written; a server's notification may not have come yet.
        #expect(try contacts.count(ContactEntity.self) == 101)
        #expect(try await contacts.add(contactList(1..<50)).inserted == 49)
        #expect(try await groups.add([GroupData(gid: "1", name: "")]).inserted == 1)
        #expect(try contacts.count(ContactEntity.self) == 150)
        let taken = try contacts.fetch(ContactEntity.self).map(\.objectID.key)
        let other = try #require(try groups.fetch(GroupEntity.self).first)
        #expect(!taken.contains(other.objectID.key))
        try await container.close()
    }
}
