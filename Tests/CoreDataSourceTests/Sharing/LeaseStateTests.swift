import CoreDataSource
import RowStore
import Testing

/// What is known of leases, as a value.
struct LeaseStateTests {
    private static let own = StoreMember(number: 7, processID: 1, name: "test")

    private func table(_ version: Int64, epoch: Int64) -> LeaseTable {
        let lease = LeaseTable.Lease(entity: 0, holder: LeaseStateTests.own, epoch: epoch, source: "Source")
        return LeaseTable(version: version, leases: [lease], tickets: [])
    }

    @Test func anAnswerOfTheStoreIsTaken() {
        var state = LeaseState()
        state.apply(table(3, epoch: 5), own: 7, requested: state.generation, at: .now)
        #expect(state.use([0])?.epochs == [LeaseEpoch(entity: 0, epoch: 5)])
        state.apply(table(2, epoch: 4), own: 7, requested: state.generation, at: .now)
        #expect(state.use([0])?.epochs == [LeaseEpoch(entity: 0, epoch: 5)])
    }

    /// Batches used leases that the new store knew nothing of, and their saves were refused.
    @Test func aTableReadBeforeAResetIsNotTakenAfterIt() {
        var state = LeaseState()
        let requested = state.generation
        let old = table(3, epoch: 5)
        state.forget()
        state.apply(old, own: 7, requested: requested, at: .now)
        #expect(state.use([0]) == nil)
        // The new store counts from the beginning.
        state.apply(table(1, epoch: 1), own: 7, requested: state.generation, at: .now)
        #expect(state.use([0])?.epochs == [LeaseEpoch(entity: 0, epoch: 1)])
    }

    /// A server that has lost its newest commits counts on from a lower number.
    @Test func aStoreThatIsDoubtedIsBelieved() {
        var state = LeaseState()
        state.apply(table(50, epoch: 25), own: 7, requested: state.generation, at: .now)
        state.acceptAnyVersion()
        state.apply(table(40, epoch: 20), own: 7, requested: state.generation, at: .now)
        #expect(state.use([0])?.epochs == [LeaseEpoch(entity: 0, epoch: 20)])
    }

    /// A lease that seemed to be used was never handed over.
    @Test func aBatchFromBeforeAResetEndsNoUseOfAfterIt() throws {
        var state = LeaseState()
        state.apply(table(1, epoch: 1), own: 7, requested: state.generation, at: .now)
        let first = state.use([0])
        let before = try #require(first)
        state.forget()
        state.apply(table(1, epoch: 1), own: 7, requested: state.generation, at: .now)
        let second = state.use([0])
        let after = try #require(second)
        _ = state.endUse(before)
        #expect(!state.isIdle(0))
        _ = state.endUse(after)
        #expect(state.isIdle(0))
    }

