internal import Foundation
internal import RowStore

/// A lock on a store, held while this object exists. An exclusive lock keeps all other containers and processes from
/// opening the store. A shared lock lets other members open the store.
///
/// This library locks a file beside the store, and never deletes that lock file. After a deletion, two processes could lock two
/// different files with the same name. Other programs may delete the lock file, so ``check()`` compares the locked file with
/// the file at the path.
final class LockFile: Sendable {
    private struct Lock {
        let descriptor: Int32
        let identity: FileIdentity
        /// Whether the file is new. If so, an earlier lock file may have been deleted, and a process that locked it may still
        /// have the store open.
        let isNew: Bool
    }

    private let files: StoreFiles
    private let lock: Guarded<Lock>
    /// True for a lock shared with other members, false for an exclusive lock.
    private let isShared: Guarded<Bool>

    /// - Parameter isShared: True for a shared lock, false for an exclusive lock.
    /// - Throws: `storeInUse` if another container or process has the lock, or has the store open without the lock.
    init(_ files: StoreFiles, isShared: Bool = false) throws(DataSourceError) {
        self.files = files
        let lock = try LockFile.take(files, isShared)
        self.lock = Guarded(lock)
        self.isShared = Guarded(isShared)
        if isShared { return }
        if try MemberNotifier.isAnyAlive(files).0 { throw DataSourceError(storeInUse: files) }
        guard lock.isNew else { return }
        if try files.isUsed() { throw DataSourceError(storeInUse: files) }
        LockFile.mark(lock.descriptor)
    }

    deinit {
        LockFile.end(lock.withLock { $0.descriptor })
    }

    /// Makes the lock shared, so that other members can lock the file, too.
    ///
    /// - Throws: `storeInUse` if another process has taken an exclusive lock meanwhile.
    func share() throws(DataSourceError) {
        let descriptor = lock.withLock { $0.descriptor }
        isShared.withLock { $0 = true }
        // `flock` releases the lock for a moment when it changes the kind of lock. If another process takes the lock in that
        // moment, the process finds that this container has the store open, and releases the lock again.
        for _ in 0..<2000 {
            if flock(descriptor, LOCK_SH | LOCK_NB) == 0 { return }
            usleep(1000)
        }
        throw DataSourceError(storeInUse: files)
    }

    /// Whether the file at the path is the locked file.
    var isInPlace: Bool {
        let identity = lock.withLock { $0.identity }
        return (try? files.identity(files.lock)) == identity
    }

    /// Checks that every process that opens the store will find the lock. If the lock file was removed or replaced, locks the
    /// file at the path instead.
    ///
    /// - Throws: `storeInUse` if another process has locked the file at the path.
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
                        + "since. Close that container or process to save here again, and leave \(files.lock) in its folder."
                )
            }
            LockFile.mark(lock.descriptor)
            LockFile.end(old)
        }
    }

    /// Writes into the lock file, so that the next process that locks the file does not treat the file as new. If the write
    /// fails, the next process checks once more whether the store is open.
    private static func mark(_ descriptor: Int32) {
        _ = write(descriptor, "locked\n", 7)
    }

    private static func take(_ files: StoreFiles, _ isShared: Bool) throws(DataSourceError) -> Lock {
        // Try again if the file is removed between the opening and the locking, but not forever.
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
        // Unlock before closing. Otherwise a forked process, which has a copy of the descriptor, would keep the lock until it
        // executes its program.
        flock(descriptor, LOCK_UN)
        close(descriptor)
    }
}

/// The identity of a file, which does not depend on the file's name.
struct FileIdentity: Equatable {
    private let device: UInt64
    private let number: UInt64

    init(_ state: stat) {
        device = UInt64(state.st_dev)
        number = UInt64(state.st_ino)
    }
}

extension StoreFiles {
    /// Returns the identity of the file at the path; nil if there is no file.
    func identity(_ path: String) throws(DataSourceError) -> FileIdentity? {
        try state(path).map { FileIdentity($0) }
    }

    /// Whether a connection has the store open, in this process or another.
    ///
    /// Each connection to a store with a log has a shared lock on the main file. So if this method gets an exclusive lock, no
    /// process has the file open. Any error other than `storeBusy` is ignored: the opening of the file reports it.
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
    /// Makes an error whose message names the members that have the store open, if the store lists them.
    fileprivate init(storeInUse files: StoreFiles) {
        let others = (try? files.occupants().members) ?? []
        let names = others.isEmpty ? "" : ": " + others.map(\.description).joined(separator: ", ")
        self.init(
            .storeInUse,
            "Another container or process has \(files.main) open\(names). Close the store there, use that container, or let both open the store with sharing: .processes."
        )
    }
}
