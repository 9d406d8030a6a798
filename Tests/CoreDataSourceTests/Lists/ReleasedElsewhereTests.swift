import CoreDataSource
import Dispatch
import RowStore
import TestSupport
import Testing

/// Large values are released neither on main nor by any other who lets go of them last.
@Suite(.serialized) struct ReleasedElsewhereTests {
    private final class Large: Sendable {}

    /// However late the one who made the box lets go of it.
    @Test func theBoxIsEmptyOnceTheQueueWasThere() {
        weak var large: Large?
        let box = {
            let new = Large()
            large = new
            return ReleasedElsewhere(new)
        }()
        box.use { #expect($0 === large) }
        #expect(large != nil)
        box.release()
        releaseQueue.sync {}
        #expect(large == nil)
        box.use { _ in Issue.record("a value that was released is used") }
    }

    @Test(arguments: [(rows: 5_000, isAtOnce: false), (rows: 100, isAtOnce: true)])
    func theRowsOfALargeListAreReleasedOnTheQueue(rows: Int, isAtOnce: Bool) throws {
        var state: ListState? = state(rows)
        weak let chunk = state?.rows.chunks.first
        #expect(chunk != nil)
        releaseQueue.suspend()
        state = nil
        let isReleased = chunk == nil
        releaseQueue.resume()
        #expect(isReleased == isAtOnce)
        releaseQueue.sync {}
        #expect(chunk == nil)
        #expect(state == nil)
    }

    /// Then nobody has to be woken for them.
    @Test func theFewRowsThatNoOtherVersionHasAreReleasedAtOnce() throws {
        let old = state(5_000)
        var newer = withoutFirst(old)
        weak let chunk = newer?.rows.chunks.first
        let isMade = chunk != nil && chunk !== old.rows.chunks.first
        releaseQueue.suspend()
        newer = nil
        let isReleased = chunk == nil
        releaseQueue.resume()
        #expect(isMade)
        #expect(isReleased)
        #expect(newer == nil)
        #expect(old.rows.count == 5_000)
    }

    private func withoutFirst(_ state: ListState) -> ListState? {
        let net = RowsByKey().advance(state, version: 0, to: [1: nil])
        guard case .state(let new, _) = state.applying(net, asOf: 2) else { return nil }
        return new
    }

    private func state(_ count: Int) -> ListState {
        let query = ListQuery(ListWorld.base, order: ListOrder(ListWorld.base, sort: []))
        let rows = (1...Int64(count)).map { key in
            let item = ListWorld.Item(entity: ListWorld.entities[0], number: key, text: nil)
            return ListedRow(entity: item.entity, key: key, row: ListWorld.row(key, item))
        }
        return ListState(query, RowStorage(rows), isComplete: true, asOf: 1)
    }
}
