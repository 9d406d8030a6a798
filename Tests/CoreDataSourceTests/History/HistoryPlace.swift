import CoreDataSource
import CoreDataSourceStores
import Foundation
import JSONFolderStore
import RowStore
import TestSupport

extension KeptHistory {
    /// So much that no test exceeds it.
    static let ample = KeptHistory.kept(for: .seconds(86_400), upTo: 64 << 20)
}

extension PersistentContainer.Configuration {
    static func keeping(_ history: KeptHistory = .ample, author: String? = nil) -> Self {
        Self(synchronous: .normal, history: history, author: author)
    }
}

/// The kinds of stores that keep a history.
enum HistoryPlace: String, Sendable, CaseIterable {
    case memory, sqlite, sharedFile, server, custom

    /// Those that there can be here.
    static let all = SharedPlace.Kind.all.contains(.postgreSQL) ? allCases : allCases.filter { $0 != .server }
    /// Those whose contents a test can change with SQLite.
    static let files = [HistoryPlace.sqlite, .sharedFile]
    /// Those that are still there when they are opened again.
    static let lasting = all.filter { $0 != .memory }
    /// Those that can be migrated to another model.
    static let migrated = lasting.filter { $0 != .custom }

    var isFile: Bool { HistoryPlace.files.contains(self) }

    /// The databases of the tests, by the URLs that they would have as files.
    static let databases = Guarded<[URL: String]>([:])

    private func location(_ url: URL) throws -> StoreLocation {
        switch self {
        case .memory: return .inMemory
        case .sqlite: return .sqlite(url)
        case .sharedFile: return .sqlite(url, sharing: .processes)
        case .custom:
            let folder = url.appendingPathExtension("folder")
            return .custom(folder.path) { options in
                if options.isReadOnly {
                    return (try ReadOnlyFolderStore(folder, options), StoreStartup(reason: .current))
                }
                let store = try JSONFolderStore(folder, options)
                return (store, store.startup)
            }
        case .server:
            #if PostgreSQL
            let server = try PostgreSQLServer.shared
            let known = HistoryPlace.databases.withLock { $0[url] }
            let database = if let known { known } else { try server.makeDatabase() }
            HistoryPlace.databases.withLock { $0[url] = database }
            return .postgreSQL(server.connectionString(database: database), name: "store")
            #else
            return .inMemory
            #endif
        }
    }

    func open(
        _ url: URL, _ configuration: PersistentContainer.Configuration = .keeping(),
        model: ManagedObjectModel = .contacts, databaseKey: String? = nil
    ) async throws -> PersistentContainer {
        try await PersistentContainer(
            model: model, store: location(url), databaseKey: databaseKey, configuration: configuration)
    }

    func withContainer(
        _ configuration: PersistentContainer.Configuration = .keeping(), model: ManagedObjectModel = .contacts,
        _ body: @MainActor (PersistentContainer, URL) async throws -> Void
    ) async throws {
        let directory = try TemporaryDirectory()
        let container = try await open(directory.store, configuration, model: model)
        try await body(container, directory.store)
        try await container.close()
        if isFile { try expectIntact(directory.store) }
    }
}

extension PersistentContainer {
    /// All records of the history after a position.
    func records(
        after position: HistoryPosition? = nil, where filter: HistoryFilter = HistoryFilter()
    ) async throws -> [HistoryRecord] {
        try await history(after: position, where: filter).all()
    }
}

extension HistoryRecords {
    func all() async throws -> [HistoryRecord] {
        var records: [HistoryRecord] = []
        for try await record in self { records.append(record) }
        return records
    }
}
