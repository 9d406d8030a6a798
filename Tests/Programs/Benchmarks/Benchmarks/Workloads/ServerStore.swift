#if PostgreSQL
internal import CoreDataSource
internal import PostgreSQLStore
internal import RawPostgreSQL
internal import RawSQLite
internal import RowStore
internal import TestSupport

/// A store on a server, open.
struct ServerStore: Sendable {
    let container: PersistentContainer
    let source: ContactSource
    let counters: PostgreSQLCounters

    init(_ connection: String, _ synchronous: SynchronousLevel, registeredObjectByteLimit: Int = 64 << 20) async throws
    {
        let container = try await PersistentContainer(
            model: .contacts, store: .postgreSQL(connection, name: "contacts"),
            configuration: .init(
                synchronous: synchronous, registeredObjectByteLimit: registeredObjectByteLimit))
        try await self.init(container)
    }

    /// A store that the server does not notify of saves.
    init(unnotified connection: String, _ synchronous: SynchronousLevel) async throws {
        let model = ManagedObjectModel.contacts
        let identity = StoreIdentity(
            modelHash: model.hash.description, entityHashes: model.entityHashes.mapValues(\.description),
            databaseKey: "")
        var options = PostgreSQLStore.Options(
            connection: connection, name: "contacts", layout: ModelLayout(model), identity: identity,
            synchronous: synchronous)
        options.isNotified = false
        let store = try PostgreSQLStore.open(options)
        let container = PersistentContainer(
            options.layout, store, startup: store.startup, configuration: .init(synchronous: synchronous))
        try await self.init(container)
    }

    private init(_ container: PersistentContainer) async throws {
        self.container = container
        source = try await container.dataSource(ContactSource.self)
        guard let store = container.stack.root.store as? PostgreSQLStore else { throw WrongResult("no server") }
        counters = store.counters
    }

    @concurrent
    func measure(_ work: @Sendable () async throws -> Void) async throws -> Sample {
        let (statements, rows, roundTrips) = (counters.statementsRun, counters.rowsWritten, counters.roundTrips)
        let used = try Database.processorNanoseconds
        let start = raw_now()
        try await work()
        var sample = Sample(nanoseconds: raw_now() - start)
        sample.server = (try Database.processorNanoseconds - used, counters.roundTrips - roundTrips)
        sample.statements = counters.statementsRun - statements
        sample.rowsWritten = counters.rowsWritten - rows
        return sample
    }
}

/// The server, and a database in it for each run.
struct Database {
    /// What is committed survives the loss of power, as on a server that an app would use.
    private static let server = Result { try PostgreSQLServer(isDurable: true) }

    let connection: String

    static var processorNanoseconds: UInt64 { get throws { try server.get().processorNanoseconds } }

    init() throws {
        let server = try Database.server.get()
        connection = server.connectionString(database: try server.makeDatabase())
    }

    /// A store that the library has made, for raw calls.
    static func raw(_ synchronous: SynchronousLevel) async throws -> OpaquePointer? {
        let database = try Database()
        try await ServerStore(database.connection, synchronous).container.close()
        return raw_server_open(database.connection, "contacts 1", synchronous == .full ? 1 : 0)
    }
}
#endif
