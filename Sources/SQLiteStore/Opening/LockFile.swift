internal import Foundation
internal import RowStore

/// Keeps every other container and process from the store, for as long as it lives.
///
/// The lock is on a file beside the store, which this library never deletes: two processes could otherwise hold locks on
/// two files of one name. Others may delete it, so ``check()`` compares the file with the one at the path.
final class LockFile: Sendable {
    private struct Lock {
        let descriptor: Int32
        let identity: FileIdentity
        /// Whether the file is new, so that having it does not show that nobody has the store open.
        let isNew: Bool
    }

    private let files: StoreFiles
    private let lock: Guarded<Lock>
    /// Whether others may have it too, who share the store.
    private let isShared: Guarded<Bool>

    /// - Parameter isShared: Whether others may have it too.
    /// - Throws: `storeInUse` if another container or process has the lock, or has lost it and has the store open.
    init(_ files: StoreFiles, isShared: Bool = false) throws(DataSourceError) {
        self.files = files
        let lock = try LockFile.take(files, isShared)
        self.lock = Guarded(lock)
        self.isShared = Guarded(isShared)
        if isShared { return }
        if try Bell.isAnyAlive(files).0 { throw DataSourceError(storeInUse: files) }
        guard lock.isNew else { return }
        if try files.isUsed() { throw DataSourceError(storeInUse: files) }
        LockFile.mark(lock.descriptor)
    }

    deinit {
        LockFile.end(lock.withLock { $0.descriptor })
    }

    /// Lets others have it too.
    ///
    /// - Throws: `storeInUse` if somebody has taken it in between, who wants the store alone.
    func share() throws(DataSourceError) {
        let descriptor = lock.withLock { $0.descriptor }
        isShared.withLock { $0 = true }
        // The change takes the lock away for a moment, and who takes it then gives it back: it finds that this container lives.
        for _ in 0..<2000 {
            if flock(descriptor, LOCK_SH | LOCK_NB) == 0 { return }
            usleep(1000)
        }
        throw DataSourceError(storeInUse: files)
    }

    /// Makes sure that whoever opens the store finds it locked. If the lock file was removed or replaced, the one at the
    /// path is locked in its place.
    ///
    /// - Throws: `storeInUse` if somebody else has locked that one.
    func check() throws(DataSourceError) {
        try lock.withLock { (lock) throws(DataSourceError) in
            guard try files.identity(files.lock) != lock.identity else { return }
            let old = lock.descriptor
            do throws(DataSourceError) {
                lock = try LockFile.take(files, isShared.withLock { $0 })
            } catch  where error.code == .storeInUse {
                throw DataSourceError(
                    .storeInUse,
                    "The lock file of \(files.main) was removed, and another container or process has opened the store "
                        + "since. Close that one to save here again, and leave \(files.lock) where it is.")
            }
            LockFile.mark(lock.descriptor)
            LockFile.end(old)
        }
    }

    /// Writes into the file that whoever locks it from here on is the only one. Where that fails the next opening makes
    /// sure again.
    private static func mark(_ descriptor: Int32) {
        _ = write(descriptor, "locked\n", 7)
    }

    private static func take(_ files: StoreFiles, _ isShared: Bool) throws(DataSourceError) -> Lock {
        // Again if somebody removes the file between its opening and its locking, but not for ever.
        for _ in 0..<100 {
            let (descriptor, error) = files.calls.lock(files.lock, mode: files.mode, isShared: isShared)
            guard error != EWOULDBLOCK else { break }
            guard error == 0 else { throw DataSourceError(systemError: error, path: files.lock, while: "locking") }
            do throws(DataSourceError) {
                var state = stat()
                guard fstat(descriptor, &state) == 0 else {
                    throw DataSourceError(systemError: errno, path: files.lock, while: "locking")
                }
                let identity = FileIdentity(state)
                if try files.identity(files.lock) == identity {
                    return Lock(descriptor: descriptor, identity: identity, isNew: state.st_size == 0)
                }
            } catch {
                end(descriptor)
                throw error
            }
            end(descriptor)
        }
        throw DataSourceError(storeInUse: files)
    }

    private static func end(_ descriptor: Int32) {
        // A process that is just being forked has the descriptor too, until it runs its program: closing is not enough.
        flock(descriptor, LOCK_UN)
        close(descriptor)
    }
}

/// Which file a name stands for.
struct FileIdentity: Equatable {
    private let device: UInt64
    private let number: UInt64

    init(_ state: stat) {
        device = UInt64(state.st_dev)
        number = UInt64(state.st_ino)
    }
}

extension StoreFiles {
    /// The file of that name; nil if there is none.
    func identity(_ path: String) throws(DataSourceError) -> FileIdentity? {
        try state(path).map { FileIdentity($0) }
    }

    /// Whether a connection has the store open, in this process or another.
    ///
    /// Each connection to a store with a log keeps a shared lock on the main file, so that a file of which an exclusive
    /// lock can be had is nobody's. What else is wrong with the file is said by those who open it.
    fileprivate func isUsed() throws(DataSourceError) -> Bool {
        guard try mainExists() else { return false }
        do throws(DataSourceError) {
            let connection = try Connection(path: main, isReader: false, vfs: calls.sqliteVFS)
            defer { connection.close(copyingLog: false) }
            try connection.configure()
            try connection.run("PRAGMA locking_mode = EXCLUSIVE")
            _ = try connection.values("SELECT count(*) FROM sqlite_schema")
        } catch {
            return error.code == .storeBusy
        }
        return false
    }
}

extension DataSourceError {
    /// It names the others, if the store knows them.
    fileprivate init(storeInUse files: StoreFiles) {
        let others = (try? files.occupants().members) ?? []
        let names = others.isEmpty ? "" : ": " + others.map(\.description).joined(separator: ", ")
        self.init(
            .storeInUse,
            "Another container or process has \(files.main) open\(names). Close that one first, or share its container."
        )
    }
}
