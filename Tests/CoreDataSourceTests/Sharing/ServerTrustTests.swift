#if PostgreSQL
import CoreDataSource
import PostgreSQLStore
import RowStore
import TestSupport
import Testing

/// A container asks a server only now and then. What it relies on meanwhile is never older than it may be.
@MainActor
@Suite(.enabled(if: PostgreSQLServer.isInstalled, Comment(rawValue: PostgreSQLServer.comment)))
struct ServerTrustTests {
    private let proxy: TCPProxy
    private let database: String
    private let server: PostgreSQLServer

    init() throws {
        server = try .shared
        database = try server.makeDatabase()
        proxy = try TCPProxy(to: server.port)
    }

    private func open(
        isDirect: Bool = false, _ change: (inout PostgreSQLStore.Options) -> Void = { _ in }
    ) throws -> (container: PersistentContainer, store: PostgreSQLStore, contacts: ContactDataSource) {
        let layout = ModelLayout(.contacts)
        let connection = server.connectionString(database: database, port: isDirect ? nil : proxy.port)
        var options = PostgreSQLStore.Options(
            connection: connection, name: "store", layout: layout, identity: StoreIdentity(.contacts))
        change(&options)
        let store = try PostgreSQLStore.open(options)
        let container = PersistentContainer(layout, store, startup: store.startup, configuration: .init())
        return (container, store, try container.dataSource(ContactDataSource.self))
    }

    /// Runs SQL as another program does.
    @discardableResult
    private func run(_ sql: String) throws -> [[String?]] {
        let session = try server.session(database: database)
        try session.run("SET search_path = 'store 1'")
        return try session.run(sql)
    }

    private func contact(_ name: String) -> [ContactData] { contactList(7..<8) { _ in name } }

    private func code(_ body: () async throws -> Void) async -> DataSourceError.Code? {
        do {
            try await body()
            return nil
        } catch { return (error as? DataSourceError)?.code }
    }

    /// Waits until the store has noticed that its connections are gone.
    private func waitForLoss(of store: PostgreSQLStore, _ trust: LeaseTrust?) async throws {
        while store.trust?.number == trust?.number { try await Task.sleep(for: .milliseconds(5)) }
    }

    @Test func aBatchThatChangesNothingAsksNobodyWhileItCanBeTrusted() async throws {
        let (container, store, contacts) = try open(isDirect: true)
        try await contacts.add(contact("b"))
        // Not while connections are made again.
        while store.trust == nil { try await Task.sleep(for: .milliseconds(5)) }
        try await contacts.add(contact("b"))
        let before = store.counters.roundTrips
        #expect(try await contacts.add(contact("b")) == SaveReport())
        #expect(store.counters.roundTrips == before)
        try await container.close()
    }

    /// The server is asked whether the leases are still there, and a server that does not answer has not said that they are lost.
    @Test func aBatchThatFailsWhileTheServerIsGoneKeepsItsError() async throws {
        let (container, _, contacts) = try open()
        try await contacts.add(contact("b"))
        let uid = contact("b")[0].uid
        let found = await code {
            try await contacts.perform { context in
                try context.insert(ContactEntity.self).uid = uid
                try context.insert(ContactEntity.self).uid = uid
                proxy.refuseNewConnections()
                proxy.cutAll()
            }
        }
        #expect(found == .uniquenessViolated)
        // The next caller is told what is wrong now, and later nothing is.
        proxy.goOnline()
        try await contacts.add(contact("c"))
        #expect(try contacts.fetch(ContactEntity.self).map(\.name) == ["c"])
        try await container.close()
    }

