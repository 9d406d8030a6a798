internal import Foundation
internal import RowStore

/// Keeps every other container and process from opening the store, while it exists.
///
/// The lock is on a file beside the store, which this library never deletes: two processes could otherwise hold locks on two
/// files with one name. Others may delete it, so ``check()`` compares the file with the one at the path.
final class LockFile: Sendable {
    private struct Lock {
        let descriptor: Int32
        let identity: FileIdentity
        /// Whether the file is new, so that having its lock does not prove that no process has the store open.
        let isNew: Bool
    }

    private let files: StoreFiles
    private let lock: Guarded<Lock>
    /// Whether others that share the store may have it too.
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
    /// - Throws: `storeInUse` if a process that wants the store alone has taken it in between.
    func share() throws(DataSourceError) {
        let descriptor = lock.withLock { $0.descriptor }
        isShared.withLock { $0 = true }
        // The change releases the lock for a moment. A process that takes it then gives it back, because it finds that this
        // container is alive.
        for _ in 0..<2000 {
            if flock(descriptor, LOCK_SH | LOCK_NB) == 0 { return }
            usleep(1000)
        }
        throw DataSourceError(storeInUse: files)
    }

    /// Whether the file at the path is the one that is locked.
    var isInPlace: Bool {
        let identity = lock.withLock { $0.identity }
        return (try? files.identity(files.lock)) == identity
    }

    /// Makes sure that any process which opens the store finds it locked. If the lock file was removed or replaced, the file at
    /// the path is locked instead.
    ///
    /// - Throws: `storeInUse` if another process has locked that one.
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

    /// Records in the file that the next process which locks it is the only one. If this fails, the next opening checks again.
    private static func mark(_ descriptor: Int32) {
        _ = write(descriptor, "locked\n", 7)
    }

    private static func take(_ files: StoreFiles, _ isShared: Bool) throws(DataSourceError) -> Lock {
        // Again if the file is removed between opening and locking it, but not forever.
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
        // A process that is just being forked also has the descriptor until it runs its program, so closing is not enough.
        flock(descriptor, LOCK_UN)
        close(descriptor)
    }
}

/// The file that a name refers to.
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
    /// Each connection to a store with a log holds a shared lock on the main file, so if an exclusive lock can be taken, no
    /// process has the file open. Other errors of the file are reported when it is opened.
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
    /// The message names the others, if the store knows them.
    fileprivate init(storeInUse files: StoreFiles) {
        let others = (try? files.occupants().members) ?? []
        let names = others.isEmpty ? "" : ": " + others.map(\.description).joined(separator: ", ")
        self.init(
            .storeInUse,
            "Another container or process has \(files.main) open\(names). Close it, use that container, or let both open the store with sharing: .processes."
        )
    }
}
