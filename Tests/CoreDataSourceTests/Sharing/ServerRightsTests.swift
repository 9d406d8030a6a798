#if PostgreSQL
import CoreDataSource
import Dispatch
import Foundation
import PostgreSQLStore
import TestSupport
import Testing

/// A store on a server whose roles have different rights, as SharingAStore describes them: one owns it, one reads and writes it, one
/// only reads it.
@MainActor
@Suite(
    .enabled(if: PostgreSQLServer.isInstalled, Comment(rawValue: PostgreSQLServer.comment)), .timeLimit(.minutes(30)))
struct ServerRightsTests {
    private let server: PostgreSQLServer
    private let database: String

    init() throws {
        server = try .shared
        database = try server.makeDatabase()
        try server.session(database: database).run(
            """
            CREATE ROLE contacts_\(database) NOLOGIN;
            ALTER DATABASE \(database) OWNER TO contacts_\(database);
            CREATE ROLE deploy_\(database) LOGIN IN ROLE contacts_\(database);
            ALTER ROLE deploy_\(database) SET role = 'contacts_\(database)';
            CREATE ROLE service_\(database) LOGIN;
            CREATE ROLE report_\(database) LOGIN;
            ALTER DEFAULT PRIVILEGES FOR ROLE contacts_\(database)
                GRANT USAGE ON SCHEMAS TO service_\(database), report_\(database);
            ALTER DEFAULT PRIVILEGES FOR ROLE contacts_\(database)
                GRANT SELECT, INSERT, UPDATE, DELETE ON TABLES TO service_\(database);
            ALTER DEFAULT PRIVILEGES FOR ROLE contacts_\(database) GRANT SELECT ON TABLES TO report_\(database);
            """)
    }

    private func open(
        as role: String, _ model: ManagedObjectModel = .contacts,
        _ configuration: PersistentContainer.Configuration = .init()
    ) async throws -> PersistentContainer {
        let connection = server.connectionString(database: database, user: "\(role)_\(database)")
        return try await PersistentContainer(
            model: model, store: .postgreSQL(connection, name: "contacts"), configuration: configuration)
    }

    private func refusal<R>(_ body: () async throws -> R) async -> DataSourceError.Code? {
        do { _ = try await body() } catch { return (error as? DataSourceError)?.code }
        return nil
    }

    @Test func aRoleThatMayNotChangeTheSchemaReadsAndWrites() async throws {
        // It may not make the store, either.
        #expect(await refusal { try await open(as: "service") } == .permissionDenied)
        let owner = try await open(as: "deploy")
        let owned = try owner.dataSource(ContactDataSource.self)
        try await owned.add(contactList(0..<5))
        let service = try await open(as: "service")
        let contacts = try service.dataSource(ContactDataSource.self)
        // Each takes the lease from the other.
        try await contacts.add(contactList(5..<3000))
        try await owned.delete(contactList(0..<2))
        try await contacts.sync(contactList(0..<4), entity: ContactEntity.self, deleting: .all)
        #expect(try owned.fetch(ContactEntity.self).count == 4)
        try await owner.close()
        #expect(await refusal { try await service.reset() } == .permissionDenied)
        try await contacts.add(contactList(4..<5))
        try await service.close()
        var changed = ManagedObjectModel.contacts
        changed.entities[0].attributes.append(AttributeDescription(name: "country", type: .string, isOptional: true))
        for policy in [ResetPolicy.discard, .changedEntities, .backup(keep: 1), .migrate(otherwise: .fail)] {
            let configuration = PersistentContainer.Configuration(resetPolicy: policy)
            #expect(await refusal { try await open(as: "service", changed, configuration) } == .permissionDenied)
        }
        let again = try await open(as: "service")
        #expect(try again.main.count(ContactEntity.self) == 5)
        try await again.close()
    }

    /// A new model may declare indexes, which its owner builds. Until then, others do without.
    @Test func aRoleThatMayNotBuildIndexesOpensTheStore() async throws {
        try await open(as: "deploy").close()
        let session = try server.session(database: database)
        let found = "SELECT format('%I.%I', schemaname, indexname) FROM pg_indexes WHERE indexname LIKE '\\_index %'"
        let indexes = try session.run(found).compactMap { $0[0] }
        #expect(!indexes.isEmpty)
        for index in indexes { try session.run("DROP INDEX \(index)") }
        for _ in 0..<2 {
            let service = try await open(as: "service")
            try await service.dataSource(ContactDataSource.self).add(contactList(0..<5))
            try await service.close()
        }
        #expect(try session.run(found) == [])
        try await open(as: "deploy").close()
        #expect(try session.run(found).count == indexes.count)
    }

    /// A new generation has new tables, which the roles may use as well.
    @Test func rolesKeepTheirRightsAfterAReset() async throws {
        let owner = try await open(as: "deploy")
        try await owner.reset()
        try await owner.dataSource(ContactDataSource.self).add(contactList(0..<3))
        let service = try await open(as: "service")
        try await service.dataSource(ContactDataSource.self).add(contactList(3..<4))
        let report = try await open(as: "report", .contacts, .init(isReadOnly: true))
        #expect(try report.main.count(ContactEntity.self) == 4)
        for container in [report, service, owner] { try await container.close() }
    }