    /// Without this a second batch, which finds the leases there, would build on older rows than the first one.
    @Test func leasesAreFollowedOnceAfterTheyAreGiven() throws {
        var state = LeaseState()
        state.apply(table(1, epoch: 1), own: 7, requested: state.generation, at: .now)
        let (one, two) = (state.use([0]), state.use([0]))
        let (first, second) = (try #require(one), try #require(two))
        #expect(!state.isFollowed(first, trust: 1) && !state.isFollowed(second, trust: 1))
        state.didFollow(first, trust: 1)
        #expect(state.isFollowed(first, trust: 1) && state.isFollowed(second, trust: 1))
        // Taken away, and given again.
        state.apply(table(3, epoch: 3), own: 7, requested: state.generation, at: .now)
        let third = state.use([0])
        let again = try #require(third)
        state.didFollow(second, trust: 1)
        #expect(!state.isFollowed(second, trust: 1) && !state.isFollowed(again, trust: 1))
        state.didFollow(again, trust: 1)
        state.apply(table(4, epoch: 3), own: 7, requested: state.generation, at: .now)
        #expect(state.isFollowed(again, trust: 1))
        state.forget()
        state.apply(table(4, epoch: 3), own: 7, requested: state.generation, at: .now)
        state.didFollow(again, trust: 1)
        #expect(!state.isFollowed(again, trust: 1))
    }

    /// A connection was lost, or a save has an unknown outcome.
    @Test func savesReadUnderAnotherTrustAreReadAgain() throws {
        var state = LeaseState()
        state.apply(table(1, epoch: 1), own: 7, requested: state.generation, at: .now)
        let one = state.use([0])
        let use = try #require(one)
        state.didFollow(use, trust: 1)
        #expect(state.isFollowed([0], trust: 1) && !state.isFollowed([0, 1], trust: 1))
        #expect(!state.isFollowed(use, trust: 2) && !state.isFollowed([0], trust: 2))
        state.didFollow(use, trust: 2)
        #expect(state.isFollowed(use, trust: 2))
        state.acceptAnyVersion()
        #expect(!state.isFollowed(use, trust: 2))
    }

    /// An older answer that comes late does not hide that there is a newer table.
    @Test func aNewerTableIsAskedForUntilItIsThere() {
        var state = LeaseState()
        state.apply(table(5, epoch: 1), own: 7, requested: state.generation, at: .now)
        state.record(7, at: .now)
        state.apply(table(6, epoch: 1), own: 7, requested: state.generation, at: .now)
        #expect(state.isBehind)
        state.apply(table(7, epoch: 1), own: 7, requested: state.generation, at: .now)
        #expect(!state.isBehind)
        state.acceptAnyVersion()
        #expect(state.isBehind)
        state.apply(table(2, epoch: 1), own: 7, requested: state.generation, at: .now)
        #expect(!state.isBehind)
    }

    /// A member that hears nothing of the leases for a while may have lost them.
    @Test func theTableIsConfirmedByAnswersWithItsVersion() {
        var state = LeaseState()
        let start = ContinuousClock.now
        #expect(!state.isConfirmed(since: start - .seconds(9)))
        state.apply(table(5, epoch: 1), own: 7, requested: state.generation, at: start)
        #expect(state.isConfirmed(since: start - .seconds(1)) && !state.isConfirmed(since: start))
        state.record(6, at: start + .seconds(3))
        state.record(4, at: start + .seconds(3))
        #expect(!state.isConfirmed(since: start + .seconds(1)))
        state.record(5, at: start + .seconds(3))
        // Answers may come in another order than questions.
        state.record(5, at: start + .seconds(1))
        #expect(state.isConfirmed(since: start + .seconds(2)))
        state.acceptAnyVersion()
        #expect(!state.isConfirmed(since: start))
    }

    private func askedTable() -> LeaseTable {
        let other = StoreMember(number: 8, processID: 2, name: "other")
        let ticket = LeaseTable.Ticket(number: 1, member: other, entities: [0], source: "Source", isAnswered: false)
        return LeaseTable(version: 2, leases: table(1, epoch: 1).leases, tickets: [ticket])
    }

    /// Two containers that save by turns would hand the lease over for each save.
    @Test func aHolderKeepsItsLeaseUntilItsTurnEnds() throws {
        var state = LeaseState()
        state.apply(askedTable(), own: 7, requested: state.generation, at: .now)
        var times = LeaseTimes()
        times.turn = .seconds(3600)
        let first = state.use([0], times)
        let isRequested = state.endUse(try #require(first))
        times.turn = .zero
        let second = state.use([0], times)
        #expect(isRequested && second == nil)
    }

    @Test func aLeaseIsHandedOverOnceItsHolderPauses() {
        var state = LeaseState()
        state.apply(askedTable(), own: 7, requested: state.generation, at: .now)
        var times = LeaseTimes()
        (times.turn, times.pause) = (.seconds(3600), .seconds(600))
        // A save that waits for the store is no pause.
        var step = state.nextStep(at: .now + .seconds(700), times, pending: [0])
        #expect(step.leaving == [] && step.delay == times.pause)
        step = state.nextStep(at: .now + .seconds(1400), times, pending: [])
        #expect(step.leaving == [0])
        state = LeaseState()
        state.apply(askedTable(), own: 7, requested: state.generation, at: .now)
        times.turn = .zero
        step = state.nextStep(at: .now, times, pending: [0])
        #expect(step.leaving == [0])
    }
}
