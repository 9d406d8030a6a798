import CoreDataSource
import ErrorExpectations
import Foundation
import Testing

/// The keys of new objects, where another program or a damaged disk has changed what a store says of them.
@MainActor
struct KeyTests {
    private func open(_ url: URL) async throws -> PersistentContainer {
        try await PersistentContainer(model: .contacts, store: .sqlite(url), databaseKey: "1")
    }

    private func makeStore(_ url: URL, _ sql: String) async throws {
        let container = try await open(url)
        try await container.dataSource(ContactDataSource.self).add(contactList(0..<5))
        try await container.close()
        try RawConnection(url).execute(sql)
    }

    @Test(arguments: [Int64.max, Int64.max - 1, 1, 3] as [Int64])
    func objectsAreInsertedWhateverTheStoreSaysOfItsKeys(bound: Int64) async throws {
        let directory = try TemporaryDirectory()
        try await makeStore(
            directory.store, "UPDATE _metadata SET value = \(bound) WHERE name = 'firstFreeKey'")
        let container = try await open(directory.store)
        try await container.dataSource(ContactDataSource.self).add(contactList(5..<10))
        #expect(try container.main.count(ContactEntity.self) == 10)
        try await container.close()
        try expectIntact(directory.store)
    }

    @Test func anInsertThatFindsNoKeyThrowsAndLeavesNothing() async throws {
        let directory = try TemporaryDirectory()
        try await makeStore(
            directory.store, "UPDATE ContactEntity SET _key = 9223372036854775807 WHERE uid = 'uid-4'")
        let container = try await open(directory.store)
        let contacts = try container.dataSource(ContactDataSource.self)
        await expectError(.keysExhausted) { try await contacts.add(contactList(4..<7)) }
        #expect(try container.main.count(ContactEntity.self) == 5)
        // What needs no key goes on.
        try await contacts.add(contactList(3..<5, name: { "new \($0)" }))
        try await contacts.delete(contactList(0..<1))
        #expect(try container.main.count(ContactEntity.self) == 4)
        try await container.close()
        try expectIntact(directory.store)
    }
}
