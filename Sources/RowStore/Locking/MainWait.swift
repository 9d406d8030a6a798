internal import Dispatch
internal import Foundation

/// How long main waits for a server that does not answer.
///
/// Main waits in several places for one call: for a connection, for an answer, and for locks of threads that wait for the same
/// server. Together they take no longer than the call allows since the server's last answer.
package enum MainWait {
    private struct State {
        var limit = Duration.zero
        /// Nil while main is in no such call.
        var end: ContinuousClock.Instant?
    }

    private static let state = Guarded(State())

    /// Until when the calling code may wait; nil if it is not main's, or main is in no such call.
    package static var end: ContinuousClock.Instant? { MainQueue.isCurrent ? state.withLock { $0.end } : nil }

    /// Runs a call that may wait for a server, on main no longer than the limit. During such a call, the limit of the outer one
    /// counts.
    package static func limited<R>(
        to limit: Duration, _ body: () throws(DataSourceError) -> R
    ) throws(DataSourceError) -> R {
        guard MainQueue.isCurrent, state.withLock({ $0.end == nil }) else { return try body() }
        state.withLock { $0 = State(limit: limit, end: .now + limit) }
        defer { state.withLock { $0.end = nil } }
        return try body()
    }

    /// The server has answered.
    package static func restart() {
        guard MainQueue.isCurrent else { return }
        state.withLock { if $0.end != nil { $0.end = .now + $0.limit } }
    }

    /// The error of a call that would wait longer.
    package static var exceeded: DataSourceError {
        DataSourceError(
            .storeUnavailable,
            "The server has not answered for \(state.withLock { $0.limit }), and the main actor waits no longer. Nothing of this call "
                + "was saved: call again once the server answers.")
    }
}

extension Guarded {
    /// Like ``withLock(_:)``, but main waits no longer for the other thread than for a server.
    ///
    /// - Throws: `storeUnavailable` if another thread still has the value then.
    package func withLockInTime<R>(
        _ body: (inout sending Value) throws(DataSourceError) -> sending R
    ) throws(DataSourceError) -> sending R {
        guard let end = MainWait.end else { return try withLock(body) }
        while true {
            if let result = try withLockIfAvailable(body) { return result }
            if .now >= end { throw MainWait.exceeded }
            _ = DispatchSemaphore(value: 0).wait(timeout: .now() + .milliseconds(1))
        }
    }
}

/// Tells whether code runs where the main actor does.
package enum MainQueue {
    private static let key = {
        let key = DispatchSpecificKey<Void>()
        DispatchQueue.main.setSpecific(key: key, value: ())
        return key
    }()

    /// Whether the calling code runs on the main queue or on the main thread.
    ///
    /// These are two conditions: once a program on Linux has handed its main thread to the dispatcher, any thread may serve the
    /// main queue.
    package static var isCurrent: Bool { DispatchQueue.getSpecific(key: key) != nil || isMainThread }

    /// Where each thread remembers whether it is the main thread, because on Linux to ask means two system calls: 1 if it is, 2 if
    /// it is not.
    private static let answer = {
        var key = pthread_key_t()
        pthread_key_create(&key, nil)
        return key
    }()

    private static var isMainThread: Bool {
        let known = UInt(bitPattern: pthread_getspecific(answer))
        if known != 0 { return known == 1 }
        let isMain = Thread.isMainThread
        pthread_setspecific(answer, UnsafeRawPointer(bitPattern: isMain ? 1 : 2))
        return isMain
    }
}
