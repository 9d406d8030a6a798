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
        state.take(table(3, epoch: 5), own: 7, asked: state.generation)
        #expect(state.use([0])?.epochs == [LeaseEpoch(entity: 0, epoch: 5)])
        state.take(table(2, epoch: 4), own: 7, asked: state.generation)
        #expect(state.use([0])?.epochs == [LeaseEpoch(entity: 0, epoch: 5)])
    }

    /// Batches used leases that the new store knew nothing of, and their saves were refused.
    @Test func aTableReadBeforeAResetIsNotTakenAfterIt() {
        var state = LeaseState()
        let asked = state.generation
        let old = table(3, epoch: 5)
        state.forget()
        state.take(old, own: 7, asked: asked)
        #expect(state.use([0]) == nil)
        // The new store counts from the beginning.
        state.take(table(1, epoch: 1), own: 7, asked: state.generation)
        #expect(state.use([0])?.epochs == [LeaseEpoch(entity: 0, epoch: 1)])
    }

    /// A server that has lost its newest commits counts on from a lower number.
    @Test func aStoreThatIsDoubtedIsBelieved() {
        var state = LeaseState()
        state.take(table(50, epoch: 25), own: 7, asked: state.generation)
        state.doubt()
        state.take(table(40, epoch: 20), own: 7, asked: state.generation)
        #expect(state.use([0])?.epochs == [LeaseEpoch(entity: 0, epoch: 20)])
    }

    /// A lease that seemed to be used was never handed over.
    @Test func aBatchFromBeforeAResetEndsNoUseOfAfterIt() throws {
        var state = LeaseState()
        state.take(table(1, epoch: 1), own: 7, asked: state.generation)
        let first = state.use([0])
        let before = try #require(first)
        state.forget()
        state.take(table(1, epoch: 1), own: 7, asked: state.generation)
        let second = state.use([0])
        let after = try #require(second)
        _ = state.endUse(before)
        #expect(!state.isIdle(0))
        _ = state.endUse(after)
        #expect(state.isIdle(0))
    }
}
