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

    let schema: StoreSchema
    let files: StoreFiles
    let options: Options
    let identifier: Guarded<String>
    let writer: Guarded<WriterState>
    /// Whether a reset left no writer, so that the store must be opened again.
    let isLost = Atomic(false)
    let readers: ReaderPool
    let reports = FailureReports()
    /// The lock file, locked until the store is closed; nil for a store that is only read.
    let lock: Guarded<LockFile?>
    /// The locks and notifications of a shared store; nil if the store is not shared.
    let access: SharedAccess?
    /// The watch of a store that is only read, until the store is closed.
    private let readOnlyWatch: Guarded<ReadOnlyWatch?>

    /// Opens a store. Makes the store if there is none, and resets or migrates a store that was made for another model or
    /// database key.
    ///
    /// - Throws: `storeInUse`, `notAFile`, `notADatabase`, `foreignDatabase`, `permissionDenied`, `storeBusy`, `diskFull`,
    ///   `storeCorrupt`, `newerFormat`, `storeUnreadable`, `modelChanged` (if the policy is `.fail`), `unreadableModel`. If the
    ///   call throws, an existing store is unchanged, or completely removed if it was to be dropped.
    package static func open(_ options: Options) throws(DataSourceError) -> SQLiteStore {
        let schema = try StoreSchema(options.layout)
        let files = try StoreFiles(options.url, options.calls, mode: options.fileMode)
        if options.isReadOnly {
            let opened = try ReadOnlyOpening(files: files, schema: schema, identity: options.identity).run()
            return SQLiteStore(schema, files, options: options, opened: opened)
        }
        // Check this before the lock file is made, so that none is made beside a folder or a device.
        _ = try files.mainExists()
        if options.isShared {
            let shared = try SharedOpening(files: files, schema: schema, options: options).run()
            return SQLiteStore(
                schema, files, options: options, lock: shared.lock, opened: shared.opened, shared: shared)
        }
        let lock = try ClosingStores.shared.lock(files)
        let opened = try StoreOpening(files: files, schema: schema, options: options).run()
        return SQLiteStore(schema, files, options: options, lock: lock, opened: opened)
    }

    private init(
        _ schema: StoreSchema, _ files: StoreFiles, options: Options, lock: LockFile, opened: StoreOpening.Result,
        shared: SharedOpening.Result? = nil
    ) {
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
            turn: access?.turn, patience: options.patience)
        let sharing = shared.map { shared in
            SharedWriter(opened.connection, schema, access: shared.access, feed: shared.feed)
        }
        let watch = FileWatch(files, lock)
        writer = Guarded(
            .open(
                Writer(
                    opened.connection, schema, counters: counters, watch: watch, log: log, sharing: sharing,
                    patience: options.patience)))
        self.lock = Guarded(lock)
        readOnlyWatch = Guarded(nil)
    }

    /// Makes a store that is only read.
    private init(_ schema: StoreSchema, _ files: StoreFiles, options: Options, opened: ReadOnlyOpening.Result) {
        self.schema = schema
        self.files = files
        self.options = options
        access = nil
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

    /// - Parameter isAlone: Whether no other process has a shared store open.
    func makeWriter(_ connection: Connection, isAlone: Bool) throws(DataSourceError) -> Writer {
        try lock.withLock { (lock) throws(DataSourceError) in
            guard let lock else { throw DataSourceError.storeClosed }
            let sharing = try access.map { access throws(DataSourceError) in
                try SharedWriter(rejoining: connection, schema, access, isAlone: isAlone)
            }
            connection.trace(options.tracing)
            let log = WALCheckpointer(
                connection, counters: counters, limits: options.logLimits, readers: readers, reports: reports,
                turn: access?.turn, patience: options.patience)
            return Writer(
                connection, schema, counters: counters, watch: FileWatch(files, lock), log: log, sharing: sharing,
                patience: options.patience)
        }
    }

    package var firstFreeKey: Int64 { counters.firstFreeKey }

    package func commit(_ group: [ChangeSet]) throws(DataSourceError) -> CommitOutcome {
        try writer.withLock { (writer) throws(DataSourceError) in
            let outcome = try openWriter(&writer, keepsEarlyWrite: true).commit(group)
            // A commit of only refused saves writes nothing, but it can notice writes of other programs.
            if outcome.foundOutsideWrites { readers.recordWrite() }
            return outcome
        }
    }

    package var canBeWrittenOutside: Bool { true }

    package func noticeOutsideWrites() -> Bool {
        let found = writer.withLockIfAvailable { writer in
            let found = writer.current?.noticeOutsideWrites()
            // Without a writer, or after a found write, kept transactions may be too old. The next call does not report the
            // same write again, so look-ups must see it.
            if found != false { readers.recordWrite() }
            return found ?? false
        }
        if found == nil { readers.recordWrite() }
        return found ?? false
    }

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

    /// - Throws: `storeMoved` if the store is only read and another process has changed it.
    func checkUnchanged() throws(DataSourceError) {
        if options.isReadOnly { try readOnlyWatch.withLock { $0 }?.check() }
    }

    /// Whether the write-ahead log is long enough to be copied into the main file.
    package var needsUpkeep: Bool { counters.uncopiedFrames > options.logLimit }

    /// Copies the log into the main file if the log is long enough. That can take milliseconds.
    package func upkeep() {
        writer.withLock { if let writer = $0.current, writer.hasLock { writer.checkpointIfNeeded() } }
    }

    package func willClose() { ClosingStores.shared.add(files.main, self) }

    package func closeIfIdle() -> Bool {
        // A shared store may still be followed by another thread, which ends soon. `close()` then closes the store.
        if access != nil { return false }
        guard readers.closeIfIdle() else { return false }
        endWriting()
        return true
    }

    /// Waits for the present reads and writes, and leaves one file with all rows.
    package func close() {
        // Close the readers first. The last connection to close copies the log, and only the writer may do that.
        readers.close()
        access?.endFollowing()
        endWriting()
    }

    private func endWriting() {
        writer.withLock { writer in
            writer.current?.abandonEarlyWrite()
            // A process that has lost its lock, or cannot get its turn, must not write.
            let isTurn = access.map { (try? $0.turn.take()) != nil } ?? true
            if !isTurn || writer.current?.hasLock == false {
                try? writer.current?.connection.set(closingCopiesLog: false)
            }
            writer.current?.close()
            if isTurn { access?.turn.release() }
            writer = .closed
        }
        access?.notifier.die()
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
            // Use a separate reader: the caller that has all readers of the pool may be waiting for a save.
            try openWriter(&writer).make(change) { () throws(DataSourceError) in
                try Reader(files, schema, counters: counters, isUnchanging: false, tracing: options.tracing)
            }
        }
    }
}

