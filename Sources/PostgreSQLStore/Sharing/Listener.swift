#if PostgreSQL
internal import Dispatch
internal import Foundation
internal import RowStore
internal import Synchronization

/// Listens for the saves of others, and reports regularly that this member lives: a thread with a connection of its own.
///
/// A notification only says that there may be news. Without any, the store is checked after each beat, so that a server which
/// does not pass notifications on works as well, only slower. A server that refuses to send them is checked more often.
///
/// It also sends the notifications of this member, after the transaction that made the news. A commit with a notification holds a lock
/// of the whole server until it is on the disk, so that the commits of all stores on it would come one after the other.
final class Listener: Sendable {
    private struct State {
        var handler: (@Sendable () -> Void)?
        var report: (@Sendable (DataSourceError) -> Void)?
        var isAway = false
    }

    private let options: PostgreSQLOptions
    private let schema: PostgreSQLSchema
    /// Nil for one that may only read: nobody waits for its reports.
    private let membership: Membership?
    private let trust: TrustKeeper
    private let state = Guarded(State())
    private let isEnding = Atomic(false)
    /// Whether others have to be notified.
    private let hasNewsForOthers = Atomic(false)
    private let ended = DispatchSemaphore(value: 0)
    private let queue = DispatchQueue(label: "CoreDataSource.listener")
    /// Whether a call waits on the queue.
    private let isCalling = Atomic(false)
    /// Written to end the thread's wait. Nobody waits to write or to read.
    private let wakeUp: (read: Int32, write: Int32)

    init(_ options: PostgreSQLOptions, _ schema: PostgreSQLSchema, membership: Membership?, trust: TrustKeeper) {
        self.options = options
        self.trust = trust
        self.schema = schema
        self.membership = membership
        var ends: [Int32] = [-1, -1]
        pipe(&ends)
        // Child processes of this process do not need them.
        for end in ends {
            _ = fcntl(end, F_SETFD, FD_CLOEXEC)
            _ = fcntl(end, F_SETFL, O_NONBLOCK)
        }
        wakeUp = (ends[0], ends[1])
        let thread = Thread { [self] in
            run()
            ended.signal()
        }
        thread.name = "CoreDataSource.listener"
        thread.start()
    }

    deinit {
        close(wakeUp.read)
        close(wakeUp.write)
    }

    func listen(_ handler: @escaping @Sendable () -> Void) { state.withLock { $0.handler = handler } }

    func report(to handler: @escaping @Sendable (DataSourceError) -> Void) {
        state.withLock { $0.report = handler }
    }

    /// Notifies the other members soon, once for all that is new until then. One that is not notified looks after its next beat.
    func notifyOthers() {
        if !hasNewsForOthers.exchange(true, ordering: .sequentiallyConsistent) { wake() }
    }

    private func wake() {
        var byte: UInt8 = 1
        _ = write(wakeUp.write, &byte, 1)
    }

