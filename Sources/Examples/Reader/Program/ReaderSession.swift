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
    private let articles: LiveList<ArticleEntity>
    /// The articles with their numbers, as they were listed last.
    private var shown: [ManagedObjectID] = []

    init(_ store: ReaderStore) throws {
        self.store = store
        feeds = try store.feeds.all()
        articles = try store.articles.all()
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
        let now = Date()
        let ranges = Dictionary(
            articles.sections.compactMap { section in
                articles.object(section.range.lowerBound)?.feed.map { ($0.objectID, section.range) }
            }, uniquingKeysWith: { first, _ in first })
        shown = []
        say("Feeds: \(FreshnessWords(try store.feeds.freshness(of: FeedDataSource.list)).text(at: now))")
        for index in 0..<feeds.count {
            guard let feed = feeds.object(index) else { continue }
            let freshness = try store.articles.freshness(of: ArticleDataSource.list(of: feed.uid))
            let range = ranges[feed.objectID] ?? 0..<0
            let count = range.count == 1 ? "1 article" : "\(range.count) articles"
            say("\(feed.title): \(count), \(FreshnessWords(freshness).text(at: now))")
            for index in range.prefix(Self.listed) {
                shown.append(articles.snapshot[index].id)
                say("  \(number(shown.count)) \(Self.row(articles.snapshot[index]))")
            }
            if range.count > Self.listed { say("       and \(range.count - Self.listed) more") }
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
        guard let index = articles.index(of: id) else { return say("The article is gone.") }
        say(Self.row(articles.snapshot[index]))
    }

    private func refresh(seconds: Double) async throws {
        let before = try requestTimes()
        let failures = await store.refresh(maxAge: .seconds(seconds))
        let after = try requestTimes()
        let count = after.count { before[$0.key] != $0.value }
        say(count == 1 ? "1 list is up to date." : "\(count) lists are up to date.")
        guard !failures.isEmpty else { return }
        let now = Date()
        say("Feeds: \(FreshnessWords(try store.feeds.freshness(of: FeedDataSource.list)).text(at: now))")
        for index in 0..<feeds.count {
            guard let feed = feeds.object(index) else { continue }
            let freshness = try store.articles.freshness(of: ArticleDataSource.list(of: feed.uid))
            if freshness.lastFailure != nil { say("\(feed.title): \(FreshnessWords(freshness).text(at: now))") }
        }
    }

    /// For each list, by the name of its scope: the time of the request whose answer is in the store.
    private func requestTimes() throws -> [String: Date] {
        var times: [String: Date] = [:]
        times[FeedDataSource.list.name] = try store.feeds.freshness(of: FeedDataSource.list).requestedAt
        for feed in feeds.snapshot {
            let scope = ArticleDataSource.list(of: feed.uid)
            times[scope.name] = try store.articles.freshness(of: scope).requestedAt
        }
        return times
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
