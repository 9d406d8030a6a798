package import Foundation
package import RowStore
internal import Synchronization

/// A store in an SQLite file. One connection writes, and a few others read.
package final class SQLiteStore: PersistentStore {
    package typealias Options = SQLiteOptions

    /// The result of opening the store.
    package let startup: StoreStartup
    /// An identifier that no other store has. A reset makes a new identifier.
    package var storeID: String { identifier.withLock { $0 } }
    package let longestValue: Int
    package let counters: StoreCounters

    /// The file of the store.
    package var url: URL { options.url }

    let schema: StoreSchema
    let files: StoreFiles
    let options: Options
    let identifier: Guarded<String>
    let writer: Guarded<WriterState>
    /// The history that a reset of this container has ended, until there is a new writer.
    let endedHistory = Guarded<HistoryTables.EndedHistory?>(nil)
    /// Whether the store keeps a history.
    package let keepsHistory: Bool
    /// Whether a reset has left no writer, so that the store must be opened again.
    let isLost = Atomic(false)
    let readers: ReaderPool
    let reports = FailureReports()
    /// The lock file, which is locked until the store is closed. Nil for a store that is open for reading only.
    let lock: Guarded<LockFile?>
    /// The locks and notifications of a shared store; nil if the store is not shared.
    let access: SharedAccess?
    /// The watch of a store that is open for reading only. Nil after the store is closed, and for other stores.
    private let readOnlyWatch: Guarded<ReadOnlyWatch?>

    /// Opens a store. Makes the store if there is none. Resets or migrates a store that was made for another model or database
    /// key.
    ///
    /// - Throws: `storeInUse`, `notAFile`, `notADatabase`, `foreignDatabase`, `permissionDenied`, `storeBusy`, `diskFull`,
    ///   `storeCorrupt`, `newerFormat`, `storeUnreadable`, `modelChanged` (if the policy is `.fail`), `openingWouldBlock`,
    ///   `unreadableModel`. If the call throws, an existing store is unchanged. There is one exception: a store that had to
    ///   be dropped may be completely removed.
    package static func open(_ options: Options) throws(DataSourceError) -> SQLiteStore {
        let schema = try StoreSchema(options.layout)
        let files = try StoreFiles(options.url, options.calls, mode: options.fileMode)
        if options.isReadOnly {
            let opened = try ReadOnlyOpening(files: files, schema: schema, identity: options.identity).run()
            return SQLiteStore(schema, files, options: options, opened: opened)
        }
        // Check the path before the lock file is made, so that no lock file is made beside a folder or a device.
        _ = try files.mainExists()
        if options.isShared {
            let shared = try SharedOpening(files: files, schema: schema, options: options).run()
            return try SQLiteStore(
                schema, files, options: options, lock: shared.lock, opened: shared.opened, shared: shared,
                history: makeHistory(shared.opened, schema, shared.access, named: options.memberName))
        }
        let lock = try ClosingStores.shared.lock(files)
        let opened = try StoreOpening(files: files, schema: schema, options: options).run()
        return try SQLiteStore(
            schema, files, options: options, lock: lock, opened: opened,
            history: makeHistory(opened, schema, nil, named: options.memberName))
    }

    private init(
        _ schema: StoreSchema, _ files: StoreFiles, options: Options, lock: LockFile, opened: StoreOpening.Result,
        shared: SharedOpening.Result? = nil, history: sending HistoryWriter?
    ) {
        keepsHistory = history != nil
        let access = shared?.access
        self.access = access
        self.schema = schema
        self.files = files
        var options = options
        options.identity = options.identity.completed(by: opened.metadata)
        self.options = options
        startup = opened.startup
        identifier = Guarded(opened.metadata.storeID)
        longestValue = min(RowSnapshot.longestValue, opened.connection.longestValue)
        let counters = StoreCounters(firstFreeKey: opened.metadata.firstFreeKey)
        self.counters = counters
        let readers = ReaderPool(files, schema, counters: counters, isShared: access != nil, tracing: options.tracing)
        self.readers = readers
        opened.connection.trace(options.tracing)
        let log = WALCheckpointer(
            opened.connection, counters: counters, limits: options.logLimits, readers: readers, reports: reports,
            writeLock: access?.writeLock, lockTimeout: options.lockTimeout)
        let sharing = shared.map { shared in
            SharedWriter(opened.connection, schema, access: shared.access, feed: shared.feed)
        }
        let watch = FileWatch(files, lock)
        writer = Guarded(
            .open(
                Writer(
                    opened.connection, schema, counters: counters, watch: watch, log: log, sharing: sharing,
                    history: history, lockTimeout: options.lockTimeout)))
        self.lock = Guarded(lock)
        readOnlyWatch = Guarded(nil)
    }

    /// Makes a store that is open for reading only.
    private init(_ schema: StoreSchema, _ files: StoreFiles, options: Options, opened: ReadOnlyOpening.Result) {
        self.schema = schema
        self.files = files
        self.options = options
        access = nil
        keepsHistory = opened.metadata.keepsHistory
        startup = StoreStartup(reason: .current)
        identifier = Guarded(opened.metadata.storeID)
        longestValue = min(RowSnapshot.longestValue, opened.longestValue)
        counters = StoreCounters(firstFreeKey: opened.metadata.firstFreeKey)
        readers = ReaderPool(
            files, schema, counters: counters, isUnchanging: opened.watch.isUnchanging, tracing: options.tracing)
        writer = Guarded(.reading)
        lock = Guarded(nil)
        readOnlyWatch = Guarded(opened.watch)
    }

    package var isReadOnly: Bool { options.isReadOnly }

    package func report(to handler: @escaping @Sendable (DataSourceError) -> Void) { reports.report(to: handler) }

    /// Makes a writer after a reset.
    ///
    /// - Parameter isAlone: Whether no other process has the shared store open.
    func makeWriter(_ opened: StoreOpening.Result, isAlone: Bool) throws(DataSourceError) -> Writer {
        let connection = opened.connection
        return try lock.withLock { (lock) throws(DataSourceError) in
            guard let lock else { throw DataSourceError.storeClosed }
            let sharing = try access.map { access throws(DataSourceError) in
                try SharedWriter(rejoining: connection, schema, access, isAlone: isAlone)
            }
            let history = try SQLiteStore.makeHistory(opened, schema, access, named: options.memberName)
            connection.trace(options.tracing)
            let log = WALCheckpointer(
                connection, counters: counters, limits: options.logLimits, readers: readers, reports: reports,
                writeLock: access?.writeLock, lockTimeout: options.lockTimeout)
            return Writer(
                connection, schema, counters: counters, watch: FileWatch(files, lock), log: log, sharing: sharing,
                history: history, lockTimeout: options.lockTimeout)
        }
    }

    package var firstFreeKey: Int64 { counters.firstFreeKey }

    package func commit(_ group: [ChangeSet]) throws(DataSourceError) -> CommitOutcome {
        try writer.withLock { (writer) throws(DataSourceError) in
            let outcome = try openWriter(&writer, keepsEarlyWrite: true).commit(group)
            // Even if all saves are refused and nothing is written, the commit can notice writes of other programs. The next
            // look-ups must see these writes.
            if outcome.foundOutsideWrites { readers.recordWrite() }
            return outcome
        }
    }

    package var canBeWrittenOutside: Bool { true }

    package func noticeOutsideWrites() -> Bool { checkForOutsideWrites() ?? false }

    package func read<R>(_ isolation: ReadIsolation, _ body: (any StoreReader) throws(DataSourceError) -> R)
        throws(DataSourceError) -> R
    {
        let reader = try readers.take(isLookup: isolation == .lookup) { () throws(DataSourceError) in
            try reopenIfLost()
            try checkUnchanged()
        }
        defer { readers.give(back: reader) }
        return try reader.run(isolation, body)
    }

    /// Checks that a store that is open for reading only is unchanged.
    ///
    /// - Throws: `storeMoved` if another process has changed the store.
    func checkUnchanged() throws(DataSourceError) {
        if options.isReadOnly { try readOnlyWatch.withLock { $0 }?.check() }
    }

    /// Whether the write-ahead log is so long that it should be copied into the main file.
    package var needsUpkeep: Bool { counters.uncopiedFrames > options.logLimit }

    /// Copies the write-ahead log into the main file if the log is too long. The copy can take milliseconds.
    package func upkeep() {
        writer.withLock { if let writer = $0.current, writer.hasLock { writer.checkpointIfNeeded() } }
    }

    package func willClose() { ClosingStores.shared.add(files.main, self) }

    package func closeIfIdle() -> Bool {
        // Another thread may still be reading the feed of a shared store. `close()` waits for this read to end.
        if access != nil { return false }
        // The last reference to a container can end on the main thread, so do not wait for another program or a long write here.
        // First roll back the early write, which releases SQLite's write lock, because another program may wait for this lock.
        let hasRecorded = writer.withLockIfAvailable { writer in
            writer.current?.abandonEarlyWrite()
            return writer.current?.recordOutsideWrites(waits: false) ?? true
        }
        guard hasRecorded == true, readers.closeIfIdle() else { return false }
        endWriting(waits: false)
        return true
    }

    /// Waits for the current reads and writes to end. If no other container has the store open, the main file then contains all
    /// rows.
    package func close() {
        // Close the readers before the writer: the last connection to close copies the log, and only the writer may copy it.
        readers.close()
        access?.endFollowing()
        endWriting(waits: true)
    }

    /// - Parameter waits: Whether to wait for another program that has SQLite's write lock.
    private func endWriting(waits: Bool) {
        writer.withLock { writer in
            writer.current?.abandonEarlyWrite()
            // Release the leases before taking the write lock: `leave` runs a transaction, and each transaction releases the
            // write lock at its end.
            if access != nil { writer.current?.leave(departure) }
            // A process that has lost the store's lock, or cannot take the lock for writes, must not write.
            let hasWriteLock = access.map { (try? $0.writeLock.take()) != nil } ?? true
            if !hasWriteLock || writer.current?.hasLock == false {
                try? writer.current?.connection.set(closingCopiesLog: false)
            } else {
                writer.current?.recordOutsideWrites(waits: waits)
            }
            writer.current?.close()
            if hasWriteLock { access?.writeLock.release() }
            writer = .closed
        }
        access?.notifier.unmarkAlive()
        lock.withLock { $0 = nil }
        readOnlyWatch.withLock { $0 = nil }
        ClosingStores.shared.remove(files.main, self)
    }

    deinit { ClosingStores.shared.remove(files.main, self) }

    /// The number of reads that wait until the write-ahead log is emptied; nil while the log is not being emptied. For tests.
    package var waitingReadCount: Int? { readers.waitingCount }

    /// The value of a pragma on the writing connection. For tests.
    package func pragma(_ name: String) throws(DataSourceError) -> RowValue? {
        try writer.withLock { (writer) throws(DataSourceError) in
            try openWriter(&writer).connection.values("PRAGMA \(name)").first?.first
        }
    }
}

