import CoreDataSource
import ErrorExpectations
import FeedServer
import Foundation
import ReaderApp
import TestSupport
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Servers that fail: what is stored stays, with its entity tag, and the failure is noted.
@MainActor
struct FailureTests {
    private static let harbour = "/feeds/harbour/articles"

    /// Expects that the list of the harbour is as it was, and that the next request has its entity tag.
    private func expectUnchanged(
        _ world: ReaderWorld, since before: ScopeFreshness, failure: String?,
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        let after = try world.freshness("harbour")
        #expect(after.requestedAt == before.requestedAt, sourceLocation: sourceLocation)
        #expect(after.entityTag == before.entityTag && after.isComplete, sourceLocation: sourceLocation)
        #expect(after.lastFailure == failure && after.failureCount == 1, sourceLocation: sourceLocation)
        let articles = try world.articles("harbour")
        #expect(articles == ReaderWorld.uids("harbour", (1...4).reversed()), sourceLocation: sourceLocation)
        try world.server.site.perform("clear")
        try await world.load("harbour")
        #expect(world.statuses(Self.harbour).last == 304, sourceLocation: sourceLocation)
        #expect(try world.freshness("harbour").failureCount == 0, sourceLocation: sourceLocation)
        try await world.end()
    }

    @Test(arguments: [500, 404, 503])
    func anAnswerWithoutAListChangesNothing(status: Int) async throws {
        let world = try await ReaderWorld()
        let before = try world.freshness("harbour")
        try world.fault("\(Self.harbour) 1 status \(status)")
        let error = await expectThrows(ServerRefusal.self) { try await world.load("harbour") }
        #expect(error?.status == status && error?.retryAfter == nil)
        try await expectUnchanged(world, since: before, failure: "ServerRefusal \(status)")
    }

    @Test func aConnectionThatIsResetInTheBodyChangesNothing() async throws {
        let world = try await ReaderWorld()
        let before = try world.freshness("harbour")
        // With another list, the answer has a body.
        try world.server.site.perform("publish harbour News")
        try world.fault("\(Self.harbour) 1 reset")
        let error = await expectThrows(URLError.self) { try await world.load("harbour") }
        let failure = try world.freshness("harbour").lastFailure
        #expect(failure == error.map { "URLError \($0.errorCode)" })
        let (after, articles) = (try world.freshness("harbour"), try world.articles("harbour"))
        #expect(after.requestedAt == before.requestedAt && after.entityTag == before.entityTag)
        #expect(articles.count == 4)
        try await world.load("harbour")
        #expect(try world.articles("harbour").count == 5)
        try await world.end()
    }

    @Test func anAnswerThatIsNoListChangesNothing() async throws {
        let world = try await ReaderWorld()
        let before = try world.freshness("harbour")
        try world.fault("\(Self.harbour) 1 garbage")
        await expectThrows(DecodingError.self) { try await world.load("harbour") }
        let failure = try world.freshness("harbour").lastFailure
        #expect(failure?.hasPrefix("DecodingError") == true)
        try await expectUnchanged(world, since: before, failure: failure)
    }

    @Test func anEmptyListIsRefused() async throws {
        let world = try await ReaderWorld()
        let before = try world.freshness("harbour")
        try world.fault("\(Self.harbour) 1 empty")
        await expectError(.emptySync) { try await world.load("harbour") }
        try await expectUnchanged(world, since: before, failure: "emptySync")
    }

    @Test(arguments: [("empty", DataSourceError.Code.emptySync), ("short", .tooManyDeletions)])
    func aListThatLacksMostFeedsIsRefused(fault: String, code: DataSourceError.Code) async throws {
        let world = try await ReaderWorld()
        let before = try world.freshnessOfFeeds()
        try world.fault("/feeds 1 \(fault)")
        await expectError(code) {
            try await world.store.feeds.load(from: world.store.service, maxAge: .zero)
        }
        let after = try world.freshnessOfFeeds()
        #expect(after.entityTag == before.entityTag && after.lastFailure == code.rawValue)
        #expect(try world.feeds() == ["bread", "harbour", "stars"])
        #expect(try world.articles("bread").count == 23)
        try await world.end()
    }

    @Test func anAnswerThatTakesTooLongIsGivenUp() async throws {
        let world = try await ReaderWorld()
        let before = try world.freshness("harbour")
        try world.fault("\(Self.harbour) 1 hold 3600")
        let (articles, service) = (world.store.articles, world.store.service)
        await expectError(.loadTimedOut) {
            try await articles.load(
                ArticleDataSource.list(of: "harbour"), maxAge: .zero, timeLimit: .milliseconds(100), deleting: .all
            ) { try await service.articles(of: "harbour", $0) }
        }
        try world.server.site.perform("release")
        try await expectUnchanged(world, since: before, failure: "loadTimedOut")
    }

