import CoreDataSource
import Foundation
import ReaderApp

/// A reader in a terminal: it shows the articles, performs commands, and reports the changes of other readers.
@MainActor
final class ReaderSession {
    static let help = """
          list               shows the feeds and their articles: ● is not read, ★ has a star
          open N             shows article N, which is then read
          star N, unstar N   adds a star to article N; removes the star
          undo, redo         reverts the last edit of any reader; reverts the last undo
          refresh [SECONDS]  loads the lists that are older than SECONDS (300); with 0, all lists
          offline, online    disconnects the reader from the network; connects it again
          quit               ends the reader, as does the end of the input
        """

    private let store: ReaderStore
    private let feeds: LiveList<FeedEntity>
    /// The articles of each feed, by the uid of the feed.
    private var articles: [String: LiveList<ArticleEntity>] = [:]
    /// The articles that were listed last. The number of an article is its index plus 1.
    private var shown: [ManagedObjectID] = []

    init(_ store: ReaderStore) throws {
        self.store = store
        feeds = try store.feeds.all()
    }

    /// Performs the commands of standard input until it ends.
    func run() async throws {
        let following = Task { await tellWhatOthersDo() }
        defer { following.cancel() }
        try list()
        prompt()
        for await line in Self.lines() {
            let words = line.split(separator: " ").map(String.init)
            if words == ["quit"] { break }
            do {
                try await perform(words)
            } catch let error as DataSourceError {
                say(error.message)
            }
            prompt()
        }
    }

    /// The lines of standard input.
    private static func lines() -> AsyncStream<String> {
        let lines = AsyncStream<String>.makeStream()
        // Reads on a separate thread, because waiting for a line blocks the thread.
        Thread.detachNewThread {
            while let line = readLine() { lines.continuation.yield(line) }
            lines.continuation.finish()
        }
        return lines.stream
    }

    private func perform(_ words: [String]) async throws {
        let numbers = words.dropFirst().compactMap(Int.init)
        switch (words.first, words.count, numbers.first) {
        case (nil, _, _): break
        case ("list", 1, _): try list()
        case ("open", 2, let number?): try await open(number)
        case ("star", 2, let number?): try await star(number, true)
        case ("unstar", 2, let number?): try await star(number, false)
        case ("undo", 1, _): say(try await store.undo().map { "Undone: \($0)" } ?? "There is nothing to undo.")
        case ("redo", 1, _): say(try await store.redo().map { "Redone: \($0)" } ?? "There is nothing to redo.")
        case ("refresh", 1, _): try await refresh(seconds: 300)
        case ("refresh", 2, _):
            guard let seconds = Double(words[1]), 0...1e9 ~= seconds else { return say(Self.help) }
            try await refresh(seconds: seconds)
        case ("offline", 1, _), ("online", 1, _):
            store.service.isOffline = words[0] == "offline"
            say(store.service.isOffline ? "The network is cut off." : "The network is back.")
        default: say(Self.help)
        }
    }

    // MARK: Commands

    private func list() throws {
        shown = []
        for shownList in try lists() {
            guard let articles = shownList.articles else {
                say("\(shownList.title): \(shownList.words())")
                continue
            }
            let count = articles.count == 1 ? "1 article" : "\(articles.count) articles"
            say("\(shownList.title): \(count), \(shownList.words())")
            for row in articles.snapshot.prefix(Self.listed) {
                shown.append(row.id)
                say("  \(number(shown.count)) \(Self.row(row))")
            }
            if articles.count > Self.listed { say("       and \(articles.count - Self.listed) more") }
        }
    }

    /// The number of articles of a feed that a list shows.
    private static let listed = 4

    private func number(_ number: Int) -> String {
        String(repeating: " ", count: max(0, 2 - "\(number)".count)) + "\(number)"
    }

    private static func row(_ article: ListRow<ArticleEntity>) -> String {
        (article.isRead ? "  " : "● ") + (article.hasStar ? "★ " : "  ") + article.title
    }

    private func article(_ number: Int) -> ManagedObjectID? {
        if shown.indices ~= number - 1 { return shown[number - 1] }
        say("The last list has no article \(number).")
        return nil
    }

