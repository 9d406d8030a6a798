internal import Foundation
internal import RowStore

/// Notifies other containers that there may be news in a store, and listens to them. A notification is a hint: the receiver
/// looks into the store.
///
/// It is a file that is written after each commit. If a process is killed after a commit and before it rings, the others find
/// the commit when they check from time to time.
///
/// A living container keeps one byte of the file locked, at the position of its number.
final class Bell: Sendable {
    /// How often a container checks without a notification, in milliseconds.
    private static let interval: Int32 = 500
    /// Where the locked bytes begin. No byte is ever written there.
    private static let firstMember: Int64 = 1 << 32

    private let path: String
    private let descriptor: Int32
    private let listening: Guarded<Listening>

    /// A pipe: closing one end ends the thread that listens at the other.
    private struct Listening {
        /// Nil while a thread listens, and at the end.
        var waiting: Int32?
        var ending: Int32?

        mutating func end() {
            for descriptor in [waiting, ending].compactMap(\.self) { close(descriptor) }
            (waiting, ending) = (nil, nil)
        }
    }

    init(_ files: StoreFiles) throws(DataSourceError) {
        path = files.bell
        // Throws now, because a container that could not listen would silently show old rows.
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
        die()
        close(descriptor)
    }

    // MARK: Ringing

    /// Rings if anybody else has the store open, or is opening it.
    func ring(_ number: Int64) {
        guard isAnyPresent else { return }
        var number = number
        _ = pwrite(descriptor, &number, 8, 0)
    }

    /// Calls the handler after each ring, and from time to time, on a thread of its own. Further calls do nothing.
    func listen(_ handler: @escaping @Sendable () -> Void) {
        let waiting = listening.withLock { listening in
            defer { listening.waiting = nil }
            return listening.waiting
        }
        guard let end = waiting else { return }
        let watch = watch()
        let thread = Thread {
            while !Bell.waitForRing(watch, end) { handler() }
            close(end)
            if watch >= 0 { close(watch) }
        }
        thread.name = "CoreDataSource.bell"
        thread.start()
    }

    /// Calls the handler no more. A call that is running may finish.
    func end() {
        listening.withLock { $0.end() }
    }

    /// Waits for a ring, but not forever.
    ///
    /// - Returns: Whether it must end.
    private static func waitForRing(_ watch: Int32, _ end: Int32) -> Bool {
        // A watch that could not be made is a negative number, which `poll` ignores.
        var polled = [
            pollfd(fd: end, events: Int16(POLLIN), revents: 0), pollfd(fd: watch, events: Int16(POLLIN), revents: 0),
        ]
        _ = poll(&polled, 2, interval)
        if polled[0].revents != 0 { return true }
        if polled[1].revents != 0 { drain(watch) }
        return false
    }

    #if canImport(Darwin)
    /// A descriptor that becomes readable when the file is written.
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
    /// A descriptor that becomes readable when the file is written.
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

    // MARK: Living

    /// A container is about to join. It must not have written anything before.
    ///
    /// - Throws: `storeInUse` if the store is open for reading only.
    func enter() throws(DataSourceError) { try hold(0) }

    /// Shows that the container with that number lives, until the bell is gone or its process has ended.
    ///
    /// - Parameter number: At least 1.
    func live(as number: Int64) throws(DataSourceError) {
        try hold(number)
        var entry = Bell.lock(F_UNLCK, 0, 1)
        _ = fcntl(descriptor, Bell.setLock, &entry)
    }

    private func hold(_ number: Int64) throws(DataSourceError) {
        var lock = Bell.lock(F_WRLCK, number, 1)
        guard fcntl(descriptor, Bell.setLock, &lock) == 0 else {
            throw DataSourceError(
                .storeInUse, "A container has \(path) open for reading only. Close that container first.")
        }
    }

    /// The container has closed the store.
    func die() {
        var lock = Bell.lock(F_UNLCK, 0, 0)
        _ = fcntl(descriptor, Bell.setLock, &lock)
    }

    /// Whether another container with that number lives.
    func isAlive(_ number: Int64) -> Bool { isLocked(number, 1) }

    /// Whether any other container lives.
    var isAnyAlive: Bool { isLocked(1, 0) }

    /// Whether any other container lives, or is about to join.
    var isAnyPresent: Bool { isLocked(0, 0) }

    private func isLocked(_ number: Int64, _ count: Int64) -> Bool {
        Bell.isLocked(descriptor, number, count)
    }

    /// Whether a container shares the store at present, for a container that wants it alone.
    ///
    /// - Parameter keepsOut: Whether no container can join until ``letIn(_:)`` is called with the returned descriptor.
    static func isAnyAlive(_ files: StoreFiles, keepsOut: Bool = false) throws(DataSourceError) -> (Bool, Int32?) {
        guard try files.state(files.bell) != nil else { return (false, nil) }
        let descriptor = open(files.bell, O_RDONLY | O_NOFOLLOW | O_CLOEXEC)
        guard descriptor >= 0 else {
            throw DataSourceError(systemError: errno, path: files.bell, while: "opening")
        }
        if keepsOut {
            var shared = lock(F_RDLCK, 0, 0)
            if fcntl(descriptor, setLock, &shared) == 0 { return (false, descriptor) }
            close(descriptor)
            return (true, nil)
        }
        defer { close(descriptor) }
        return (isLocked(descriptor, 1, 0), nil)
    }

    /// The members among these that have the store open, for an inspection.
    static func alive(_ members: [StoreMember], _ files: StoreFiles) throws(DataSourceError) -> [StoreMember] {
        guard !members.isEmpty, try files.state(files.bell) != nil else { return [] }
        let descriptor = open(files.bell, O_RDONLY | O_NOFOLLOW | O_CLOEXEC)
        guard descriptor >= 0 else {
            throw DataSourceError(systemError: errno, path: files.bell, while: "opening")
        }
        defer { close(descriptor) }
        return members.filter { isLocked(descriptor, $0.number, 1) }
    }

    /// Ends what ``isAnyAlive(_:keepsOut:)`` has begun.
    static func letIn(_ descriptor: Int32) {
        // A process that is just being forked also has the descriptor until it runs its program, so closing is not enough.
        var none = lock(F_UNLCK, 0, 0)
        _ = fcntl(descriptor, setLock, &none)
        close(descriptor)
    }

    private static func isLocked(_ descriptor: Int32, _ number: Int64, _ count: Int64) -> Bool {
        var lock = lock(F_WRLCK, number, count)
        // If it cannot be determined, the container counts as alive, so that no lease is taken by mistake.
        guard fcntl(descriptor, Bell.findLock, &lock) == 0 else { return true }
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

    // Locks of an open file, not of a process: F_OFD_SETLK and F_OFD_GETLK.
    #if canImport(Darwin)
    private static let setLock: Int32 = 90
    private static let findLock: Int32 = 92
    #else
    private static let setLock: Int32 = 37
    private static let findLock: Int32 = 36
    #endif
}