    @Test func withoutANetworkTheRowsStay() async throws {
        let world = try await ReaderWorld()
        let before = try world.freshness("harbour")
        world.store.service.isOffline = true
        let failures = await world.store.refresh(maxAge: .zero)
        #expect(failures.count == 4 && failures.allSatisfy { ($0.error as? URLError)?.code == .notConnectedToInternet })
        #expect(FreshnessWords(try world.freshness("harbour")).text(at: Date()).contains("refresh failed: offline"))
        world.store.service.isOffline = false
        try await expectUnchanged(world, since: before, failure: "URLError -1009")
    }

    @Test func aServerThatHasEndedIsAFailure() async throws {
        let world = try await ReaderWorld()
        world.server.close()
        await expectThrows(URLError.self) { try await world.load("harbour") }
        let words = FreshnessWords(try world.freshness("harbour")).text(at: Date())
        #expect(words.contains("refresh failed: no connection to the server"))
        #expect(try world.articles("harbour").count == 4)
        try await world.end()
    }

    @Test func afterTheStoreIsClosedNothingIsRequested() async throws {
        let world = try await ReaderWorld()
        let (count, store) = (world.server.site.records.count, world.store)
        try await store.container.close()
        await expectError(.storeClosed) { try await world.load("harbour") }
        await expectError(.storeClosed) { try await store.feeds.load(from: store.service, maxAge: .seconds(300)) }
        #expect(world.server.site.records.count == count)
        try await world.end()
    }

    /// A store that is closed during a request stores nothing of its answer.
    @Test func aStoreMayBeClosedDuringARequest() async throws {
        let world = try await ReaderWorld()
        try world.fault("\(Self.harbour) 1 hold 3600")
        let load = Task { try await world.load("harbour") }
        try await world.waitForRequests(Self.harbour, count: 2)
        try await world.store.container.close()
        try world.server.site.perform("release")
        await expectError(.storeClosed) { try await load.value }
        try await world.end()
    }

    // MARK: Times

    @Test(arguments: ["429 3600", "429 3600 date"], [0, -315_360_000, 315_360_000])
    func aServerSaysWhenToTryAgain(refusal: String, clock: Int) async throws {
        let world = try await ReaderWorld()
        try world.fault("\(Self.harbour) 1 \(refusal)")
        try world.fault("\(Self.harbour) 1 clock \(clock)")
        let error = await expectThrows(ServerRefusal.self) { try await world.load("harbour") }
        #expect(error?.status == 429 && error?.retryAfter == .seconds(3600))
        let found = try world.freshness("harbour")
        let (failedAt, retryAt) = (try #require(found.failedAt), try #require(found.retryAt))
        // The pause has a random part of up to a tenth.
        let pause = retryAt.timeIntervalSince(failedAt)
        #expect(pause > 3599 && pause < 3961)
        #expect(
            FreshnessWords(found).text(at: failedAt)
                .contains("refresh failed: the server answered 429, next try in 6"))
        // The list is stale, but nobody asks before that time, unless the user wants to.
        let count = world.server.site.records.count
        let store = world.store
        await expectError(.loadPostponed) {
            try await store.articles.load("harbour", from: store.service, maxAge: .nanoseconds(1))
        }
        #expect(world.server.site.records.count == count)
        try await world.load("harbour")
        #expect(try world.freshness("harbour").retryAt == nil)
        try await world.end()
    }

    @Test(arguments: [-315_360_000, 315_360_000])
    func theAgeCountsByTheClockOfTheReader(clock: Int) async throws {
        let world = try await ReaderWorld(isLoaded: false)
        try world.fault("/ always clock \(clock)")
        let start = Date()
        let failures = await world.store.refresh(maxAge: .zero)
        #expect(failures.isEmpty)
        let requestedAt = try #require(try world.freshness("harbour").requestedAt)
        #expect(start <= requestedAt && requestedAt <= Date())
        let count = world.server.site.records.count
        _ = await world.store.refresh(maxAge: .seconds(86_400))
        #expect(world.server.site.records.count == count)
        try await world.end()
    }

    @Test func aPauseInTheHeaderMayBeAnything() {
        let now = Date(timeIntervalSince1970: 784_111_777)
        func pause(_ text: String?, _ date: String? = nil) -> Duration? {
            ServerRefusal(status: 429, retryAfter: text, date: date, now: now).retryAfter
        }
        #expect(pause("20") == .seconds(20) && pause("-1") == .seconds(-1))
        #expect(pause("Sun, 06 Nov 1994 08:50:37 GMT") == .seconds(60))
        #expect(pause("Sun, 06 Nov 1994 08:50:37 GMT", "Sun, 06 Nov 1994 08:50:27 GMT") == .seconds(10))
        for text in [nil, "", "soon", "1e9", "99999999999999999999", "Sun, 99 Nov 1994 08:50:37 GMT"] {
            #expect(pause(text) == nil)
        }
    }
}