extension SQLiteStore: BulkStore {
    package func make(_ change: BulkChange) throws(DataSourceError) -> Int {
        try writer.withLock { (writer) throws(DataSourceError) in
            // Use a separate reader. If this read took a reader of the pool, it could wait for callers that have all readers
            // and wait for a save.
            try openWriter(&writer).make(change) { () throws(DataSourceError) in
                try Reader(files, schema, counters: counters, isUnchanging: false, tracing: options.tracing)
            }
        }
    }
}

extension SQLiteStore: EarlyWriteStore {
    /// Writing the maximum number of rows takes one to two milliseconds.
    package var rowsWrittenEarly: ClosedRange<Int> { 1...256 }
    package var earlyRows: Int { writer.withLock { $0.current?.openEarlyWrite?.count ?? 0 } }

    package func write(_ rows: NewRows, for earlyWrite: EarlyWrite) -> Bool {
        writer.withLock { $0.current?.write(rows, for: earlyWrite) ?? false }
    }

    package func abandon(_ earlyWrite: EarlyWrite) {
        writer.withLock { writer in
            guard let writer = writer.current, writer.openEarlyWrite?.earlyWrite === earlyWrite else { return }
            writer.abandonEarlyWrite()
        }
    }
}

extension SQLiteStore: LeaseStore {
    package var sharing: (any StoreSharing)? { access == nil ? nil : self }

