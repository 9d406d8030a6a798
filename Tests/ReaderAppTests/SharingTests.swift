import CoreDataSource
import ErrorExpectations
import FeedServer
import Foundation
import ReaderApp
import TestSupport
import Testing

/// Two readers of one store.
@MainActor
struct SharingTests {
    /// Waits until a condition is true. The changes of another member come after a while, from threads that need the processor.
    private func wait(until condition: () throws -> Bool) async throws {
        while try !condition() { try await Task.sleep(for: .milliseconds(5)) }
    }

    @Test func whatOneReaderHasLoadedIsFreshForAnother() async throws {
        let world = try await ReaderWorld()
        let count = world.server.site.records.count
        let other = try await world.another()
        let failures = await other.refresh(maxAge: .seconds(3600))
        #expect(failures.isEmpty && world.server.site.records.count == count)
        #expect(try other.articles.count(ArticleEntity.self) == 30)
        // The entity tag is that of the store.
        try await other.articles.load("harbour", from: other.service, maxAge: .zero)
        #expect(world.statuses("/feeds/harbour/articles") == [200, 304])
        try await other.container.close()
        try await world.end()
    }

    @Test func anEditIsSeenAndUndoneInAnotherReader() async throws {
        let world = try await ReaderWorld()
        let other = try await world.another()
        let (mine, theirs) = (try world.store.articles.all(), try other.articles.all())
        let id = try world.article("harbour-2").objectID
        func hasStar(_ list: LiveList<ArticleEntity>) -> Bool? { list.index(of: id).map { list.snapshot[$0].hasStar } }
        try await world.store.star([id])
        try await wait { hasStar(theirs) == true }
        #expect(try await other.undo() == "star of \"Storm warning for Friday\"")
        try await wait { hasStar(theirs) == false }
        try await wait { hasStar(mine) == false }
        #expect(try await world.store.undo() == nil)
        #expect(try await world.store.redo() == "star of \"Storm warning for Friday\"")
        try await wait { hasStar(theirs) == true }
        #expect(try await world.store.redo() == nil)
        try await other.container.close()
        try await world.end()
    }

    /// A load is no step, and an undo after a load leaves the loaded values.
    @Test func anUndoTakesNoLoadBack() async throws {
        let world = try await ReaderWorld()
        #expect(try await world.store.undo() == nil)
        try await world.store.read([try world.article("stars-1").objectID, try world.article("stars-2").objectID])
        try world.server.site.perform("publish stars A new star")
        try await world.load("stars")
        let words = try await world.store.undo()
        #expect(words?.hasPrefix("read mark of ") == true && words?.hasSuffix(" and 1 more") == true)
        #expect(try world.articles("stars").count == 4 && !world.article("stars-1").isRead)
        try await world.end()
    }

    /// Both ask at the same time. One of them makes a request, and the other waits for its answer.
    @Test func twoReadersAskForOneListAtTheSameTime() async throws {
        let world = try await ReaderWorld(isLoaded: false)
        let other = try await world.another()
        try world.fault("/feeds 1 hold 3600")
        let loads = [world.store, other].map { store in
            Task { try await store.feeds.load(from: store.service, maxAge: .seconds(3600)) }
        }
        try await wait { world.statuses("/feeds").count == 1 }
        try world.server.site.perform("release")
        for load in loads { try await load.value }
        #expect(world.statuses("/feeds") == [200])
        for store in [world.store, other] {
            #expect(try store.feeds.count(FeedEntity.self) == 3)
            #expect(try store.feeds.freshness(of: FeedDataSource.list).entityTag != nil)
        }
        try await other.container.close()
        try await world.end()
    }
}

/// The words for the age of a list.
struct FreshnessWordsTests {
    private let now = Date(timeIntervalSince1970: 1_795_888_800)

    @Test(arguments: [
        (0.0, "just now"), (59, "just now"), (60, "1 minute ago"), (300, "5 minutes ago"), (7199, "1 hour ago"),
        (86_400, "1 day ago"), (1e12, "1000000 days ago"), (-1, "in the future (a clock was changed)"),
    ])
    func theAgeIsInTheLargestUnit(seconds: Double, words: String) {
        #expect(FreshnessWords(requestedAt: now - seconds).text(at: now) == "updated \(words)")
    }

    @Test func aFailureSaysWhenTheNextTryIs() {
        var words = FreshnessWords(requestedAt: nil, isComplete: false)
        #expect(words.text(at: now) == "never updated")
        words.failure = "ServerRefusal 500"
        #expect(words.text(at: now) == "never updated, refresh failed: the server answered 500")
        words = FreshnessWords(
            requestedAt: now - 300, isComplete: false, failure: "URLError -1004", retryAt: now + 19.1)
        #expect(
            words.text(at: now)
                == "updated 5 minutes ago, not complete, refresh failed: no connection to the server, next try in 20 s")
        words.retryAt = now - 1
        #expect(words.text(at: now).hasSuffix("no connection to the server"))
        words.isRefreshing = true
        #expect(words.text(at: now) == "updated 5 minutes ago, not complete, refreshing")
        words.isRefreshing = false
        words.failure = "loadTimedOut"
        #expect(words.text(at: now).hasSuffix("the server did not answer in time"))
    }
}
