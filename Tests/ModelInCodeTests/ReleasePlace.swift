import CoreDataSource
import Foundation
import TestSupport

/// A place where each release of an app opens the store of the release before.
final class ReleasePlace: Sendable {
    enum Kind: String, Sendable, CaseIterable {
        case file, server

        /// Those that there can be here: a server needs the trait PostgreSQL and a server to run.
        static var all: [Kind] {
            #if PostgreSQL
            PostgreSQLServer.isInstalled ? allCases : [.file]
            #else
            [.file]
            #endif
        }
    }

    private let kind: Kind
    private let url: URL
    /// The database on the server; empty for a file.
    private let database: String

    init(_ kind: Kind) throws {
        self.kind = kind
        url = FileManager.default.temporaryDirectory.appending(component: "releases-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
        database = kind == .server ? try PostgreSQLServer.shared.makeDatabase() : ""
    }

    deinit {
        try? FileManager.default.removeItem(at: url)
        if kind == .server { try? PostgreSQLServer.shared.dropDatabase(database) }
    }

    private func location() throws -> StoreLocation {
        #if PostgreSQL
        if kind == .server {
            return .postgreSQL(try PostgreSQLServer.shared.connectionString(database: database), name: "library")
        }
        #endif
        return .sqlite(url.appending(component: "library.sqlite"))
    }

    func open(
        _ model: ManagedObjectModel, _ policy: ResetPolicy = .standard, keys: DataSourceKeys = DataSourceKeys(),
        history: KeptHistory = .unchanged
    ) async throws -> PersistentContainer {
        try await PersistentContainer(
            model: model, store: location(),
            configuration: .init(resetPolicy: policy, databaseKeys: keys, history: history))
    }

    /// How many books of the first release are in the backup that a start made.
    @MainActor func backedUpBookCount(_ startup: StoreStartup) async throws -> Int? {
        if kind == .server {
            let session = try PostgreSQLServer.shared.session(database: database)
            return try session.run("SELECT count(*) FROM \"library backup 1\".\"Book\"")[0][0].flatMap(Int.init)
        }
        guard let backup = startup.backup else { return nil }
        let old = try await PersistentContainer(model: FirstRelease.model, store: .sqlite(backup))
        guard old.startup.reason == .current else { return nil }
        let count = try old.main.count(FirstRelease.Book.self)
        try await old.close()
        return count
    }
}
