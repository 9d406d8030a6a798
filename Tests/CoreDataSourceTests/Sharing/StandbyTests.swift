#if PostgreSQL
import CoreDataSource
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
        await #expect { _ = try await PersistentContainer(model: .contacts, store: copy) } throws: {
            ($0 as? DataSourceError)?.code == .storeReadOnly
        }
        let reading = try await opened(copy)
        let read = try reading.dataSource(ContactDataSource.self)
        var updates = read.updates(FetchRequest(ContactEntity.self, order: [.ascending(\.uid)])).makeAsyncIterator()
        #expect(await updates.next()?.snapshot.count == 1)
        for step in 1..<5 {
            try await contacts.add(contactList(step..<step + 1))
            while let update = await updates.next(), update.snapshot.count <= step {}
        }
        #expect(try await reading.read { try $0.fetch(ContactEntity.self).map(\.uid) } == contactList(0..<5).map(\.uid))
        await #expect { try await read.add(contactList(5..<6)) } throws: {
            ($0 as? DataSourceError)?.code == .storeReadOnly
        }
        try await reading.close()
        try await container.close()
    }

    /// A standby may be behind.
    private func opened(_ location: StoreLocation) async throws -> PersistentContainer {
        while true {
            do {
                return try await PersistentContainer(
                    model: .contacts, store: location, configuration: .init(isReadOnly: true))
            } catch let error as DataSourceError where error.code == .notAFile {
                try await Task.sleep(for: .milliseconds(10))
            }
        }
    }
}
#endif
