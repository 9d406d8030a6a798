internal import Dispatch
internal import Synchronization

/// Permits to read a store. The number of concurrent reads is limited. The main actor has its own permit, so it never
/// waits for other readers.
package final class ReadPermits: Sendable {
    package enum Kind: Sendable {
        case main
        /// A read on the main actor inside another read on the main actor. It needs no second permit, because it ends
        /// before the outer read.
        case nested
        case other
    }

    private let limit: Int
    private let others: DispatchSemaphore
    private let main = DispatchSemaphore(value: 1)
    /// Allows only one pause at a time: two pausing threads could each take some of the permits, and wait forever for the rest.
    private let exclusive = DispatchSemaphore(value: 1)
    /// Whether the main actor is reading. Only the main actor sets this flag, so the main actor can rely on it.
    private let isMainReading = Atomic(false)

    /// - Parameter limit: The maximum number of concurrent reads, not counting the read on the main actor. Further reads
    ///   wait.
    package init(limit: Int) {
        self.limit = limit
        others = DispatchSemaphore(value: limit)
    }

    /// The kind of permit that the caller needs.
    package var permitKind: Kind {
        guard MainQueue.isCurrent else { return .other }
        return isMainReading.load(ordering: .relaxed) ? .nested : .main
    }

    /// Waits until the caller may read.
    ///
    /// - Returns: Whether the caller may read. False only on the main actor, if the limit of ``MainWait`` has passed.
    @discardableResult
    package func wait(_ permitKind: Kind) -> Bool {
        if permitKind == .main, let end = MainWait.end {
            let rest = max(.zero, end - .now) / .milliseconds(1)
            guard main.wait(timeout: .now() + .milliseconds(Int(rest))) == .success else { return false }
        } else {
            semaphore(permitKind)?.wait()
        }
        if permitKind == .main { isMainReading.store(true, ordering: .relaxed) }
        return true
    }

    package func signal(_ permitKind: Kind) {
        if permitKind == .main { isMainReading.store(false, ordering: .relaxed) }
        semaphore(permitKind)?.signal()
    }

    private func semaphore(_ permitKind: Kind) -> DispatchSemaphore? {
        switch permitKind {
        case .main: main
        case .nested: nil
        case .other: others
        }
    }

    /// Waits until no read is running. While the body runs, new reads wait.
    ///
    /// While the call waits for other readers, the main actor can still read.
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

    /// If no read is running, runs the body. While the body runs, new reads wait.
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
