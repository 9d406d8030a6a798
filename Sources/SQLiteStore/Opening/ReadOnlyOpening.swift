internal import Foundation
internal import RowStore

/// Opens a store without making or changing a file.
struct ReadOnlyOpening {
    struct Result {
        let metadata: StoreMetadata
        let longestValue: Int
        let watch: ReadOnlyWatch
    }

    let files: StoreFiles
    let schema: StoreSchema
    let identity: StoreIdentity

    /// Opens the store.
    ///
    /// - Throws: `storeNotFound` if there is no store; `modelChanged` if the store would have to be reset or migrated;
    ///   `storeReadOnly` if the store must be opened for writing first.
    func run() throws(DataSourceError) -> Result {
        guard try files.mainExists() else {
            throw DataSourceError(
                .storeNotFound, "There is no store at \(files.main), and a read-only container cannot make a store.")
        }
        let watch = try ReadOnlyWatch(files)
        let connection = try Connection(
            path: files.main, isReader: true, files: watch.isUnchanging ? .ignored : .createdIfNeeded,
            vfs: files.calls.sqliteVFS)
        defer { connection.close() }
        try connection.configure()
        let probe = try StoreProbe(connection)
        let decision = try StartupDecision(reading: probe.found(), identity)
        guard case .proceed(let metadata) = decision else {
            throw DataSourceError(
                .storeReadOnly, "\(files.main) is empty, and open for reading only. Open the store for writing first.")
        }
        guard metadata.format == StoreSchema.format else {
            throw DataSourceError(
                .storeReadOnly,
                "An earlier release wrote \(files.main). Open the store for writing once, which upgrades the store to the "
                    + "format of this release.")
        }
        try probe.check(schema)
        return Result(metadata: metadata, longestValue: connection.longestValue, watch: watch)
    }
}

/// While a store is open for reading only, keeps writers from opening it, as far as this is possible without making a file.
/// Also notices whether a process has written to the store.
final class ReadOnlyWatch: Sendable {
    /// Whether the main file is the whole store. If so, SQLite needs neither a log nor shared memory, and makes neither file.
    let isUnchanging: Bool
    private let files: StoreFiles
    private let main: FileState?
    private let lock: SharedLock?

    /// - Throws: `storeInUse` if a container or process has the store open for writing.
    init(_ files: StoreFiles) throws(DataSourceError) {
        self.files = files
        lock = try SharedLock(files)
        isUnchanging = try !files.hasLog()
        main = try ReadOnlyWatch.state(of: files)
        let hasSharedMemory = try files.state(files.sharedMemory) != nil
        guard isUnchanging || hasSharedMemory else {
            throw DataSourceError(
                .storeReadOnly,
                "\(files.main) has a write-ahead log that was not copied into the file. Open the store for writing once, or "
                    + "copy the store after it was closed.")
        }
    }

    /// Checks that the store is unchanged.
    ///
    /// - Throws: `storeMoved` if a store without a log was changed since it was opened.
    func check() throws(DataSourceError) {
        guard isUnchanging else { return }
        let isSame = try ReadOnlyWatch.state(of: files) == main
        let hasLog = try files.hasLog()
        if !isSame || hasLog {
            throw DataSourceError(
                .storeMoved,
                "\(files.main) was changed while it was open for reading only. Close the container and open the store again."
            )
        }
    }

    private static func state(of files: StoreFiles) throws(DataSourceError) -> FileState? {
        try files.state(files.main).map { FileState($0) }
    }
}

/// A lock that all read-only containers of a store share.
final class SharedLock: Sendable {
    private let descriptor: Int32
    /// The descriptor of a lock that keeps members from joining; nil if the store was never shared.
    private let notifier: Int32?

    /// Locks the store. Returns nil if the lock file does not exist or cannot be read. If there is no lock file, no process
    /// has the store open, or the store is a copy. So a missing lock file is not made.
    ///
    /// - Throws: `storeInUse` if a container or process has the store open for writing.
    init?(_ files: StoreFiles) throws(DataSourceError) {
        let (descriptor, error) = files.calls.lockForReading(files.lock)
        switch error {
        case 0: break
        case ENOENT, EACCES: return nil
        case EWOULDBLOCK:
            throw DataSourceError(
                .storeInUse,
                "Another container or process has \(files.main) open for writing. Close the store there first.")
        default: throw DataSourceError(systemError: error, path: files.lock, while: "locking")
        }
        let isAnyAlive: Bool
        do throws(DataSourceError) {
            (isAnyAlive, notifier) = try MemberNotifier.isAnyAlive(files, blocksJoining: true)
        } catch {
            close(descriptor)
            throw error
        }
        self.descriptor = descriptor
        if isAnyAlive {
            throw DataSourceError(
                .storeInUse,
                "A read-only container cannot open a store while other containers or processes share it: \(files.main). Open the store for writing with sharing: .processes, or close the store there first. `model-reset inspect` lists the members."
            )
        }
    }

    deinit {
        if let notifier { MemberNotifier.allowJoining(notifier) }
        flock(descriptor, LOCK_UN)
        close(descriptor)
    }
}
