internal import Dispatch
internal import Synchronization

/// Permits to read a store: a limited number at once, and a separate one for main, so that it never waits for the others.
package final class ReadPermits: Sendable {
    package enum Use: Sendable {
        case main
        /// A read by main during another one. It needs no permit of its own, because it ends before the outer one.
        case nested
        case other
    }

    private let limit: Int
    private let others: DispatchSemaphore
    private let main = DispatchSemaphore(value: 1)
    /// Two threads that waited for all permits could each hold some of them forever.
    private let exclusive = DispatchSemaphore(value: 1)
    /// Only main sets it, so it is set for main only if main reads during a read.
    private let isMainReading = Atomic(false)

    /// - Parameter limit: The most reads at once, apart from main's. Further reads wait.
    package init(limit: Int) {
        self.limit = limit
        others = DispatchSemaphore(value: limit)
    }

    /// The kind of permit that the calling thread needs.
    package var use: Use {
        guard MainQueue.isCurrent else { return .other }
        return isMainReading.load(ordering: .relaxed) ? .nested : .main
    }

    /// Waits until the caller may read.
    ///
    /// - Returns: Whether it may: main waits no longer than for a server.
    @discardableResult
    package func wait(_ use: Use) -> Bool {
        if use == .main, let end = MainWait.end {
            let rest = max(.zero, end - .now) / .milliseconds(1)
            guard main.wait(timeout: .now() + .milliseconds(Int(rest))) == .success else { return false }
        } else {
            semaphore(use)?.wait()
        }
        if use == .main { isMainReading.store(true, ordering: .relaxed) }
        return true
    }

    package func signal(_ use: Use) {
        if use == .main { isMainReading.store(false, ordering: .relaxed) }
        semaphore(use)?.signal()
    }

    private func semaphore(_ use: Use) -> DispatchSemaphore? {
        switch use {
        case .main: main
        case .nested: nil
        case .other: others
        }
    }

    /// Waits until there are no reads, and keeps new ones waiting while the body runs.
    ///
    /// Main can still read while this waits for others, however long that takes.
    package func pause<R>(_ body: () throws(DataSourceError) -> R) throws(DataSourceError) -> R {
        exclusive.wait()
        for _ in 0..<limit { others.wait() }
        main.wait()
        defer {
            for _ in 0..<limit { others.signal() }
            main.signal()
            exclusive.signal()
        }
        return try body()
    }

    /// If there are no reads now, runs the body and keeps new reads waiting.
    ///
    /// - Returns: Whether the body has run.
    package func pauseIfIdle(_ body: () -> Void) -> Bool {
        guard exclusive.wait(timeout: .now()) == .success else { return false }
        defer { exclusive.signal() }
        guard main.wait(timeout: .now()) == .success else { return false }
        defer { main.signal() }
        var taken = 0
        while taken < limit, others.wait(timeout: .now()) == .success { taken += 1 }
        defer { for _ in 0..<taken { others.signal() } }
        guard taken == limit else { return false }
        body()
        return true
    }
}
