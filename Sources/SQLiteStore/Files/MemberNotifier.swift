internal import Foundation
internal import RowStore

/// Notifies other members that a store may have new saves, and receives their notifications. A notification is only a hint: the
/// receiver reads the store to find the saves.
///
/// A member notifies the others by writing to a file after each commit. If a process is killed between a commit and its
/// notification, the other members find the commit in their regular checks.
///
/// While a member has the store open, it keeps one byte of the file locked. The member's number determines the position of the
/// byte.
final class MemberNotifier: Sendable {
    /// The longest time between two checks, in milliseconds. A notification causes an earlier check.
    private static let interval: Int32 = 500
    /// The position of the first lockable byte. No data is ever written there.
    private static let firstMember: Int64 = 1 << 32

    private let path: String
    private let descriptor: Int32
    private let listening: Guarded<Listening>

    /// The two ends of a pipe. Closing the `ending` end stops the thread that waits at the `waiting` end.
    private struct Listening {
        /// The end of the pipe at which a thread waits. Nil after a thread has taken the descriptor, and after ``end()``.
        var waiting: Int32?
        var ending: Int32?

        mutating func end() {
            for descriptor in [waiting, ending].compactMap(\.self) { close(descriptor) }
            (waiting, ending) = (nil, nil)
        }
    }

    init(_ files: StoreFiles) throws(DataSourceError) {
        path = files.bell
        // Throw here if there is no pipe: a container without notifications would silently show old rows.
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { throw DataSourceError(systemError: errno, path: path, while: "opening") }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        let listening = Guarded(Listening(waiting: ends[0], ending: ends[1]))
        self.listening = listening
        do throws(DataSourceError) { descriptor = try files.openShared(files.bell) } catch {
            listening.withLock { $0.end() }
            throw error
        }
    }

    deinit {
        end()
        unmarkAlive()
        close(descriptor)
    }

    // MARK: Notifications

    /// Notifies the other members. Does nothing if no other container has the store open or is opening it.
    ///
    /// - Parameter number: The number to write into the file. Any number has the same effect.
    func notify(_ number: Int64) {
        guard isAnyPresent else { return }
        var number = number
        _ = pwrite(descriptor, &number, 8, 0)
    }

    /// Calls the handler on a separate thread: after each notification, and after each ``interval`` without a notification.
    /// Only the first call of this method has an effect.
    func listen(_ handler: @escaping @Sendable () -> Void) {
        let waiting = listening.withLock { listening in
            defer { listening.waiting = nil }
            return listening.waiting
        }
        guard let end = waiting else { return }
        let watch = watch()
        let thread = Thread {
            while !MemberNotifier.waitForNotification(watch, end) { handler() }
            close(end)
            if watch >= 0 { close(watch) }
        }
        thread.name = "CoreDataSource.notifier"
        thread.start()
    }

    /// Stops calling the handler. A running call of the handler may still finish.
    func end() {
        listening.withLock { $0.end() }
    }

    /// Waits for a notification, at most for the ``interval``.
    ///
    /// - Returns: Whether the thread must end.
    private static func waitForNotification(_ watch: Int32, _ end: Int32) -> Bool {
        // `poll` ignores negative descriptors. The watch is negative if it could not be made.
        var polled = [
            pollfd(fd: end, events: Int16(POLLIN), revents: 0), pollfd(fd: watch, events: Int16(POLLIN), revents: 0),
        ]
        _ = poll(&polled, 2, interval)
        if polled[0].revents != 0 { return true }
        if polled[1].revents != 0 { drain(watch) }
        return false
    }

    #if canImport(Darwin)
    /// Returns a descriptor that becomes readable when the file is written.
    private func watch() -> Int32 {
        let watch = kqueue()
        var event = kevent(
            ident: UInt(descriptor), filter: Int16(EVFILT_VNODE), flags: UInt16(EV_ADD | EV_CLEAR),
            fflags: UInt32(NOTE_WRITE | NOTE_EXTEND), data: 0, udata: nil)
        _ = kevent(watch, &event, 1, nil, 0, nil)
        return watch
    }

    private static func drain(_ watch: Int32) {
        var (event, none) = (kevent(), timespec())
        _ = kevent(watch, nil, 0, &event, 1, &none)
    }
    #else
    /// Returns a descriptor that becomes readable when the file is written.
    private func watch() -> Int32 {
        let watch = inotify_init1(Int32(IN_NONBLOCK) | Int32(IN_CLOEXEC))
        if watch >= 0 { inotify_add_watch(watch, path, UInt32(IN_MODIFY)) }
        return watch
    }

    private static func drain(_ watch: Int32) {
        withUnsafeTemporaryAllocation(byteCount: 4096, alignment: 8) { events in
            while read(watch, events.baseAddress, events.count) > 0 {}
        }
    }
    #endif

    // MARK: Members

