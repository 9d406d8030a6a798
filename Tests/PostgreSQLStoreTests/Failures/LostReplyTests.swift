#if PostgreSQL
import PostgreSQLStore
import RowStore
import StoreTestModel
import TestSupport
import Testing

/// The server has committed or not, and its reply does not come.
@Suite(.serialized, .enabled(if: PostgreSQLServer.isInstalled, Comment(rawValue: PostgreSQLServer.comment)))
struct LostReplyTests {
    @Test func aSaveWhoseReplyIsLostIsWrittenOnce() throws {
        let place = try FailurePlace()
        let (store, other) = (try place.open(), try place.open(isDirect: true))
        let start = try other.position()
        let cut = place.proxy.cutReply(to: "COMMIT")
        #expect(try store.commit([FailurePlace.save(1)]).refused.isEmpty)
        #expect(cut.answer == "COMMIT")
        #expect(try store.commit([FailurePlace.save(2)]).refused.isEmpty)
        #expect(try place.keys() == [1, 2])
        let page = try other.readFeed(after: start)
        #expect(page.position == start + 2 && page.events.count == 2)
        store.close()
        other.close()
    }

    @Test func aSaveThatDidNotArriveIsNotWritten() throws {
        let place = try FailurePlace()
        let store = try place.open()
        let start = try store.position()
        let cut = place.proxy.cutBefore("COMMIT")
        #expect(code { try store.write([FailurePlace.save(1)]) } == .storeUnavailable)
        #expect(cut.isReached)
        #expect(try place.keys() == [])
        try store.write([FailurePlace.save(1)])
        #expect(try place.keys() == [1])
        #expect(try store.position() == start + 1)
        store.close()
    }

    /// The message is on its way while the store already asks for its outcome.
    @Test func aCommitThatArrivesAfterItWasAskedForIsRefused() async throws {
        let place = try FailurePlace()
        let store = try place.open()
        let hold = place.proxy.hold("COMMIT")
        let commit = runOnOwnThread { code { try store.write([FailurePlace.save(1)]) } }
        hold.cutClient()
        #expect(await commit.value == .storeUnavailable)
        #expect(hold.deliver() != "COMMIT")
        #expect(try place.keys() == [])
        try store.write([FailurePlace.save(1)])
        #expect(try place.keys() == [1])
        store.close()
    }

    /// Whichever comes first, the answer is what is in the store.
    @Test(arguments: 0..<5)
    func askingForALostReplyFindsTheOutcome(round: Int) async throws {
        let place = try FailurePlace()
        let store = try place.open()
        let hold = place.proxy.hold("COMMIT")
        let commit = runOnOwnThread { code { try store.write([FailurePlace.save(1)]) } }
        hold.cutClient()
        let answer = hold.deliver()
        let failure = await commit.value
        #expect(try place.keys() == (failure == nil ? [1] : []))
        #expect((answer == "COMMIT") == (failure == nil))
        #expect(failure == nil || failure == .storeUnavailable)
        store.close()
    }

    /// The server cannot be asked either.
    @Test(arguments: [true, false])
    func anOutcomeThatNobodyCouldAskForIsFoundOutByTheNextSave(didLand: Bool) throws {
        let place = try FailurePlace()
        var options = place.options()
        options.outcomeTimeout = .milliseconds(200)
        let store = try PostgreSQLStore.open(options)
        let start = try store.position()
        let cut = didLand ? place.proxy.cutReply(to: "COMMIT") : place.proxy.cutBefore("COMMIT")
        place.proxy.refuseNewConnections()
        #expect(code { try store.write([FailurePlace.save(1, number: 7)]) } == .outcomeUnknown)
        #expect(cut.isReached)
        #expect(code { try store.write([FailurePlace.save(1, number: 7)]) } == .storeUnavailable)
        #expect(try place.keys() == (didLand ? [1] : []))
        place.proxy.goOnline()
        // Tried again, as it is: it is there once, whatever had become of it.
        let outcome = try store.commit([FailurePlace.save(1, number: 7), FailurePlace.save(2, number: 8)])
        #expect(outcome.refused.isEmpty)
        #expect(try place.keys() == [1, 2])
        #expect(try store.position() == start + 2)
        store.close()
    }
}
#endif
