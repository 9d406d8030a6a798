import CoreDataSource
import ErrorExpectations
import FeedServer
import Foundation
import ReaderApp
import Synchronization
import TestSupport
import Testing

/// Loads of lists from a server, over HTTP.
@MainActor
struct LoadTests {
    private static let harbour = "/feeds/harbour/articles"
    private static let bread = "/feeds/bread/articles"

    @Test func theFirstLoadStoresAllListsAndAllPages() async throws {
        let world = try await ReaderWorld(isLoaded: false)
        #expect(try world.freshnessOfFeeds().requestedAt == nil)
        let failures = await world.store.refresh(maxAge: .seconds(300))
        #expect(failures.isEmpty)
        #expect(try world.feeds() == ["bread", "harbour", "stars"])
        #expect(try world.articles("bread") == ReaderWorld.uids("bread", (1...23).reversed()))
        #expect(try world.articles("harbour") == ReaderWorld.uids("harbour", (1...4).reversed()))
        #expect(try world.article("harbour-2").title == "Storm warning for Friday")
        #expect(world.statuses("/feeds") == [200] && world.statuses(Self.harbour) == [200])
        #expect(world.statuses(Self.bread) == [200, 200, 200])
        // A list with pages has no entity tag.
        #expect(try world.freshness("harbour").entityTag != nil && world.freshness("bread").entityTag == nil)
        // Fresh lists are not requested.
        let again = await world.store.refresh(maxAge: .seconds(300))
        #expect(again.isEmpty && world.server.site.records.count == 6)
        try await world.end()
    }

    @Test func aListThatIsNotModifiedWritesOneRow() async throws {
        let statements = Statements()
        let world = try await ReaderWorld { statements.add($0.sql) }
        let (before, rows) = (try world.freshness("harbour"), try world.articles("harbour"))
        try await world.store.container.flush()
        statements.clear()
        try await world.load("harbour")
        let writes = statements.all.filter { $0.contains("_scopes") && !$0.hasPrefix("SELECT") }
        #expect(writes.count == 1, "\(writes)")
        #expect(
            !statements.all.contains { $0.firstMatch(of: /(INSERT|UPDATE|DELETE|REPLACE)[^;]*ArticleEntity/) != nil })
        let after = try world.freshness("harbour")
        #expect(after.entityTag == before.entityTag && after.requestedAt != before.requestedAt)
        #expect(try world.articles("harbour") == rows && world.statuses(Self.harbour) == [200, 304])
        try await world.end()
    }

    @Test func aChangedListIsStored() async throws {
        let world = try await ReaderWorld()
        let before = try world.freshness("harbour").entityTag
        try world.server.site.perform("publish harbour The ferry is on time")
        try world.server.site.perform("expire harbour 1")
        try await world.load("harbour")
        #expect(try world.articles("harbour") == ReaderWorld.uids("harbour", (2...5).reversed()))
        #expect(try world.freshness("harbour").entityTag != before)
        try await world.end()
    }

    // MARK: Pages

    @Test func aRepeatedCursorIsNamed() async throws {
        let world = try await ReaderWorld(isLoaded: false)
        try await world.store.feeds.load(from: world.store.service, maxAge: .zero)
        try world.fault("\(Self.bread) always cursor")
        let error = await expectError(.cursorRepeated) { try await world.load("bread") }
        #expect(error?.message.contains("\"articles of bread\"") == true)
        #expect(world.statuses(Self.bread) == [200, 200])
        // What was stored stays, but the list is not complete.
        let stored = try world.articles("bread")
        #expect(stored == ReaderWorld.uids("bread", (14...23).reversed()))
        let failed = try world.freshness("bread")
        #expect(!failed.isComplete && failed.lastFailure == "cursorRepeated")
        try world.server.site.perform("clear")
        try await world.load("bread")
        let all = try world.articles("bread")
        #expect(try all.count == 23 && world.freshness("bread").isComplete)
        try await world.end()
    }

    @Test func pagesThatOverlapMakeNoArticleTwice() async throws {
        let world = try await ReaderWorld(isLoaded: false)
        try world.fault("\(Self.bread) always overlap")
        let failures = await world.store.refresh(maxAge: .zero)
        #expect(failures.isEmpty)
        #expect(try world.articles("bread") == ReaderWorld.uids("bread", (1...23).reversed()))
        try await world.end()
    }

    /// The page in the middle fails: what was stored stays, and nothing is deleted.
    @Test func aFailedPageDeletesNothing() async throws {
        let world = try await ReaderWorld()
        try world.server.site.perform("expire bread 5")
        // The first page is answered, and the second one is not.
        try world.fault("\(Self.bread) 1 hold 3600")
        let load = Task { try await world.load("bread") }
        try await world.waitForRequests(Self.bread, count: 4)
        try world.fault("\(Self.bread) 1 status 503")
        try world.server.site.perform("release")
        let error = await expectThrows(ServerRefusal.self) { try await load.value }
        #expect(error?.status == 503)
        let stored = try world.articles("bread")
        #expect(stored.count == 23)
        try await world.load("bread")
        #expect(try world.articles("bread") == ReaderWorld.uids("bread", (6...23).reversed()))
        try await world.end()
    }

    // MARK: Feeds that go

    @Test func aFeedThatIsGoneTakesItsArticles() async throws {
        let world = try await ReaderWorld()
        try await world.store.star([try world.article("harbour-2").objectID])
        try world.server.site.perform("close harbour")
        try await world.load("harbour")
        // An article with a star is not in the scope of the list.
        #expect(try world.articles("harbour") == ["harbour-2"])
        #expect(world.statuses(Self.harbour).last == 410)
        #expect(try world.freshness("harbour").isComplete)
        let failures = await world.store.refresh(maxAge: .zero)
        #expect(failures.isEmpty)
        #expect(try world.feeds() == ["bread", "stars"] && world.articles("harbour").isEmpty)
        try await world.end()
    }

    @Test func anArticleWithAStarStaysWhenItIsNoLongerListed() async throws {
        let world = try await ReaderWorld()
        try await world.store.star([try world.article("harbour-1").objectID])
        try world.server.site.perform("expire harbour 2")
        try await world.load("harbour")
        #expect(try world.articles("harbour") == ReaderWorld.uids("harbour", [4, 3, 1]))
        // What the user has edited stays as well.
        try await world.store.read([try world.article("harbour-3").objectID])
        try world.server.site.perform("publish harbour News")
        try await world.load("harbour")
        #expect(try world.article("harbour-3").isRead && world.article("harbour-1").hasStar)
        try await world.end()
    }
}

/// The statements that a store runs.
private final class Statements: Sendable {
    private let texts = Mutex<[String]>([])

    func add(_ text: String) { texts.withLock { $0.append(text) } }
    func clear() { texts.withLock { $0 = [] } }
    var all: [String] { texts.withLock { $0 } }
}