    /// Announces that a container is about to join. Call this method before the container writes anything.
    ///
    /// - Throws: `storeInUse` if a container has the store open for reading only.
    func announceJoining() throws(DataSourceError) { try lockByte(0) }

    /// Marks the member with this number as alive, until this object is released or the process ends. Also ends the
    /// announcement of ``announceJoining()``.
    ///
    /// - Parameter number: The member's number, at least 1.
    func markAlive(as number: Int64) throws(DataSourceError) {
        try lockByte(number)
        var entry = MemberNotifier.lock(F_UNLCK, 0, 1)
        _ = fcntl(descriptor, MemberNotifier.setLock, &entry)
    }

    private func lockByte(_ number: Int64) throws(DataSourceError) {
        var lock = MemberNotifier.lock(F_WRLCK, number, 1)
        guard fcntl(descriptor, MemberNotifier.setLock, &lock) == 0 else {
            throw DataSourceError(
                .storeInUse, "A container has the store of \(path) open for reading only. Close that container first.")
        }
    }

    /// Removes the mark of the member, because the container has closed the store.
    func unmarkAlive() {
        var lock = MemberNotifier.lock(F_UNLCK, 0, 0)
        _ = fcntl(descriptor, MemberNotifier.setLock, &lock)
    }

    /// Whether another container has the store open under this number.
    func isAlive(_ number: Int64) -> Bool { isLocked(number, 1) }

    /// Whether any other container has the store open.
    var isAnyAlive: Bool { isLocked(1, 0) }

    /// Whether any other container has the store open, or is about to join.
    var isAnyPresent: Bool { isLocked(0, 0) }

    private func isLocked(_ number: Int64, _ count: Int64) -> Bool {
        MemberNotifier.isLocked(descriptor, number, count)
    }

    /// Returns whether any container shares the store now.
    ///
    /// - Parameter blocksJoining: Whether to keep containers from joining until ``allowJoining(_:)`` is called with the
    ///   returned descriptor.
    static func isAnyAlive(_ files: StoreFiles, blocksJoining: Bool = false) throws(DataSourceError) -> (Bool, Int32?) {
        guard try files.state(files.bell) != nil else { return (false, nil) }
        let descriptor = open(files.bell, O_RDONLY | O_NOFOLLOW | O_CLOEXEC)
        guard descriptor >= 0 else {
            throw DataSourceError(systemError: errno, path: files.bell, while: "opening")
        }
        if blocksJoining {
            var shared = lock(F_RDLCK, 0, 0)
            if fcntl(descriptor, setLock, &shared) == 0 { return (false, descriptor) }
            close(descriptor)
            return (true, nil)
        }
        defer { close(descriptor) }
        return (isLocked(descriptor, 1, 0), nil)
    }

    /// Returns the members of the list that have the store open. Used by an inspection.
    static func alive(_ members: [StoreMember], _ files: StoreFiles) throws(DataSourceError) -> [StoreMember] {
        guard !members.isEmpty, try files.state(files.bell) != nil else { return [] }
        let descriptor = open(files.bell, O_RDONLY | O_NOFOLLOW | O_CLOEXEC)
        guard descriptor >= 0 else {
            throw DataSourceError(systemError: errno, path: files.bell, while: "opening")
        }
        defer { close(descriptor) }
        return members.filter { isLocked(descriptor, $0.number, 1) }
    }

    /// Lets containers join again, after ``isAnyAlive(_:blocksJoining:)`` has kept them out.
    static func allowJoining(_ descriptor: Int32) {
        // Unlock before closing. Otherwise a forked process, which has a copy of the descriptor, would keep the lock until it
        // executes its program.
        var none = lock(F_UNLCK, 0, 0)
        _ = fcntl(descriptor, setLock, &none)
        close(descriptor)
    }

    private static func isLocked(_ descriptor: Int32, _ number: Int64, _ count: Int64) -> Bool {
        var lock = lock(F_WRLCK, number, count)
        // If the call fails, treat the container as alive, so that its leases are not taken by mistake.
        guard fcntl(descriptor, MemberNotifier.findLock, &lock) == 0 else { return true }
        return lock.l_type != Int16(F_UNLCK)
    }

    private static func lock(_ type: some BinaryInteger, _ number: Int64, _ count: Int64) -> flock {
        var lock = flock()
        lock.l_type = Int16(type)
        lock.l_whence = Int16(SEEK_SET)
        lock.l_start = off_t(firstMember + number)
        lock.l_len = off_t(count)
        return lock
    }

    // The values of F_OFD_SETLK and F_OFD_GETLK. An OFD lock belongs to an open file, not to a process.
    #if canImport(Darwin)
    private static let setLock: Int32 = 90
    private static let findLock: Int32 = 92
    #else
    private static let setLock: Int32 = 37
    private static let findLock: Int32 = 36
    #endif
}
