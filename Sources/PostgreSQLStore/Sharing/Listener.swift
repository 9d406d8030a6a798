#if PostgreSQL
internal import Dispatch
internal import Foundation
internal import RowStore
internal import Synchronization

/// A thread with its own connection. It listens for notifications about saves of other members, and regularly reports that this
/// member lives.
///
/// A notification only says that there might be new saves. The store is also checked after each heartbeat. So on a server
/// that does not pass on notifications, saves are found later, but none is missed. If a server refuses to send notifications,
/// the store is checked more often.
///
/// The listener also sends the notifications of this member, after the transaction of the save. A commit with a notification
/// holds a lock of the whole server until the commit is on the disk. If the saves themselves sent notifications, the saves of
/// all stores on the server would wait for each other.
final class Listener: Sendable {
    private struct State {
        var handler: (@Sendable () -> Void)?
        var report: (@Sendable (DataSourceError) -> Void)?
        var isDisconnected = false
    }

    private let options: PostgreSQLOptions
    private let schema: PostgreSQLSchema
    /// Nil for a read-only store, which reports nothing.
    private let membership: Membership?
    private let trust: TrustKeeper
    private let state = Guarded(State())
    private let isEnding = Atomic(false)
    /// Whether other members must be notified.
    private let hasEventsForOthers = Atomic(false)
    private let ended = DispatchSemaphore(value: 0)
    private let queue = DispatchQueue(label: "CoreDataSource.listener")
    /// Whether a call of the handler waits on the queue.
    private let isCalling = Atomic(false)
    /// A pipe that ends the thread's wait. Neither end ever blocks.
    private let wakePipe: (read: Int32, write: Int32)

    init(_ options: PostgreSQLOptions, _ schema: PostgreSQLSchema, membership: Membership?, trust: TrustKeeper) {
        self.options = options
        self.trust = trust
        self.schema = schema
        self.membership = membership
        var ends: [Int32] = [-1, -1]
        pipe(&ends)
        // Child processes do not inherit the pipe.
        for end in ends {
            _ = fcntl(end, F_SETFD, FD_CLOEXEC)
            _ = fcntl(end, F_SETFL, O_NONBLOCK)
        }
        wakePipe = (ends[0], ends[1])
        let thread = Thread { [self] in
            run()
            ended.signal()
        }
        thread.name = "CoreDataSource.listener"
        thread.start()
    }

    deinit {
        close(wakePipe.read)
        close(wakePipe.write)
    }

    func listen(_ handler: @escaping @Sendable () -> Void) { state.withLock { $0.handler = handler } }

    func report(to handler: @escaping @Sendable (DataSourceError) -> Void) {
        state.withLock { $0.report = handler }
    }

    /// Notifies the other members soon. One notification covers all saves until then. A member that misses the notification
    /// checks the store after its next heartbeat.
    func notifyOthers() {
        if !hasEventsForOthers.exchange(true, ordering: .sequentiallyConsistent) { interruptWait() }
    }

    private func interruptWait() {
        var byte: UInt8 = 1
        _ = write(wakePipe.write, &byte, 1)
    }

    /// Ends the thread. No handler is called after this call has returned.
    func end() {
        guard !isEnding.exchange(true, ordering: .sequentiallyConsistent) else { return }
        interruptWait()
        // A handler on this thread must not wait for the thread.
        if Thread.current.name != "CoreDataSource.listener" {
            if MainQueue.isCurrent { _ = ended.wait(timeout: .now() + .seconds(10)) } else { ended.wait() }
        }
        state.withLock { $0 = State() }
    }

    private func run() {
        var connection: Connection?
        var isNotified = false
        var nextBeat = ContinuousClock.now
        var oldTransactions = OldTransactions(age: options.oldTransactionAge)
        var pause = Duration.milliseconds(100)
        while !isEnding.load(ordering: .sequentiallyConsistent) {
            do throws(DataSourceError) {
                if let connection {
                    try listen(on: connection, until: nextBeat, isNotified)
                    // Send a due heartbeat, regardless of the number of notifications.
                    if ContinuousClock.now >= nextBeat {
                        try sendHeartbeat(connection)
                        nextBeat = .now + .milliseconds(Members.heartbeatInterval)
                        if membership != nil, let old = try oldTransactions.findOldTransaction(connection) {
                            state.withLock { $0.report }?(old)
                        }
                    }
                } else {
                    (connection, isNotified) = try connected()
                    nextBeat = .now + .milliseconds(Members.heartbeatInterval)
                    pause = .milliseconds(100)
                    record(nil)
                    call()
                }
            } catch {
                connection?.close()
                connection = nil
                trust.endUntilNextHeartbeat()
                record(error)
                wait(-1, Int32(pause / .milliseconds(1)))
                pause = min(pause * 2, .seconds(5))
            }
        }
        if let connection {
            // Send the last notification, for the newest saves.
            do throws(DataSourceError) { try sendNotification(connection) } catch {}
            connection.close()
        }
        trust.endUntilNextHeartbeat()
    }

