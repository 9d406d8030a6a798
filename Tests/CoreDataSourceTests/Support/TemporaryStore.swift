import CoreDataSource
import Foundation
import SQLiteStore
import Testing

/// Where the tests of the tiers keep their rows. All of them run on both.
enum StoreKind: String, CaseIterable, Sendable {
    case sqlite, inMemory
}

/// A directory of its own for one test.
struct TemporaryDirectory: ~Copyable {
    let url: URL

    init() throws {
        url = FileManager.default.temporaryDirectory.appending(path: "CoreDataSource-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    }

    var store: URL { url.appending(path: "store.sqlite") }

    deinit {
        try? FileManager.default.removeItem(at: url)
    }
}

/// Opens a container over the contacts model in a directory of its own, and checks the file's integrity afterwards.
@MainActor
func withContainer(
    _ kind: StoreKind = .sqlite, configuration: PersistentContainer.Configuration = .init(),
    _ body: @MainActor (PersistentContainer, URL) async throws -> Void
) async throws {
    let directory = try TemporaryDirectory()
    let url = directory.store
    let container = try await PersistentContainer(
        model: .contacts, store: kind == .sqlite ? .sqlite(url) : .inMemory, databaseKey: "1",
        configuration: configuration)
    try await body(container, url)
    try await container.close()
}
