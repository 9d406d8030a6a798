package import CoreDataSource
package import Foundation

/// The app's logic: a store that several readers can have open, the two data sources, and the server.
@MainActor
package final class ReaderStore {
    /// The author of the user's edits. Loads have no author, so an undo never reverts a load.
    package nonisolated static let author = "user"

    package let container: PersistentContainer
    package let feeds: FeedDataSource
    package let articles: ArticleDataSource
    package let service: FeedService

    /// A list that was not loaded, with the error.
    package struct Failure: Sendable {
        package let list: String
        package let error: any Error
    }

    /// Opens the store, or makes it if it does not exist.
    package init(
        _ file: URL, _ service: FeedService,
        configuration: PersistentContainer.Configuration = PersistentContainer.Configuration()
    ) async throws {
        var configuration = configuration
        // Undo needs the history. All readers pass the same setting: a reader with another setting could switch the history off
        // while no other reader is open.
        configuration.history = .kept(for: .seconds(30 * 86_400), upTo: 16 << 20)
        container = try await PersistentContainer(
            model: .reader, store: .sqlite(file, sharing: .processes), configuration: configuration)
        feeds = try container.dataSource(FeedDataSource.self)
        articles = try container.dataSource(ArticleDataSource.self)
        self.service = service
    }

    // MARK: Loading

    /// Loads the lists that are older than `maxAge`: the list of feeds, and then the articles of each feed. If a list
    /// cannot be loaded, the others are loaded nevertheless.
    ///
    /// - Parameter maxAge: The largest age of a list that is not loaded again. With zero, all lists are loaded, even if a
    ///   pause after a failure has not ended.
    /// - Returns: The failures.
    package func refresh(maxAge: Duration) async -> [Failure] {
        var failures: [Failure] = []
        do {
            try await feeds.load(from: service, maxAge: maxAge)
        } catch {
            failures.append(Failure(list: FeedDataSource.list.name, error: error))
        }
        let uids = (try? feeds.fetch(FeedEntity.self, order: [.ascending(\.uid)]).map(\.uid)) ?? []
        return await withTaskGroup(of: Failure?.self) { [articles, service] group in
            for uid in uids {
                group.addTask {
                    do {
                        try await articles.load(uid, from: service, maxAge: maxAge)
                        return nil
                    } catch {
                        return Failure(list: ArticleDataSource.list(of: uid).name, error: error)
                    }
                }
            }
            for await failure in group { if let failure { failures.append(failure) } }
            return failures.sorted { $0.list < $1.list }
        }
    }

    /// Waits until the live lists show the rows and the freshness of all loads so far, also of failed loads.
    package func showLoads() async throws { try await articles.perform(waitFor: .main) { _ in } }

    // MARK: The user's edits

    /// Marks articles as read.
    package func read(_ ids: [ManagedObjectID]) async throws {
        try await container.withAuthor(Self.author) { try await articles.setRead(true, ids) }
    }

    /// Adds a star to articles, or removes it.
    package func star(_ ids: [ManagedObjectID], _ hasStar: Bool = true) async throws {
        try await container.withAuthor(Self.author) { try await articles.setStar(hasStar, ids) }
    }

    /// Undoes the user's last edit, in whichever reader the user made it.
    ///
    /// - Returns: A description of the undone edit; nil if there is nothing to undo.
    package func undo() async throws -> String? {
        try await container.undo(author: Self.author)?.revertedRecord.map(Self.words)
    }

    /// Reverts the last undo.
    package func redo() async throws -> String? {
        try await container.redo(author: Self.author)?.revertedRecord.map(Self.words)
    }

    /// Describes the changes of a step, for example `star of "Fog at the lighthouse"`.
    private nonisolated static func words(_ record: HistoryRecord) -> String {
        let changes = (try? record.changes(of: ArticleEntity.self)) ?? []
        let steps = changes.map { change in
            let kind = change.changedProperties.contains("hasStar") ? "star" : "read mark"
            return "\(kind) of \"\(change.new?.title ?? change.old?.title ?? "")\""
        }
        return steps.count > 1 ? "\(steps[0]) and \(steps.count - 1) more" : steps.first ?? "an edit"
    }
}
