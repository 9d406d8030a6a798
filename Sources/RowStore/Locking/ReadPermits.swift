internal import Dispatch
internal import Synchronization

/// Permits to read a store: a limited number at a time, and a separate permit for main, so that main never waits for other
/// readers.
package final class ReadPermits: Sendable {
    package enum Use: Sendable {
        case main
        /// A read by main during another read by main. It needs no second permit, because it ends before the outer read.
        case nested
        case other
    }

    private let limit: Int
    private let others: DispatchSemaphore
    private let main = DispatchSemaphore(value: 1)
    /// One pause at a time: two threads that wait for all permits could each keep some of them forever.
    private let exclusive = DispatchSemaphore(value: 1)
    /// Only main sets the flag, so on main the flag is true only while main reads the store.
    private let isMainReading = Atomic(false)

    /// - Parameter limit: The largest number of reads at a time, not counting main's read. Further reads wait.
    package init(limit: Int) {
        self.limit = limit
        others = DispatchSemaphore(value: limit)
    }

    /// The kind of permit that the caller needs.
    package var use: Use {
        guard MainQueue.isCurrent else { return .other }
        return isMainReading.load(ordering: .relaxed) ? .nested : .main
    }

    /// Waits until the caller may read.
    ///
    /// - Returns: Whether the caller may read. False only on main, if the limit of ``MainWait`` has passed.
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

    /// Waits until no read runs, and keeps new reads waiting while the body runs.
    ///
    /// Main can still read while the call waits for other readers, however long.
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

    /// If no read runs now, runs the body and keeps new reads waiting.
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
