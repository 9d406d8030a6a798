internal import RowStore

/// The batches of a container that run now, and the entities that their delete rules can reach.
///
/// A batch holds the queues of the data sources that its delete rules reach. It cannot hold the queue of a data source that is made
/// during the batch. So the first batch of the new data source waits until these earlier batches have ended. Otherwise, it could
/// link to an object that an earlier batch deletes, after the delete rules have been applied.
final class RunningBatches: Sendable {
    private struct Running {
        let reaches: [Set<Int>]
        var waiting: [any WorkSignal] = []
    }

    private struct State {
        var next = 0
        var running: [Int: Running] = [:]
    }

    private let state = Guarded(State())

    /// Records a batch, before it finds out who owns the entities that it reaches.
    ///
    /// - Parameter reaches: The entities that the delete rules of each participant reach.
    /// - Returns: The number of the batch, for ``end(_:)``.
    func begin(_ reaches: [Set<Int>]) -> Int {
        state.withLock { state in
            state.next += 1
            state.running[state.next] = Running(reaches: reaches)
            return state.next
        }
    }

    func end(_ number: Int) {
        let ended = state.withLock { $0.running.removeValue(forKey: number) }
        for signal in ended?.waiting ?? [] { signal.signal() }
    }

    /// Returns a signal for each running batch whose delete rules reach any of the entities. The signal is sent when the batch
    /// ends.
    func ends(reaching entities: Set<Int>, _ makeSignal: () -> any WorkSignal) -> [any WorkSignal] {
        state.withLock { state in
            var signals: [any WorkSignal] = []
            for (number, batch) in state.running where batch.reaches.contains(where: { !$0.isDisjoint(with: entities) })
            {
                let signal = makeSignal()
                state.running[number]?.waiting.append(signal)
                signals.append(signal)
            }
            return signals
        }
    }
}
