package import CoreDataSource
package import Foundation

// The app has two data sources. The model has a class for each of them.

/// A feed. Its articles are deleted with the feed.
@StoredEntity package final class FeedEntity: ManagedObject {
    @Stored(unique: true) package var uid: String
    package var title: String = ""
    @Related(inverse: "feed", onDelete: .cascade) package var articles: RelatedObjects<ArticleEntity>
}

/// An article. The server has the title, the text and the date. Only the reader knows what was read, and what has a star.
@StoredEntity(indexes: [
    FetchIndexDescription(
        name: "byFeedAndDate",
        elements: [
            .init(property: "feed"), .init(property: "date", isAscending: false),
            .init(property: "uid", isAscending: false),
        ])
])
package final class ArticleEntity: ManagedObject {
    @Stored(unique: true) package var uid: String
    package var title: String = ""
    package var text: String = ""
    package var date: Date = .distantPast
    package var isRead: Bool = false
    package var hasStar: Bool = false
    @Related package var feed: FeedEntity?
}

extension ManagedObjectModel {
    package static let reader = ManagedObjectModel("Reader") {
        FeedEntity.self
        ArticleEntity.self
    }
}
