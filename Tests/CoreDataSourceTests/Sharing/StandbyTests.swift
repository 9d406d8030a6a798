#if PostgreSQL
import CoreDataSource
import ErrorExpectations
import TestSupport
import Testing

/// A standby takes reads only, and sends no notifications.
@MainActor
@Suite(
    .enabled(if: PostgreSQLServer.isInstalled, Comment(rawValue: PostgreSQLServer.comment)), .timeLimit(.minutes(30)))
struct StandbyTests {
    @Test func aListFollowsOnAStandby() async throws {
        let primary = try PostgreSQLServer()
        let database = try primary.makeDatabase()
        let standby = try PostgreSQLServer(standbyOf: primary)
        let location = StoreLocation.postgreSQL(primary.connectionString(database: database), name: "contacts")
        let container = try await PersistentContainer(model: .contacts, store: location)
        let contacts = try container.dataSource(ContactDataSource.self)
        try await contacts.add(contactList(0..<1))
        let copy = StoreLocation.postgreSQL(standby.connectionString(database: database), name: "contacts")
        await expectError(.storeReadOnly) { _ = try await PersistentContainer(model: .contacts, store: copy) }
        let reading = try await opened(copy)
        let read = try reading.dataSource(ContactDataSource.self)
        var updates = read.updates(ObjectRequest(ContactEntity.self, order: [.ascending(\.uid)])).makeAsyncIterator()
        #expect(await updates.next()?.snapshot.count == 1)
        for step in 1..<5 {
            try await contacts.add(contactList(step..<step + 1))
            while let update = await updates.next(), update.snapshot.count <= step {}
        }
        #expect(try await reading.read { try $0.fetch(ContactEntity.self).map(\.uid) } == contactList(0..<5).map(\.uid))
        await expectError(.storeReadOnly) { try await read.add(contactList(5..<6)) }
        try await reading.close()
        try await container.close()
    }

    /// Another server may be behind or ahead of what its lists show.
    @Test func aContainerThatOnlyReadsStaysWithOneServer() async throws {
        let server = try PostgreSQLServer.shared
        let database = try server.makeDatabase()
        let location = StoreLocation.postgreSQL(server.connectionString(database: database), name: "contacts")
        let container = try await PersistentContainer(model: .contacts, store: location)
        try await container.dataSource(ContactDataSource.self).add(contactList(0..<1))
        let proxies = try (0..<2).map { _ in try TCPProxy(to: server.port) }
        let hosts = proxies.map { "127.0.0.1:\($0.port)" }.joined(separator: ",")
        let several = "postgresql://\(PostgreSQLServer.user)@\(hosts)/\(database)?sslmode=disable&gssencmode=disable"
        let reading = try await opened(.postgreSQL(several, name: "contacts"))
        #expect(try await reading.read { try $0.count(ContactEntity.self) } == 1)
        proxies[0].goOffline()
        await expectError(.storeUnavailable) { try await reading.read { try $0.count(ContactEntity.self) } }
        proxies[0].goOnline()
        proxies[1].goOffline()
        #expect(try await reading.read { try $0.count(ContactEntity.self) } == 1)
        try await reading.close()
        try await container.close()
    }

    /// A standby may be behind.
    private func opened(_ location: StoreLocation) async throws -> PersistentContainer {
        while true {
            do {
                return try await PersistentContainer(
                    model: .contacts, store: location, configuration: .init(isReadOnly: true))
            } catch let error as DataSourceError where error.code == .storeNotFound {
                try await Task.sleep(for: .milliseconds(10))
            }
        }
    }
}
#endif
