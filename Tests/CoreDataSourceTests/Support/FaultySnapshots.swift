import Dispatch
import RowStore

/// Faults of the snapshots of a ``FaultyStore``.
final class SnapshotFaults: Sendable {
    private struct State {
        var lostCount = 0
        var losesNextRead = false
        var losesAll = false
        var losesWhenEmptying = false
        var beforeRead: (@Sendable () -> Void)?
    }

    private let state = Guarded(State())

    /// Ends the snapshots that are open now, as if a connection were lost.
    func lose() { state.withLock { $0.lostCount += 1 } }

    /// Makes every snapshot end at its first read until that is switched off.
    func loseAll(_ isOn: Bool) { state.withLock { $0.losesAll = isOn } }

    /// Ends the open snapshots when the next read of one of them has passed its rows.
    func loseDuringNextRead() { state.withLock { $0.losesNextRead = true } }

    /// Ends the open snapshots when the log is emptied beside them next, as if their transactions could not begin again.
    func loseDuringNextEmptying() { state.withLock { $0.losesWhenEmptying = true } }

    /// Makes the next read wait until the closure that is returned is called; the stream ends when the read is there.
    func holdNextRead() -> (arrived: AsyncStream<Void>, release: @Sendable () -> Void) {
        let semaphore = DispatchSemaphore(value: 0)
        let arrived = AsyncStream<Void>.makeStream()
        state.withLock { state in
            state.beforeRead = {
                arrived.continuation.finish()
                semaphore.wait()
            }
        }
        return (arrived.stream, { semaphore.signal() })
    }

    fileprivate var lostCount: Int { state.withLock(\.lostCount) }

    fileprivate func willRead() {
        let body = state.withLock { state in
            defer { state.beforeRead = nil }
            return state.beforeRead
        }
        body?()
    }

    fileprivate func didRead() {
        state.withLock { state in
            if state.losesNextRead || state.losesAll { state.lostCount += 1 }
            state.losesNextRead = false
        }
    }

    func didEmptyLog() {
        state.withLock { state in
            if state.losesWhenEmptying { state.lostCount += 1 }
            state.losesWhenEmptying = false
        }
    }

    func wrap(_ base: any StoreSnapshot) -> any StoreSnapshot { FaultySnapshot(base, self) }
}

private final class FaultySnapshot: StoreSnapshot {
    private let base: any StoreSnapshot
    private let faults: SnapshotFaults
    private let start: Int

    init(_ base: any StoreSnapshot, _ faults: SnapshotFaults) {
        (self.base, self.faults, start) = (base, faults, faults.lostCount)
    }

    var hasEnded: Bool { base.hasEnded || faults.lostCount != start }

    func read<R>(_ body: (any StoreReader) throws(DataSourceError) -> R) throws(DataSourceError) -> R? {
        faults.willRead()
        if hasEnded { return nil }
        let result = try base.read(body)
        faults.didRead()
        return hasEnded ? nil : result
    }
}
