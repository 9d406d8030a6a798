#if PostgreSQL
import CoreDataSource
import FrameworkNames
import TestSupport
import Testing

/// The snippets about stores on a server.
@MainActor
@Suite(.enabled(if: PostgreSQLServer.isInstalled, Comment(rawValue: PostgreSQLServer.comment)))
struct ServerSnippets {
    @Test func aStoreIsOnAServer() async throws {
        let server = try PostgreSQLServer.shared
        let connection = server.connectionString(database: try server.makeDatabase())
        let container = try await PersistentContainer(
            model: .contacts, store: .postgreSQL(connection, name: "contacts"))
        try await container.dataSource(ContactDataSource.self).add(Contact(uid: "1", name: "Guan Yu"))
        let other = try await PersistentContainer(
            model: .contacts, store: .postgreSQL(connection, name: "contacts"))
        #expect(try other.dataSource(ContactDataSource.self).count(ContactEntity.self) == 1)
        try await other.close()
        try await container.close()
    }
}
#endif
