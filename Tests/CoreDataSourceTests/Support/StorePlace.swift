import CoreDataSource
import Foundation

/// The kinds of stores that answer queries.
enum StorePlace: String, Sendable, CaseIterable {
    case memory, sqlite, postgreSQL

    /// Those that there can be here.
    static let all = SharedPlace.Kind.all.contains(.postgreSQL) ? allCases : local
    /// Those that need no server.
    static let local: [StorePlace] = [.memory, .sqlite]

    /// - Parameter url: Where the file is, for a place that has one.
    func open(_ url: URL, _ model: ManagedObjectModel) async throws -> PersistentContainer {
        if self == .postgreSQL { return try SharedPlace(.postgreSQL).open(model: model) }
        return try await PersistentContainer(
            model: model, store: self == .memory ? .inMemory : .sqlite(url),
            configuration: .init(synchronous: .normal))
    }

    @MainActor func withSource<Source: EntityDataSource>(
        _ type: Source.Type, _ model: ManagedObjectModel = .contacts,
        _ body: @MainActor (PersistentContainer, Source) async throws -> Void
    ) async throws {
        let directory = try TemporaryDirectory()
        let container = try await open(directory.store, model)
        try await body(container, try container.dataSource(type))
        try await container.close()
    }

    @MainActor func withMail(
        _ body: @MainActor (PersistentContainer, MailDataSource) async throws -> Void
    ) async throws {
        try await withSource(MailDataSource.self, .mail, body)
    }
}