    /// Others may have written since then.
    @Test func aDisconnectedContainerDoesNotReportAnUnchangedStore() async throws {
        let (container, store, contacts) = try open()
        let (otherContainer, _, others) = try open(isDirect: true)
        try await contacts.add(contact("b"))
        let trust = store.trust
        proxy.goOffline()
        try await waitForLoss(of: store, trust)
        #expect(await code { try await contacts.add(contact("b")) } == .storeUnavailable)
        #expect(
            await code { _ = try await contacts.planSync(contact("b"), entity: ContactEntity.self) }
                == .storeUnavailable)
        // As if the time had passed after which a member counts as ended.
        try run("UPDATE _members SET seen = seen - interval '1000 years' WHERE number = \(store.member.number)")
        try await others.add(contact("c"))
        proxy.goOnline()
        #expect(try await contacts.add(contact("b")) == SaveReport(updated: 1))
        #expect(try run("SELECT name FROM \"ContactEntity\"") == [["b"]])
        try await container.close()
        try await otherContainer.close()
    }

    /// Adds a contact as soon as the server answers in time.
    private func addPatiently(_ name: String, to contacts: ContactDataSource) async throws {
        while await code({ try await contacts.add(contact(name)) }) != nil {
            try await Task.sleep(for: .milliseconds(20))
        }
    }

    /// The connections are there, and nothing comes over them. A busy server may take longer for an answer than it may here.
    @Test(.timeLimit(.minutes(30))) func aContainerWithoutAnswersDoesNotTrustItsRows() async throws {
        let (container, store, contacts) = try open {
            $0.leaseTimes.answer = .milliseconds(400)
            $0.responseTimeout = .seconds(5)
        }
        try await addPatiently("b", to: contacts)
        try #require(try run("SELECT name FROM \"ContactEntity\"") == [["b"]])
        proxy.stall()
        // The lease may be somebody else's 400 ms after it was confirmed last.
        try await Task.sleep(for: .milliseconds(500))
        #expect(await code { try await contacts.add(contact("b")) } == .storeUnavailable)
        proxy.resume()
        try await addPatiently("c", to: contacts)
        #expect(try run("SELECT name FROM \"ContactEntity\"") == [["c"]])
        #expect(store.member.number > 0)
        try await container.close()
    }

    /// A crash of the server with `synchronous_commit = off`, or a standby that lacks the newest commits.
    @Test func valuesThatTheServerLostAreAddedAgain() async throws {
        let (container, store, contacts) = try open()
        try await contacts.add(contact("a"))
        let trust = store.trust
        try await contacts.add(contact("b"))
        try run(
            """
            SET coredatasource.member = 'on'; UPDATE "ContactEntity" SET name = 'a'; \
            DELETE FROM _changes WHERE position = (SELECT max(position) FROM _changes); UPDATE _saves SET number = number - 1
            """)
        proxy.cutAll()
        try await waitForLoss(of: store, trust)
        #expect(try await contacts.add(contact("b")) == SaveReport(updated: 1))
        #expect(try run("SELECT name FROM \"ContactEntity\"") == [["b"]])
        try await container.close()
    }

    /// A read by hooks, and a plan, know what was saved before they began, whoever has the lease.
    @Test func readsInContextsSeeTheSavesOfOthers() async throws {
        let (container, _, contacts) = try open(isDirect: true)
        let (otherContainer, _, others) = try open(isDirect: true)
        for round in 0..<8 {
            // From here on the context holds all rows.
            try await contacts.add(contactList(round * 10..<round * 10 + 1))
            _ = try await contacts.fetch(as: ContactValue.self)
            try await others.add(contactList(round * 10 + 1..<round * 10 + 2))
            #expect(try await contacts.fetch(as: ContactValue.self).count == 2 * (round + 1))
            try await others.add(contactList(round * 10 + 2..<round * 10 + 3))
            let plan = try await contacts.planSync(
                contactList(round * 10 + 2..<round * 10 + 3), entity: ContactEntity.self)
            #expect(plan.inserted == 0)
            try await others.delete(contactList(round * 10 + 2..<round * 10 + 3))
        }
        try await container.close()
        try await otherContainer.close()
    }

    /// A save whose outcome nobody knew is there, and the next one builds on it.
    @Test func aSaveAfterAnUnknownOutcomeIsNoDuplicate() async throws {
        let (container, store, contacts) = try open { $0.outcomeTimeout = .milliseconds(200) }
        try await contacts.add(contactList(0..<1))
        let cut = proxy.cutReply(to: "COMMIT")
        proxy.refuseNewConnections()
        #expect(await code { try await contacts.add(contact("b")) } == .outcomeUnknown)
        #expect(cut.isReached)
        #expect(store.trust == nil)
        proxy.goOnline()
        #expect(try await contacts.add(contact("b")) == SaveReport())
        #expect(try run("SELECT count(*) FROM \"ContactEntity\"") == [["2"]])
        try await container.close()
    }

    /// A program that is no member has deleted a row. The first save finds that out, and the next one is right.
    @Test func aRefusedSaveIsNotRefusedAgain() async throws {
        let (container, _, contacts) = try open(isDirect: true)
        try await contacts.add(contact("a"))
        try run("DELETE FROM \"ContactEntity\"")
        let first = await code { try await contacts.add(contact("b")) }
        #expect(first == nil || first == .objectGone)
        if first != nil { #expect(try await contacts.add(contact("b")) == SaveReport(inserted: 1)) }
        #expect(try run("SELECT name FROM \"ContactEntity\"") == [["b"]])
        try await container.close()
    }
}
#endif
