import CoreDataSource
import Foundation
import RowStore
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
        await container.stack.keys.settle()
        let raw = try RawConnection(directory.store)
        try raw.execute("BEGIN IMMEDIATE")
        // The rest of the first ones, and others.
        for _ in 0..<4000 { _ = try draft.context.insert(ContactEntity.self) }
        #expect(Set(try draft.context.fetch(ContactEntity.self).map(\.objectID)).count == 7001)
        draft.discard()
        try raw.execute("ROLLBACK")
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
}