    /// Stores of earlier releases get a table for scopes when their owner opens them.
    @Test func rolesGetTheirRightsForTheTableOfScopes() async throws {
        let scope = SyncScope("all", ContactEntity.self)
        let first = try await open(as: "deploy")
        try await first.dataSource(ContactDataSource.self).add(contactList(0..<3))
        try await first.close()
        let session = try server.session(database: database)
        try session.run(
            """
            ALTER DEFAULT PRIVILEGES FOR ROLE contacts_\(database)
                REVOKE SELECT, INSERT, UPDATE, DELETE ON TABLES FROM service_\(database);
            DROP TABLE "contacts 1"._scopes;
            """)
        let early = try await open(as: "service")
        let contacts = try early.dataSource(ContactDataSource.self)
        #expect(await refusal { try contacts.freshness(of: scope) } == .scopesNotKept)
        let owner = try await open(as: "deploy")
        try await contacts.load(scope, maxAge: .zero) { _ in .list(contactList(0..<2), entityTag: "1") }
        #expect(try owner.dataSource(ContactDataSource.self).freshness(of: scope).entityTag == "1")
        try await contacts.delete(contactList(0..<1))
        #expect(try contacts.freshness(of: scope).entityTag == nil)
        let report = try await open(as: "report", .contacts, .init(isReadOnly: true))
        let read = try report.dataSource(ContactDataSource.self)
        #expect(try read.freshness(of: scope).isComplete)
        #expect(await refusal { try await read.load(scope, maxAge: .zero) { _ in .list([]) } } == .storeReadOnly)
        for container in [report, owner, early] { try await container.close() }
    }

    @Test func aRoleThatMayOnlyReadFollowsWhatOthersSave() async throws {
        #expect(await refusal { try await open(as: "report", .contacts, .init(isReadOnly: true)) } == .storeNotFound)
        let service = try await open(as: "deploy")
        let contacts = try service.dataSource(ContactDataSource.self)
        try await contacts.add(contactList(0..<5))
        #expect(await refusal { try await open(as: "report") } == .permissionDenied)
        let report = try await open(as: "report", .contacts, .init(isReadOnly: true))
        let read = try report.dataSource(ContactDataSource.self)
        var updates = read.updates(ObjectRequest(ContactEntity.self, order: [.ascending(\.uid)])).makeAsyncIterator()
        #expect(await updates.next()?.snapshot.count == 5)
        for step in 5..<10 {
            try await contacts.add(contactList(step..<step + 1))
            while let update = await updates.next(), update.snapshot.count <= step {}
        }
        #expect(try read.fetch(ContactEntity.self, where: \.uid == "uid-9").count == 1)
        #expect(try await report.read { try $0.count(ContactEntity.self) } == 10)
        for lease in try report.leases { #expect(!lease.isHeldHere) }
        try await expectRefusals(report, read)
        // Nobody waits for it: it is no member.
        try await service.reset()
        #expect(await refusal { try await report.read { try $0.count(ContactEntity.self) } } == .storeReset)
        try await report.close()
        try await service.close()
    }

    private func expectRefusals(_ container: PersistentContainer, _ source: ContactDataSource) async throws {
        let count = try container.main.count(ContactEntity.self)
        let changes: [@MainActor () async throws -> Void] = [
            { try await source.add(contactList(4..<6, name: { "new \($0)" })) },
            { try await source.add(contactList(5..<6), waitFor: .main) },
            { try await source.delete(contactList(0..<1)) },
            { try await source.sync([], entity: ContactEntity.self, deleting: .none) },
            { _ = try await container.reset() },
            { _ = try source.draft(inserting: ContactEntity.self) },
        ]
        for change in changes {
            #expect(await refusal(change) == .storeReadOnly)
            #expect(try container.main.count(ContactEntity.self) == count)
            #expect(container.pendingSaveCount == 0)
        }
    }

    /// Nobody asks it. Tables that it reads are not dropped until it has read them, but they may get another name.
    @Test(arguments: [ResetPolicy.backup(keep: 1), .discard])
    func aReadDuringAResetFinishesOrThrowsStoreReset(policy: ResetPolicy) async throws {
        let owner = try await open(as: "deploy", .contacts, .init(resetPolicy: policy))
        try await owner.dataSource(ContactDataSource.self).add(contactList(0..<5))
        let report = try await open(as: "report", .contacts, .init(isReadOnly: true))
        let (didBegin, isReset) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        let reading = Task.detached { () -> DataSourceError.Code? in
            do {
                try await report.read { context in
                    _ = try context.count(ContactEntity.self)
                    didBegin.signal()
                    isReset.wait()
                    _ = try context.count(GroupEntity.self)
                }
            } catch { return (error as? DataSourceError)?.code }
            return nil
        }
        await withCheckedContinuation { continuation in
            DispatchQueue.global().async {
                didBegin.wait()
                continuation.resume()
            }
        }
        let refused = await refusal { try await owner.reset() }
        isReset.signal()
        let code = await reading.value
        #expect([refused, code] == (policy == .discard ? [.storeBusy, nil] : [nil, .storeReset]))
        try await owner.reset()
        #expect(await refusal { try await report.read { try $0.count(ContactEntity.self) } } == .storeReset)
        try await report.close()
        try await owner.close()
    }

    @Test func inspectingNeedsOnlyTheRightToRead() async throws {
        let owner = try await open(as: "deploy")
        try await owner.dataSource(ContactDataSource.self).add(contactList(0..<5))
        let connection = server.connectionString(database: database, user: "report_\(database)")
        let inspector = PostgreSQLInspector(connection, name: "contacts", models: [])
        #expect(try inspector.saves(after: 0)?.saves.count == 1)
        try await owner.close()
    }
}
#endif
