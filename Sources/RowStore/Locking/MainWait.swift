internal import Dispatch
internal import Foundation

/// The limit for how long the main actor waits for a server that does not answer.
///
/// In one call, the main actor can wait for a connection, for an answer, and for locks of other threads that wait for
/// the server. All these waits end when the limit has passed since the server's last answer.
package enum MainWait {
    private struct State {
        var limit = Duration.zero
        /// The time at which the waits end; nil while the main actor is not in a limited call.
        var end: ContinuousClock.Instant?
    }

    private static let state = Guarded(State())

    /// The time until which the caller may wait. Nil if the caller is not on the main actor, or not in a limited call.
    package static var end: ContinuousClock.Instant? { MainQueue.isCurrent ? state.withLock { $0.end } : nil }

    /// Runs a call that may wait for a server. On the main actor, the waits end at the limit. Nested calls use the
    /// limit of the outer call.
    package static func limited<R>(
        to limit: Duration, _ body: () throws(DataSourceError) -> R
    ) throws(DataSourceError) -> R {
        guard MainQueue.isCurrent, state.withLock({ $0.end == nil }) else { return try body() }
        state.withLock { $0 = State(limit: limit, end: .now + limit) }
        defer { state.withLock { $0.end = nil } }
        return try body()
    }

    /// Restarts the time limit, because the server has answered.
    package static func restart() {
        guard MainQueue.isCurrent else { return }
        state.withLock { if $0.end != nil { $0.end = .now + $0.limit } }
    }

    /// The error of a call that has reached its limit.
    package static var limitError: DataSourceError {
        DataSourceError(
            .storeUnavailable,
            "The server has not answered for \(state.withLock { $0.limit }), and the main actor waits no longer. The call "
                + "saved nothing: call again once the server answers.")
    }
}

extension Guarded {
    /// Works like ``withLock(_:)``. In a limited call, the main actor waits for the lock only until the limit.
    ///
    /// - Throws: `storeUnavailable` if another thread still has the lock at the limit.
    package func withLockBeforeLimit<R>(
        _ body: (inout sending Value) throws(DataSourceError) -> sending R
    ) throws(DataSourceError) -> sending R {
        guard let end = MainWait.end else { return try withLock(body) }
        while true {
            if let result = try withLockIfAvailable(body) { return result }
            if .now >= end { throw MainWait.limitError }
            _ = DispatchSemaphore(value: 0).wait(timeout: .now() + .milliseconds(1))
        }
    }
}

/// Determines whether code runs on the main queue or the main thread.
package enum MainQueue {
    private static let key = {
        let key = DispatchSpecificKey<Void>()
        DispatchQueue.main.setSpecific(key: key, value: ())
        return key
    }()

    /// Whether the calling code runs on the main queue or on the main thread.
    ///
    /// Both must be checked. On Linux, a program can give up its main thread with `dispatchMain()`. Any thread can then
    /// serve the main queue.
    package static var isCurrent: Bool { DispatchQueue.getSpecific(key: key) != nil || isMainThread }

    /// The key under which each thread caches whether it is the main thread: 1 if it is, 2 if it is not. The cache is needed
    /// because on Linux, `Thread.isMainThread` costs two system calls.
    private static let isMainThreadKey = {
        var key = pthread_key_t()
        pthread_key_create(&key, nil)
        return key
    }()

    private static var isMainThread: Bool {
        let known = UInt(bitPattern: pthread_getspecific(isMainThreadKey))
        if known != 0 { return known == 1 }
        let isMain = Thread.isMainThread
        pthread_setspecific(isMainThreadKey, UnsafeRawPointer(bitPattern: isMain ? 1 : 2))
        return isMain
    }
}
