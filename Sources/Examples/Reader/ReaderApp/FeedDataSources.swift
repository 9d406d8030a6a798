package import CoreDataSource
package import Foundation

/// A feed in the server's list.
package struct Feed: Sendable, Hashable, Decodable {
    package var id: String
    package var title: String

    package init(id: String, title: String) {
        (self.id, self.title) = (id, title)
    }
}

/// The data source of feeds.
package final class FeedDataSource: KeyedDataSource<Feed, FeedEntity> {
    package nonisolated override class var key: ObjectKey<Feed, FeedEntity> { ObjectKey(\.id, \.uid) }

    package nonisolated override func update(_ entity: FeedEntity, from feed: Feed, in context: PrivateContext) {
        entity.title = feed.title
    }

    /// The list of all feeds.
    package nonisolated static let list = SyncScope("feeds", FeedEntity.self)

    /// Loads the list if it is older than `maxAge`.
    ///
    /// - Throws: `tooManyDeletions` if the answer lacks more than half of the feeds, because such a list is probably wrong.
    package nonisolated func load(from service: FeedService, maxAge: Duration) async throws {
        try await load(Self.list, maxAge: maxAge, timeLimit: service.timeLimit, deleting: .atMost(0.5)) {
            try await service.feeds($0)
        }
    }

    /// A live list of all feeds, with the freshness of the server's list.
    package func all() throws -> LiveList<FeedEntity> {
        try list(ObjectRequest(FeedEntity.self, order: [.ascending(\.uid)], freshnessOf: Self.list))
    }
}

/// An article in the server's list of a feed.
package struct Article: Sendable, Hashable, Decodable {
    package var id: String
    /// The id of the feed.
    package var feed: String
    package var title: String
    package var text: String
    package var date: Date

    package init(id: String, feed: String, title: String, text: String, date: Date) {
        (self.id, self.feed, self.title, self.text, self.date) = (id, feed, title, text, date)
    }
}

/// The data source of articles. It links each article to a feed, which another data source owns.
package final class ArticleDataSource: DataSource<Article> {
    package nonisolated override class var entities: [ManagedObject.Type] { [ArticleEntity.self] }

    package nonisolated override func prepare(_ articles: [Article], in context: PrivateContext) throws {
        try context.preload(ArticleEntity.self, where: \.uid, in: articles.map(\.id))
        try context.preload(FeedEntity.self, where: \.uid, in: Set(articles.map(\.feed)))
    }

    /// Keeps the user's marks: whether an article was read, and its star. Ignores an article of an unknown feed.
    package nonisolated override func onAdd(_ article: Article, in context: PrivateContext) throws -> ManagedObject? {
        guard let feed = try context.first(FeedEntity.self, where: \.uid, equals: article.feed) else { return nil }
        let entity = try context.findOrInsert(ArticleEntity.self, where: \.uid, equals: article.id)
        entity.title = article.title
        entity.text = article.text
        entity.date = article.date
        entity.feed = feed
        return entity
    }

    package nonisolated override func onDelete(_ article: Article, in context: PrivateContext) throws {
        try context.delete(ArticleEntity.self, where: \.uid == article.id)
    }

    // MARK: The server's lists

    /// The list of a feed's articles. An article with a star is not in this scope. So the article stays in the store even if
    /// the server no longer lists it.
    package nonisolated static func list(of feed: String) -> SyncScope<ArticleEntity> {
        SyncScope("articles of \(feed)", ArticleEntity.self, where: \.feed?.uid == feed && \.hasStar == false)
    }

    /// Loads the list of a feed's articles if it is older than `maxAge`.
    ///
    /// A feed lists only its newest articles. After a long time, all listed articles can be new. So the load can delete any
    /// number of articles, and refuses only an empty list.
    package nonisolated func load(_ feed: String, from service: FeedService, maxAge: Duration) async throws {
        try await load(Self.list(of: feed), maxAge: maxAge, timeLimit: service.timeLimit, deleting: .all) {
            try await service.articles(of: feed, $0)
        }
    }

    // MARK: The user's edits

    package func setRead(_ isRead: Bool, _ ids: [ManagedObjectID]) async throws {
        try await perform { context in
            for article in try context.objects(ArticleEntity.self, ids: ids) { article.isRead = isRead }
        }
    }

    package func setStar(_ hasStar: Bool, _ ids: [ManagedObjectID]) async throws {
        try await perform { context in
            for article in try context.objects(ArticleEntity.self, ids: ids) { article.hasStar = hasStar }
        }
    }

    // MARK: Lists

    /// All articles, with a section for each feed, newest first. Two feeds can have the same title, so the sections are ordered
    /// by the id of the feed.
    package nonisolated static var byFeed: ObjectRequest<ArticleEntity> {
        var request = ObjectRequest(ArticleEntity.self, order: [.descending(\.date), .descending(\.uid)])
        request.sections = .titles(\.feed?.title, orderedBy: .ascending(\.feed?.uid))
        return request
    }

    /// A live list of a feed's articles, newest first, with the freshness of the server's list.
    package func live(of feed: String) throws -> LiveList<ArticleEntity> {
        try list(
            ObjectRequest(
                ArticleEntity.self, where: \.feed?.uid == feed, order: [.descending(\.date), .descending(\.uid)],
                freshnessOf: Self.list(of: feed)))
    }

    /// A live list of all articles.
    package func all() throws -> LiveList<ArticleEntity> { try list(Self.byFeed) }
}