    /// Sends the notification of this member. Another program's transaction can hold the server's lock for notifications for a
    /// long time, but this thread must continue to send heartbeats. So an attempt ends after a second. If the attempt fails,
    /// the other members check the store after their next heartbeats.
    private func sendNotification(_ connection: Connection) throws(DataSourceError) {
        guard hasEventsForOthers.exchange(false, ordering: .sequentiallyConsistent) else { return }
        do throws(DataSourceError) {
            try connection.run(
                "SELECT set_config('lock_timeout', '1000', true), pg_notify(\(schema.channel.quotedText), '')")
        } catch {
            if !connection.isUsable { throw error }
        }
    }

    private func connected() throws(DataSourceError) -> (Connection, isNotified: Bool) {
        let connection = try Connection(options.target)
        // Do not wait for a response longer than `Members.silence`: after that time without a heartbeat, other members treat
        // this member as ended.
        (connection.responseTimeout, connection.silence) = (
            min(options.responseTimeout, .milliseconds(Members.silence)), nil
        )
        // Heartbeats and notifications need not survive a crash, and must not wait for a disk or a standby.
        try connection.run("SET synchronous_commit = off")
        // A standby sends no notifications.
        let isStandby = try connection.rows("SELECT pg_is_in_recovery()").isTrue(0, 0)
        var isNotified = options.isNotified && !isStandby
        if isNotified {
            do throws(DataSourceError) { try connection.run("LISTEN \(schema.channel.quoted)") } catch {
                if !connection.isUsable { throw error }
                isNotified = false
            }
        }
        if let membership { try Members(connection, schema).mark(membership) }
        try sendHeartbeat(connection)
        return (connection, isNotified)
    }

    private func sendHeartbeat(_ connection: Connection) throws(DataSourceError) {
        let sent = ContinuousClock.now
        try connection.checkingGeneration(schema, options.name) { () throws(DataSourceError) in
            if let membership { return try Members(connection, schema).sendHeartbeat(membership) }
            _ = try connection.rows("SELECT 1 FROM \(schema.qualified(PostgreSQLSchema.feed))")
        }
        trust.didBeat(at: sent)
    }

    /// Waits for a notification, at most until the next heartbeat. At the time of the heartbeat, the store is checked even
    /// without a notification. On a server without notifications, the wait is short.
    private func listen(
        on connection: Connection, until nextBeat: ContinuousClock.Instant, _ isNotified: Bool
    ) throws(DataSourceError) {
        let remaining = Int32((max(.zero, nextBeat - .now) / .milliseconds(1)).rounded(.up))
        wait(connection.socket, isNotified ? remaining : min(remaining, Members.pollInterval))
        if isEnding.load(ordering: .sequentiallyConsistent) { return }
        try sendNotification(connection)
        let isCalled = try connection.takeNotifications()
        if isCalled || !isNotified || ContinuousClock.now >= nextBeat { call() }
    }

    /// Waits until the socket or the pipe can be read, or the time is over.
    private func wait(_ socket: Int32, _ milliseconds: Int32) {
        var polled = [
            pollfd(fd: wakePipe.read, events: Int16(POLLIN), revents: 0),
            pollfd(fd: socket, events: Int16(POLLIN), revents: 0),
        ]
        _ = poll(&polled, 2, milliseconds)
        guard polled[0].revents != 0 else { return }
        var bytes: (UInt64, UInt64) = (0, 0)
        _ = read(wakePipe.read, &bytes, 16)
    }

    /// Calls the handler on a separate queue, because the thread must send heartbeats even if the handler takes a long
    /// time.
    private func call() {
        guard let handler = state.withLock({ $0.handler }), !isCalling.exchange(true, ordering: .acquiringAndReleasing)
        else { return }
        queue.async { [self] in
            isCalling.store(false, ordering: .releasing)
            if !isEnding.load(ordering: .sequentiallyConsistent) { handler() }
        }
    }

    /// Reports the loss of the connection only once.
    private func record(_ error: DataSourceError?) {
        let report = state.withLock { state -> (@Sendable (DataSourceError) -> Void)? in
            defer { state.isDisconnected = error != nil }
            return state.isDisconnected ? nil : state.report
        }
        if let error { report?(error) }
    }
}
#endif
