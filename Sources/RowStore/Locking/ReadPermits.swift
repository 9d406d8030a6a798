internal import Dispatch
internal import Synchronization

/// Who may read a store at this moment: so many at once, and main apart from them, so that it never waits for the others.
package final class ReadPermits: Sendable {
    package enum Use: Sendable {
        case main
        /// A read that main makes during another one. It needs no permit of its own: it ends before the one around it.
        case nested
        case other
    }

    private let limit: Int
    private let others: DispatchSemaphore
    private let main = DispatchSemaphore(value: 1)
    /// Two that waited for all permits could each hold some of them for ever.
    private let exclusive = DispatchSemaphore(value: 1)
    /// Only main sets it, so main finds it set only if it reads during a read.
    private let isMainReading = Atomic(false)

    /// - Parameter limit: The most reads at once, apart from main's. More than that wait for each other.
    package init(limit: Int) {
        self.limit = limit
        others = DispatchSemaphore(value: limit)
    }

    /// The use that the calling thread would make of a permit.
    package var use: Use {
        guard MainQueue.isCurrent else { return .other }
        return isMainReading.load(ordering: .relaxed) ? .nested : .main
    }

    /// Waits until the caller may read.
    package func wait(_ use: Use) {
        semaphore(use)?.wait()
        if use == .main { isMainReading.store(true, ordering: .relaxed) }
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

    /// Waits until nobody reads, and lets nobody read while the body runs.
    ///
    /// Main reads on while others are waited for, however long they take.
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

    /// Lets nobody read while the body runs, if nobody reads now.
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