    private func open(_ number: Int) async throws {
        guard let id = article(number) else { return }
        guard let article = try store.container.main.object(ArticleEntity.self, id: id) else {
            return say("The article is gone.")
        }
        say(article.title)
        say(article.text)
        if !article.isRead { try await store.read([id]) }
    }

    private func star(_ number: Int, _ hasStar: Bool) async throws {
        guard let id = article(number) else { return }
        try await store.star([id], hasStar)
        let row = articles.values.lazy.compactMap { list in list.index(of: id).map { list.snapshot[$0] } }.first
        say(row.map(Self.row) ?? "The article is gone.")
    }

    private func refresh(seconds: Double) async throws {
        let maxAge = Duration.seconds(seconds)
        let before = try lists()
        for list in before where list.isRequested(maxAge) { say("\(list.title): \(list.words(willRefresh: true))") }
        let failures = await store.refresh(maxAge: maxAge)
        try await store.showLoads()
        let after = try lists()
        let times = Dictionary(uniqueKeysWithValues: before.map { ($0.scope, $0.freshness.requestedAt) })
        let count = after.count { $0.freshness.requestedAt != times[$0.scope] ?? nil }
        say(count == 1 ? "1 list is up to date." : "\(count) lists are up to date.")
        if failures.isEmpty { return }
        for list in after where list.articles == nil || list.freshness.lastFailure != nil {
            say("\(list.title): \(list.words())")
        }
    }

    // MARK: Freshness

    /// A list of the server, and its freshness. The live list already knows the freshness, so the store is not read again.
    private struct ShownList {
        let scope: String
        let title: String
        let freshness: ScopeFreshness
        /// The articles of a feed; nil for the list of feeds.
        var articles: LiveList<ArticleEntity>?

        /// - Parameter willRefresh: Whether a load begins now. The list's freshness does not show this load yet.
        func words(willRefresh: Bool = false) -> String {
            var words = FreshnessWords(freshness)
            if willRefresh { words.isRefreshing = true }
            return words.text(at: Date())
        }

        /// Whether a refresh makes a request.
        func isRequested(_ maxAge: Duration) -> Bool {
            guard freshness.isStale(after: maxAge) else { return false }
            return maxAge == .zero || freshness.retryAt.map { $0 <= Date() } != false
        }
    }

    /// The list of feeds, and then the articles of each feed.
    private func lists() throws -> [ShownList] {
        var lists = [
            ShownList(
                scope: FeedDataSource.list.name, title: "Feeds", freshness: feeds.freshness ?? ScopeFreshness())
        ]
        var used: [String: LiveList<ArticleEntity>] = [:]
        for index in 0..<feeds.count {
            guard let feed = feeds.object(index) else { continue }
            let list = try articles[feed.uid] ?? store.articles.live(of: feed.uid)
            used[feed.uid] = list
            lists.append(
                ShownList(
                    scope: ArticleDataSource.list(of: feed.uid).name, title: feed.title,
                    freshness: list.freshness ?? ScopeFreshness(), articles: list))
        }
        articles = used
        return lists
    }

    // MARK: Other readers

    /// Reports the changes of other readers.
    private func tellWhatOthersDo() async {
        for await update in store.articles.updates(ArticleDataSource.byFeed, buffering: .every()) {
            guard update.reason.kind != .initial, !update.reason.processes.isEmpty else { continue }
            let changes = update.difference.changes
            for change in changes.prefix(5) {
                guard let index = change.newIndex else { continue }
                let mark = change.type == .insert ? "+" : "*"
                say("\(mark) \(Self.row(update.snapshot[index])), by another reader")
            }
            let gone = changes.count { $0.newIndex == nil }
            if gone > 0 { say("- \(gone) gone, by another reader") }
            if changes.count - gone > 5 { say("  and \(changes.count - gone - 5) more") }
        }
    }

    // MARK: Output

    private func say(_ text: String) { FileHandle.standardOutput.write(Data("\(text)\n".utf8)) }
    private func prompt() { FileHandle.standardOutput.write(Data("> ".utf8)) }
}