    /// Returns when no handler is called any more.
    func end() {
        guard !isEnding.exchange(true, ordering: .sequentiallyConsistent) else { return }
        wake()
        // A handler that the thread itself calls cannot wait for the thread.
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
                    // No matter how often it is called meanwhile.
                    if ContinuousClock.now >= nextBeat {
                        try beat(connection)
                        nextBeat = .now + .milliseconds(Members.beat)
                        if membership != nil, let old = try oldTransactions.look(connection) {
                            state.withLock { $0.report }?(old)
                        }
                    }
                } else {
                    (connection, isNotified) = try connected()
                    nextBeat = .now + .milliseconds(Members.beat)
                    pause = .milliseconds(100)
                    note(nil)
                    call()
                }
            } catch {
                connection?.close()
                connection = nil
                trust.endBeats()
                note(error)
                wait(-1, Int32(pause / .milliseconds(1)))
                pause = min(pause * 2, .seconds(5))
            }
        }
        if let connection {
            // What was just saved is the last that others hear of this member.
            do throws(DataSourceError) { try sendNotification(connection) } catch {}
            connection.close()
        }
        trust.endBeats()
    }

    /// Another program's notification may hold the lock for long. The thread must beat meanwhile, so this one is given up then: the
    /// others look after their next beat.
    private func sendNotification(_ connection: Connection) throws(DataSourceError) {
        guard hasNewsForOthers.exchange(false, ordering: .sequentiallyConsistent) else { return }
        do throws(DataSourceError) {
            try connection.run(
                "SELECT set_config('lock_timeout', '1000', true), pg_notify(\(schema.channel.quotedText), '')")
        } catch {
            if !connection.isUsable { throw error }
        }
    }

    private func connected() throws(DataSourceError) -> (Connection, isNotified: Bool) {
        let connection = try Connection(options.target)
        // Others take this member for ended after that.
        (connection.patience, connection.silence) = (min(options.patience, .milliseconds(Members.silence)), nil)
        // Neither a beat nor a notification has to survive a crash, and neither may wait for a disk or a standby.
        try connection.run("SET synchronous_commit = off")
        // A standby sends none.
        let isStandby = try connection.rows("SELECT pg_is_in_recovery()").isTrue(0, 0)
        var isNotified = options.isNotified && !isStandby
        if isNotified {
            do throws(DataSourceError) { try connection.run("LISTEN \(schema.channel.quoted)") } catch {
                if !connection.isUsable { throw error }
                isNotified = false
            }
        }
        try beat(connection)
        return (connection, isNotified)
    }

    private func beat(_ connection: Connection) throws(DataSourceError) {
        let sent = ContinuousClock.now
        try connection.ofGeneration(schema, options.name) { () throws(DataSourceError) in
            if let membership { return try Members(connection, schema).beat(membership) }
            _ = try connection.rows("SELECT 1 FROM \(schema.term(PostgreSQLSchema.feed))")
        }
        trust.didBeat(at: sent)
    }

    /// Waits for a notification, but at most until the next beat, after which the store is checked, too; without notifications,
    /// only a moment.
    private func listen(
        on connection: Connection, until nextBeat: ContinuousClock.Instant, _ isNotified: Bool
    ) throws(DataSourceError) {
        let remaining = Int32((max(.zero, nextBeat - .now) / .milliseconds(1)).rounded(.up))
        wait(connection.socket, isNotified ? remaining : min(remaining, Members.look))
        if isEnding.load(ordering: .sequentiallyConsistent) { return }
        try sendNotification(connection)
        let isCalled = try connection.takeNotifications()
        if isCalled || !isNotified || ContinuousClock.now >= nextBeat { call() }
    }

    /// Waits until there is something to read, or the end.
    private func wait(_ socket: Int32, _ milliseconds: Int32) {
        var polled = [
            pollfd(fd: wakeUp.read, events: Int16(POLLIN), revents: 0),
            pollfd(fd: socket, events: Int16(POLLIN), revents: 0),
        ]
        _ = poll(&polled, 2, milliseconds)
        guard polled[0].revents != 0 else { return }
        var bytes: (UInt64, UInt64) = (0, 0)
        _ = read(wakeUp.read, &bytes, 16)
    }

    /// Calls the handlers on a queue of its own, because the thread must beat however long they take.
    private func call() {
        guard let handler = state.withLock({ $0.handler }), !isCalling.exchange(true, ordering: .acquiringAndReleasing)
        else { return }
        queue.async { [self] in
            isCalling.store(false, ordering: .releasing)
            if !isEnding.load(ordering: .sequentiallyConsistent) { handler() }
        }
    }

    /// Reports the loss of the server once.
    private func note(_ error: DataSourceError?) {
        let report = state.withLock { state -> (@Sendable (DataSourceError) -> Void)? in
            defer { state.isAway = error != nil }
            return state.isAway ? nil : state.report
        }
        if let error { report?(error) }
    }
}
#endif
