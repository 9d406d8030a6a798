extension FeedSite {
    /// Three feeds. One of them has more articles than fit on a page.
    package static func sample() -> FeedSite {
        FeedSite([
            Contents(
                "bread", "The bread oven",
                (1...23).map { "Loaf \($0): \(["rye", "spelt", "wheat", "oats"][$0 % 4])" }, hours: 24),
            Contents(
                "harbour", "Harbour news",
                [
                    "The ferry has a new engine", "Storm warning for Friday", "Fog at the lighthouse",
                    "A crane for the east pier",
                ], hours: 5),
            Contents(
                "stars", "The night sky", ["Saturn at dawn", "A comet in Lyra", "The moon covers Antares"], hours: 9),
        ])
    }
}

extension FeedSite.Contents {
    /// The time of the newest articles: 2026-11-28 18:00 UTC.
    private static let now = 1_795_888_800
    /// The maximum number of articles in a feed.
    private static let limit = 10_000

    /// - Parameters:
    ///   - titles: The titles of the articles, oldest first.
    ///   - hours: The time between two articles.
    init(_ id: String, _ title: String, _ titles: [String], hours: Int) {
        self.init(feed: FeedSite.ListedFeed(id: id, title: title), articles: [], count: 0)
        for (index, title) in titles.enumerated() {
            publish(title, at: Self.now - (titles.count - 1 - index) * hours * 3600)
        }
    }

    mutating func publish(_ title: String) { publish(title, at: (articles.first?.date ?? Self.now) + 3600) }

    private mutating func publish(_ title: String, at date: Int) {
        count += 1
        let article = FeedSite.ListedArticle(
            id: "\(feed.id)-\(count)", feed: feed.id, title: title,
            text: "\(title). This is article \(count) of the feed \"\(feed.title)\".", date: date)
        articles.insert(article, at: 0)
        articles = Array(articles.prefix(Self.limit))
    }
}
