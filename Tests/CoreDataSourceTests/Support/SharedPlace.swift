import CoreDataSource
import Foundation
import RowStore
import SQLiteStore
import TestSupport

#if PostgreSQL
import PostgreSQLStore
#endif

/// A store that several containers of a test share, each of which counts as a process of its own.
final class SharedPlace: Sendable {
    enum Kind: String, Sendable, CaseIterable {
        case sqlite
        case postgreSQL

        /// Those that there can be here: a server needs the trait PostgreSQL and a server to run.
        static var all: [Kind] {
            #if PostgreSQL
            PostgreSQLServer.isInstalled ? allCases : [.sqlite]
            #else
            [.sqlite]
            #endif
        }
    }

    let kind: Kind
    /// The file; nil for a server.
    let url: URL?
    /// The folder of the file.
    private let directory: TemporaryDirectory?
    /// Where the server is, and the database there.
    private let connection: String
    private let database: String

    init(_ kind: Kind) throws {
        self.kind = kind
        switch kind {
        case .sqlite:
            (connection, database) = ("", "")
            let made = try TemporaryDirectory()
            url = made.store
            directory = consume made
        case .postgreSQL:
            let server = try PostgreSQLServer.shared
            database = try server.makeDatabase()
            connection = server.connectionString(database: database)
            url = nil
            directory = nil
        }
    }

    /// Runs SQL as another program does, in the schema of the store's first generation.
    func run(_ sql: String) throws {
        if let url { return try RawConnection(url).execute(sql) }
        let session = try session()
        try session.run("SET search_path = 'store 1'")
        try session.run(sql)
    }

    /// Connects to the database of the server as another program does.
    func session() throws -> PostgreSQLSession { try PostgreSQLServer.shared.session(database: database) }

    func open(
        model: ManagedObjectModel = .contacts, times: LeaseTimes = .patient,
        configuration: PersistentContainer.Configuration = .init(synchronous: .normal),
        scheduling: WorkScheduling = .system
    ) throws -> PersistentContainer {
        #if PostgreSQL
        if kind == .postgreSQL {
            let layout = ModelLayout(model)
            var options = PostgreSQLStore.Options(
                connection: connection, name: "store", layout: layout, identity: StoreIdentity(model),
                synchronous: configuration.synchronous, resetPolicy: configuration.resetPolicy)
            options.migrationProgress = configuration.migrationProgress
            options.leaseTimes = times
            options.history = configuration.history
            options.tracing = configuration.trace.map { StatementTracing(showsValues: configuration.tracesValues, $0) }
            if let name = configuration.name { options.memberName = name }
            let store = try PostgreSQLStore.open(options)
            return PersistentContainer(
                layout, store, startup: store.startup, configuration: configuration, scheduling: scheduling)
        }
        #endif
        return try .shared(
            url ?? URL(filePath: "/"), model: model, times: times, configuration: configuration)
    }
}

extension SharedPlace.Kind {
    /// Opens two containers of one store for a test, and closes them after it.
    @MainActor func withTwo(
        model: ManagedObjectModel = .contacts, times: LeaseTimes = .patient, _ otherTimes: LeaseTimes? = nil,
        configuration: PersistentContainer.Configuration = .init(synchronous: .normal),
        _ body: (PersistentContainer, PersistentContainer) async throws -> Void
    ) async throws {
        let place = try SharedPlace(self)
        let one = try place.open(model: model, times: times, configuration: configuration)
        let other = try place.open(model: model, times: otherTimes ?? times, configuration: configuration)
        try await body(one, other)
        try await one.close()
        try await other.close()
    }
}

extension StoreIdentity {
    /// That of a store with no database key.
    init(_ model: ManagedObjectModel) {
        self.init(
            modelHash: model.hash.description, entityHashes: model.entityHashes.mapValues(\.description),
            databaseKey: "")
    }
}