    /// The locks and notifications of a shared store. Used only for a shared store.
    private var shared: SharedAccess {
        get throws(DataSourceError) {
            guard let access else { throw DataSourceError.storeClosed }
            return access
        }
    }

    package var member: StoreMember { access?.member ?? StoreMember(number: 0, processID: 0, name: "") }
    package var firstPosition: Int64 { access?.firstPosition ?? 0 }
    package var leaseTimes: LeaseTimes { access?.times ?? LeaseTimes() }
    package func listen(_ handler: @escaping @Sendable () -> Void) { access?.notifier.listen(handler) }

    package func readFeed(after position: Int64) throws(DataSourceError) -> FeedPage {
        try reopenIfLost()
        if let page = try emptyPage() { return page }
        return try shared.reading { reader throws(DataSourceError) in try reader.readFeed(after: position) }
    }

    package func readSaves(after position: Int64) throws(DataSourceError) -> FeedPage {
        try reopenIfLost()
        return try shared.readSaves(after: position)
    }

    /// If no other member has written, returns the result of ``readFeed(after:)`` without a search for saves. Returns nil if
    /// another member may have written, or if the writer is in use.
    private func emptyPage() throws(DataSourceError) -> FeedPage? {
        guard let writes = try shared.reading({ reader throws(DataSourceError) in reader.readWrites }) else {
            return nil
        }
        return writer.withLockIfAvailable { $0.current?.emptyPage(since: writes) } ?? nil
    }

