import CoreDataSource
import Foundation
import Testing

/// The class as the last release has it.
enum LastRelease {
    @StoredEntity("Note") final class Note: ManagedObject {
        var text: String = ""
    }

    static let model = ManagedObjectModel("Notes") { Note.self }

    final class Notes: EntityDataSource {
        nonisolated override class var entities: [ManagedObject.Type] {
            [Note.self]
        }
    }
}

/// The class as the next release has it.
enum NextRelease {
    @StoredEntity("Note") final class Note: ManagedObject {
        @Stored(renamedFrom: "text") var body: String = ""
        var isPinned: Bool = false
    }

    static let model = ManagedObjectModel("Notes") { Note.self }
}

/// The class as a later release has it, which renames the property again.
private enum LaterRelease {
    @StoredEntity("Note") final class Note: ManagedObject {
        @Stored(renamedFrom: "text") var content: String = ""
        var isPinned: Bool = false
    }

    static let model = ManagedObjectModel("Notes") { Note.self }
}

/// The test of a migration that an article shows.
struct MigrationTestSnippets {
    @MainActor @Test func theNextReleaseKeepsTheNotes() async throws {
        let folder = FileManager.default.temporaryDirectory
            .appending(component: UUID().uuidString)
        try FileManager.default.createDirectory(
            at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let file = StoreLocation.sqlite(folder.appending(component: "notes"))

        let last = try await PersistentContainer(
            model: LastRelease.model, store: file)
        try await last.dataSource(LastRelease.Notes.self).perform { context in
            try context.insert(LastRelease.Note.self).text = "Buy milk"
        }
        try await last.close()

        let next = try await PersistentContainer(
            model: NextRelease.model, store: file,
            configuration: .init(
                resetPolicy: .migrateWithoutLoss(otherwise: .fail)))
        let notes = try next.main.fetch(NextRelease.Note.self)
        #expect(notes.map(\.body) == ["Buy milk"])
        #expect(notes.map(\.isPinned) == [false])
        try await next.close()
    }

    @MainActor @Test(arguments: [false, true])
    func theFirstNameStaysInAllLaterReleases(_ opensTheNextReleaseFirst: Bool) async throws {
        try await withNotesOfTheLastRelease { url in
            if opensTheNextReleaseFirst { try await openWithoutLoss(NextRelease.model, url)?.close() }
            let later = try #require(try await openWithoutLoss(LaterRelease.model, url))
            #expect(try later.main.fetch(LaterRelease.Note.self).map(\.content) == ["Buy milk"])
            try await later.close()
        }
    }

    @MainActor @Test func theLastReleaseRefusesTheStoreOfTheNextOne() async throws {
        try await withNotesOfTheLastRelease { url in
            try await openWithoutLoss(NextRelease.model, url)?.close()
            let refused = try await openWithoutLoss(LastRelease.model, url)
            #expect(refused == nil)
            try await refused?.close()
        }
    }

    /// Runs the body with a store that the last release has made.
    @MainActor private func withNotesOfTheLastRelease(_ body: @MainActor (URL) async throws -> Void) async throws {
        let folder = FileManager.default.temporaryDirectory.appending(component: UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let url = folder.appending(component: "notes")
        let last = try await PersistentContainer(model: LastRelease.model, store: .sqlite(url))
        try await last.dataSource(LastRelease.Notes.self).perform { context in
            try context.insert(LastRelease.Note.self).text = "Buy milk"
        }
        try await last.close()
        try await body(url)
    }
}

func openWithoutLoss(
    _ model: ManagedObjectModel, _ url: URL
) async throws -> PersistentContainer? {
    do {
        return try await PersistentContainer(
            model: model, store: .sqlite(url),
            configuration: .init(
                resetPolicy: .migrateWithoutLoss(otherwise: .fail)))
    } catch let error as DataSourceError where error.code == .modelChanged {
        // Such as "A migration would lose data: Note.isPinned: the values
        // (Boolean, required), in 12 objects."
        print(error.cause ?? error.message)
        return nil
    }
}
