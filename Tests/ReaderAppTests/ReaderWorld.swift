import CoreDataSource
import FeedServer
import Foundation
import ReaderApp
import TestSupport
import Testing

/// A server, and a reader with a store in a file of its own.
@MainActor
final class ReaderWorld {
    let directory: TemporaryDirectory
    let server: FeedServer
    let store: ReaderStore
    /// Long, because hundreds of other tests may run at the same time.
    private static let timeLimit = Duration.seconds(600)

    /// - Parameters:
    ///   - isLoaded: Whether all lists are loaded.
    ///   - trace: Gets the statements of the store.
    init(isLoaded: Bool = true, trace: (@Sendable (StatementTrace) -> Void)? = nil) async throws {
        directory = try TemporaryDirectory()
        server = try FeedServer(.sample())
        store = try await ReaderStore(
            directory.url.appending(component: "feeds.sqlite"),
            FeedService(server.url, timeLimit: ReaderWorld.timeLimit),
            configuration: .init(synchronous: .normal, trace: trace))
        guard isLoaded else { return }
        let failures = await store.refresh(maxAge: .zero)
        try #require(failures.isEmpty, "\(failures)")
    }

    /// A second reader of the same store and server.
    func another() async throws -> ReaderStore {
        try await ReaderStore(
            directory.url.appending(component: "feeds.sqlite"),
            FeedService(server.url, timeLimit: ReaderWorld.timeLimit),
            configuration: .init(synchronous: .normal))
    }

    /// Closes the store and the server.
    func end() async throws {
        try await store.container.close()
        server.close()
    }

    /// Loads the articles of a feed in any case.
    func load(_ feed: String) async throws {
        try await store.articles.load(feed, from: store.service, maxAge: .zero)
    }

    func fault(_ text: String) throws { try server.site.perform("fault \(text)") }

    // MARK: What is there

    /// The uids of a feed's articles, newest first.
    func articles(_ feed: String) throws -> [String] {
        try store.articles.fetch(
            ArticleEntity.self, where: \.feed?.uid == feed, order: [.descending(\.date), .descending(\.uid)]
        ).map(\.uid)
    }

    func feeds() throws -> [String] {
        try store.feeds.fetch(FeedEntity.self, order: [.ascending(\.uid)]).map(\.uid)
    }

    func article(_ uid: String) throws -> ArticleEntity {
        try #require(try store.container.main.first(ArticleEntity.self, where: \.uid, equals: uid))
    }

    func freshness(_ feed: String) throws -> ScopeFreshness {
        try store.articles.freshness(of: ArticleDataSource.list(of: feed))
    }

    func freshnessOfFeeds() throws -> ScopeFreshness { try store.feeds.freshness(of: FeedDataSource.list) }

    /// The statuses of the answers to the requests of a path, oldest first; nil for a request that waits.
    func statuses(_ path: String) -> [Int?] { server.site.records.filter { $0.path == path }.map(\.status) }

    /// Waits until there were so many requests of a path. The server has threads of its own, which need the processor.
    func waitForRequests(_ path: String, count: Int) async throws {
        while statuses(path).count < count { try await Task.sleep(for: .milliseconds(5)) }
    }

    static func uids(_ feed: String, _ numbers: some Sequence<Int>) -> [String] { numbers.map { "\(feed)-\($0)" } }
}