    package func reserveKeys(_ count: Int64) throws(DataSourceError) -> Range<Int64> {
        try writer.withLock { (writer) throws(DataSourceError) in try openWriter(&writer).reserveKeys(count) }
    }

    // MARK: Leases

    package var layout: ModelLayout { schema.layout }

    package func leaseSnapshot() throws(DataSourceError) -> LeaseSnapshot {
        try shared.reading { reader throws(DataSourceError) in try reader.leases() }
    }

    package func changeLeases(_ change: LeaseChange) throws(DataSourceError) -> LeaseTable {
        try writer.withLock { (writer) throws(DataSourceError) in try openWriter(&writer).changeLeases(change) }
    }
}

extension SQLiteStore.Options {
    var logLimits: WALCheckpointer.Limits { WALCheckpointer.Limits(soft: logLimit) }
}

extension SQLiteStore {
    /// Predicts what the next opening would do. Neither makes nor changes a file. Containers may have the store open.
    ///
    /// - Parameter countsRows: Whether to count the rows that a reset would drop, even if opening would keep the store.
    /// - Returns: The reason, the number of objects that would be dropped, and the backups that would be removed.
    /// - Throws: The error that opening would throw.
    package static func forecast(
        _ options: Options, countsRows: Bool = false
    ) throws(DataSourceError) -> StoreStartup {
        try StoreForecast(options).run(countsRows: countsRows)
    }

    /// Predicts the result of a migration. Returns nil if there is no store, or if the store was made for this model.
    package static func migrationForecast(_ options: Options) throws(DataSourceError) -> MigrationForecast? {
        try StoreForecast(options).migration()
    }

    /// Returns facts about a store that opening would keep. Returns nil if there is no store, or if the store would be reset or
    /// migrated.
    package static func outlook(_ options: Options) throws(DataSourceError) -> StoreOutlook? {
        try StoreForecast(options).outlook()
    }

    /// Returns the containers that have a store open, in this process or in another process.
    package static func occupants(_ url: URL) throws(DataSourceError) -> StoreOccupants {
        try StoreFiles(url, .system).occupants()
    }
}

extension SQLiteStore: ScopeStore {}

extension SQLiteStore: SnapshotStore {
    package func checkForOutsideWrites() -> Bool? {
        let found = writer.withLockIfAvailable { $0.current?.noticeOutsideWrites() } ?? nil
        // If the file was not checked, or if a write was found, kept transactions may be too old. This call must end them,
        // because the next call does not report the same write again.
        if found != false { readers.recordWrite() }
        return found
    }

    package var hasUnreportedOutsideWrite: Bool? {
        if isReadOnly { return false }
        return writer.withLockIfAvailable { $0.current?.outside.hasUnreportedWrite } ?? nil
    }

    package func emptyLogBesideSnapshots() {
        writer.withLock { writer in
            guard let writer = writer.current, writer.openEarlyWrite == nil else { return }
            writer.log.readLength()
            if writer.log.isLong, writer.hasLock { writer.log.emptyBesideSnapshots() }
        }
    }

    package func openSnapshot(named name: String) throws(DataSourceError) -> any StoreSnapshot {
        let check = { @Sendable () throws(DataSourceError) in try self.checkUnchanged() }
        return try readers.openSnapshot(named: name, check: check) { () throws(DataSourceError) in
            try reopenIfLost()
            try checkUnchanged()
        }
    }

    /// The size of the file of the log, which other members write too.
    package var logByteCount: Int? { (try? files.state(files.log)).map { Int($0?.st_size ?? 0) } }
}
