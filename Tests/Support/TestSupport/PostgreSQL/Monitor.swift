import Foundation
import Synchronization

/// A state that threads change and wait for.
final class Monitor<State: Sendable>: Sendable {
    private let condition = NSCondition()
    private let state: Mutex<State>

    init(_ state: State) { self.state = Mutex(state) }

    var value: State { state.withLock { $0 } }

    /// Changes the state, and wakes all threads that wait for a change.
    func change<R: Sendable>(_ body: (inout sending State) -> sending R) -> R {
        condition.lock()
        defer {
            condition.broadcast()
            condition.unlock()
        }
        return state.withLock(body)
    }

    /// Waits until the closure returns true for the state.
    func wait(until isFulfilled: (State) -> Bool) {
        condition.lock()
        defer { condition.unlock() }
        while !state.withLock({ isFulfilled($0) }) { condition.wait() }
    }
}
