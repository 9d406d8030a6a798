#if PostgreSQL
import CoreDataSource
import ErrorExpectations
import PostgreSQLStore
import RowStore
import TestSupport
import Testing

/// Another program keeps rows locked that a save changes.
@Suite(.enabled(if: PostgreSQLServer.isInstalled, Comment(rawValue: PostgreSQLServer.comment)))
struct LockedRowTests {
    /// A database of its own, and a container that waits for locks for so long.
    private func open(
        _ patience: Duration, _ model: ManagedObjectModel = .contacts
    ) throws -> (PersistentContainer, PostgreSQLSession) {
        let server = try PostgreSQLServer.shared
        let database = try server.makeDatabase()
        let layout = ModelLayout(model)
        let store = try PostgreSQLStore.open(
            PostgreSQLStore.Options(
                connection: server.connectionString(database: database), name: "store", layout: layout,
                identity: StoreIdentity(model)))
        var configuration = PersistentContainer.Configuration()
        configuration.lockPatience = patience
        return (
            PersistentContainer(layout, store, startup: store.startup, configuration: configuration),
            try server.session(database: database)
        )
    }

    @Test func onlySavesOfLockedRowsWait() async throws {
        let (container, session) = try open(.seconds(600))
        let contacts = try await container.dataSource(ContactDataSource.self)
        let groups = try await container.dataSource(GroupDataSource.self)
        try await contacts.add(contactList(0..<1))
        try session.run("BEGIN; SELECT FROM \"store 1\".\"ContactEntity\" FOR UPDATE")
        async let changed: SaveReport = contacts.add(contactList(0..<1) { _ in "changed" })
        while container.pendingSaveCount == 0 { await Task.yield() }
        for number in 0..<10 { try await groups.add(GroupData(gid: "\(number)", name: "")) }
        #expect(container.pendingSaveCount == 1)
        try session.run("ROLLBACK")
        #expect(try await changed.updated == 1)
        #expect(try session.run("SELECT count(*) FROM \"store 1\".\"GroupEntity\"") == [["10"]])
        try await container.close()
    }

    /// Nor what is saved together with it: a transaction finds out what waits.
    @Test func aSaveThatLinksToAWaitingNewObjectWaitsToo() async throws {
        let (container, session) = try open(.seconds(600), .graph)
        let topics = try await container.dataSource(TopicDataSource.self)
        let letters = try await container.dataSource(LetterDataSource.self)
        try await letters.add("without a topic")
        try session.run("BEGIN; LOCK TABLE \"store 1\".\"Topic\" IN SHARE MODE")
        try await topics.add("t", waitFor: .main)
        async let added: SaveReport = letters.add("l")
        while container.pendingSaveCount < 2 { await Task.yield() }
        // The others of its data source wait, too, and flushing tries all of them.
        async let flushed: Void = container.flush()
        let tries = "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'"
        while try session.run(tries) != [["1"]] { try await Task.sleep(for: .milliseconds(5)) }
        while try session.run(tries) != [["0"]] { try await Task.sleep(for: .milliseconds(5)) }
        #expect(container.pendingSaveCount == 2)
        #expect(try session.run("SELECT count(*) FROM \"store 1\".\"Letter\"") == [["1"]])
        try session.run("ROLLBACK")
        try await flushed
        #expect(try await added.inserted == 1)
        #expect(try session.run("SELECT count(*) FROM \"store 1\".\"Letter\" WHERE topic IS NOT NULL") == [["1"]])
        try await container.close()
    }

    @Test func aSaveOfLockedRowsFailsAfterAWhile() async throws {
        let (container, session) = try open(.zero)
        let contacts = try await container.dataSource(ContactDataSource.self)
        try await contacts.add(contactList(0..<1))
        try session.run("BEGIN; SELECT FROM \"store 1\".\"ContactEntity\" FOR UPDATE")
        await expectError(.storeBusy) {
            try await contacts.add(contactList(0..<1) { _ in "changed" })
        }
        try session.run("ROLLBACK")
        #expect(try await contacts.add(contactList(0..<1) { _ in "changed" }).updated == 1)
        try await container.close()
    }
}
#endif
