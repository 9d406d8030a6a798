#if PostgreSQL
import CoreDataSource
import PostgreSQLStore
import RowStore
import TestSupport
import Testing

/// Some servers that speak the protocol of PostgreSQL send no notifications.
@MainActor
@Suite(
    .enabled(if: PostgreSQLServer.isInstalled, Comment(rawValue: PostgreSQLServer.comment)), .timeLimit(.minutes(30)))
struct UnnotifiedListTests {
    @Test func aListFollowsWithoutNotifications() async throws {
        let server = try PostgreSQLServer.shared
        let database = try server.makeDatabase()
        var options = PostgreSQLStore.Options(
            connection: server.connectionString(database: database), name: "store", layout: ModelLayout(.contacts),
            identity: StoreIdentity(.contacts))
        options.isNotified = false
        let (store, otherStore) = (try PostgreSQLStore.open(options), try PostgreSQLStore.open(options))
        let one = PersistentContainer(options.layout, store, startup: store.startup, configuration: .init())
        let other = PersistentContainer(options.layout, otherStore, startup: otherStore.startup, configuration: .init())
        let contacts = try one.dataSource(ContactDataSource.self)
        let followed = try other.dataSource(ContactDataSource.self)
        var updates = followed.updates(ObjectRequest(ContactEntity.self, order: [.ascending(\.uid)]))
            .makeAsyncIterator()
        #expect(await updates.next()?.snapshot.count == 0)
        for step in 0..<10 {
            try await contacts.add(contactList(step..<step + 1))
            while let update = await updates.next(), update.snapshot.count <= step {}
        }
        #expect(try followed.main.count(ContactEntity.self) == 10)
        try await other.close()
        try await one.close()
    }
}
#endif