extension SQLiteStore: EarlyWriteStore {
    /// Writing the most rows takes one to two milliseconds.
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

    /// The locks and notifications of a shared store. Only called for a shared store.
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

    /// The result of ``readFeed(after:)`` if no other member has written; nil if another member may have written, or while a
    /// commit is under way.
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

    package func leaseFacts() throws(DataSourceError) -> LeaseFacts {
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
    /// Predicts what the next opening would do. Makes and changes no file. Containers may have the store open.
    ///
    /// - Parameter countsRows: Whether to count the rows that a reset would drop, even if opening would keep the store.
    /// - Returns: The reason, the number of objects that would be dropped, and the backups that would be removed.
    /// - Throws: The error that opening would throw.
    package static func forecast(
        _ options: Options, countsRows: Bool = false
    ) throws(DataSourceError) -> StoreStartup {
        try StoreForecast(options).run(countsRows: countsRows)
    }

    /// Predicts what a migration would do; nil if the store was made for this model, or does not exist.
    package static func migrationForecast(_ options: Options) throws(DataSourceError) -> MigrationForecast? {
        try StoreForecast(options).migration()
    }

    /// The outlook of a store that opening would keep; nil if there is no store, or if it would be reset or migrated.
    package static func outlook(_ options: Options) throws(DataSourceError) -> StoreOutlook? {
        try StoreForecast(options).outlook()
    }

    /// The containers that have a store open, in this process or in another process.
    package static func occupants(_ url: URL) throws(DataSourceError) -> StoreOccupants {
        try StoreFiles(url, .system).occupants()
    }
}
