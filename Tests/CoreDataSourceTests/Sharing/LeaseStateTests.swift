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

    @Test func whatTheStoreSaysIsTaken() {
        var state = LeaseState()
        state.take(table(3, epoch: 5), own: 7, asked: state.generation)
        #expect(state.use([0]) == [LeaseEpoch(entity: 0, epoch: 5)])
        state.take(table(2, epoch: 4), own: 7, asked: state.generation)
        #expect(state.use([0]) == [LeaseEpoch(entity: 0, epoch: 5)])
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
        #expect(state.use([0]) == [LeaseEpoch(entity: 0, epoch: 1)])
    }
}
