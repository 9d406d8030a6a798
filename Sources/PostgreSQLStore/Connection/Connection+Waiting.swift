#if PostgreSQL
internal import CPostgreSQL
internal import Dispatch
internal import Foundation
internal import RowStore
internal import Synchronization

/// Waits for the server. The server can be halted, and the network can fail without an error.
extension Connection {
    /// How long a new connection waits for the answers to its first statements.
    static let setupTimeout = Duration.seconds(10)
    /// How long to wait for a connecting thread if libpq exceeds its own limit.
    private static let connectTimeout = Duration.seconds(30)
    /// How long a second connection waits to learn whether the server works on the statement.
    private static let livenessCheckTimeout = Duration.seconds(5)

    // MARK: Connecting

    /// The result of a connecting thread. If the caller no longer waits, the thread closes the connection.
    private struct Attempt: @unchecked Sendable {
        var made: OpaquePointer?
        var isGivenUp = false
    }

    /// Connects on another thread, because the look-up of a host's address, and libpq itself, can take too long.
    ///
    /// - Throws: `storeUnavailable` if connecting takes too long.
    static func attempt(_ settings: [(String, String)]) throws(DataSourceError) -> OpaquePointer? {
        let attempt = Guarded(Attempt())
        let done = DispatchSemaphore(value: 0)
        Thread.detachNewThread {
            let made = withPointers(settings) { PQconnectdbParams($0, $1, 1) }
            let box = Attempt(made: made)
            let isGivenUp = attempt.withLock { attempt in
                if !attempt.isGivenUp { attempt.made = box.made }
                return attempt.isGivenUp
            }
            if isGivenUp { PQfinish(made) }
            done.signal()
        }
        let limit = min(connectTimeout, MainWait.end.map { $0 - .now } ?? connectTimeout)
        if done.wait(timeout: .now() + .milliseconds(max(0, Int(limit / .milliseconds(1))))) != .success {
            let made = attempt.withLock { attempt in
                attempt.isGivenUp = true
                return Attempt(made: attempt.made)
            }
            // The thread might have connected at the last moment.
            PQfinish(made.made)
            if MainWait.end != nil { throw MainWait.limitError }
            throw DataSourceError(connectionFailure: "The server has not answered for \(limit).", state: nil)
        }
        return attempt.withLock { Attempt(made: $0.made) }.made
    }

    // MARK: Answers

    /// Waits until everything is sent and the connection is no longer busy.
    ///
    /// Sent or received bytes are progress. Without progress, a second connection checks whether the server works on the
    /// statement, because even a halted server accepts bytes. The wait ends after a check without an answer, or after two
    /// checks in a row that find an idle server. One such check is not enough, because the server can answer the statement
    /// during the check.
    ///
    /// - Throws: `storeUnavailable` if the wait takes too long.
    func wait(_ handle: OpaquePointer, while isBusy: () -> Bool) throws(DataSourceError) {
        var progress = ContinuousClock.now
        var nextCheck = silence.map { progress + $0 }
        // Whether the server was idle at the last check.
        var wasIdle = false
        while true {
            let isFlushed = PQflush(handle)
            guard isFlushed >= 0 else { throw connectionLost() }
            if isFlushed == 0, !isBusy() { return MainWait.restart() }
            let now = ContinuousClock.now
            let (end, mainEnd) = (responseTimeout.map { progress + $0 }, MainWait.end)
            if let mainEnd, now >= mainEnd {
                cancelAndClose(handle)
                throw MainWait.limitError
            }
            if let end, now >= end { throw failWithoutAnswer(handle, since: progress) }
            if let silence, let due = nextCheck, now >= due {
                let isWorking = isServerWorking()
                guard isWorking == true || (isWorking == false && !wasIdle) else {
                    throw failWithoutAnswer(handle, since: progress)
                }
                wasIdle = isWorking == false
                nextCheck = .now + silence
            }
            let next = [end, nextCheck, mainEnd, now + .seconds(1)].compactMap(\.self).min() ?? now
            let events = Int16(isFlushed == 1 ? POLLIN | POLLOUT : POLLIN)
            var polled = pollfd(fd: PQsocket(handle), events: events, revents: 0)
            let ready = poll(&polled, 1, Int32((max(.zero, next - now) / .milliseconds(1)).rounded(.up)))
            if ready < 0, errno != EINTR { throw connectionLost() }
            guard ready > 0 else { continue }
            if PQconsumeInput(handle) == 0 { throw connectionLost() }
            progress = .now
            nextCheck = silence.map { progress + $0 }
            wasIdle = false
        }
    }

    private func failWithoutAnswer(_ handle: OpaquePointer, since start: ContinuousClock.Instant) -> DataSourceError {
        let taken = Duration.seconds(Int64((.now - start) / .seconds(1)))
        cancel(handle)
        return connectionLost("The server has not answered for \(taken).")
    }

    private func cancelAndClose(_ handle: OpaquePointer) {
        cancel(handle)
        _ = connectionLost()
    }

    /// Uses another connection to check whether the server works on the current statement, or waits for a lock for this
    /// statement. Returns false if the server waits for the client, because the statement or the answer was lost.
    /// Returns nil without an answer.
    private func isServerWorking() -> Bool? {
        // Check repeatedly, because a busy server is slow to accept a connection.
        let end = ContinuousClock.now + target.silence * 3
        while true {
            if let isWorking = isServerWorkingNow() { return isWorking }
            if .now >= min(end, MainWait.end ?? end) { return nil }
            // Pause, because a server that refuses connections refuses them at once.
            Thread.sleep(forTimeInterval: 0.5)
        }
    }

    /// Checks once. Returns nil without an answer.
    private func isServerWorkingNow() -> Bool? {
        do throws(DataSourceError) {
            let other = try Connection(target)
            defer { other.close() }
            (other.responseTimeout, other.silence) = (Connection.livenessCheckTimeout, nil)
            // Return to the role that has logged in, because a group role cannot see the activity of that role.
            try other.run("SET ROLE NONE")
            let found = try other.rows(
                """
                SELECT (state = 'active' AND wait_event_type IS DISTINCT FROM 'Client')::integer FROM pg_stat_activity \
                WHERE pid = $1::bigint::integer AND backend_start::text = $2
                """, [WireValue(Int64(serverProcess)), WireValue(serverProcessStart)])
            return found.rowCount == 1 && found.isTrue(0, 0)
        } catch {
            // A server without a free connection is busy, so it counts as working.
            return error.isConnectionLimitReached ? true : nil
        }
    }

    // MARK: Canceling

    /// The largest number of threads that cancel statements. A halted server answers none of them.
    private static let cancelLimit = 4
    private static let cancels = Atomic(0)

    private struct Cancel: @unchecked Sendable {
        let handle: OpaquePointer
    }

    /// Asks the server to cancel the current statement, because no call waits for the result any more. Uses another
    /// thread, because libpq waits for the answer without a limit.
    private func cancel(_ handle: OpaquePointer) {
        let (_, count) = Connection.cancels.wrappingAdd(1, ordering: .relaxed)
        guard count <= Connection.cancelLimit, let cancel = PQgetCancel(handle).map(Cancel.init) else {
            Connection.cancels.wrappingSubtract(1, ordering: .relaxed)
            return
        }
        Thread.detachNewThread {
            withUnsafeTemporaryAllocation(of: CChar.self, capacity: 256) { message in
                _ = PQcancel(cancel.handle, message.baseAddress, 256)
            }
            PQfreeCancel(cancel.handle)
            Connection.cancels.wrappingSubtract(1, ordering: .relaxed)
        }
    }
}
#endif
