internal import CSQLite
internal import Foundation
internal import RowStore

/// Opens a store that other members may have open.
///
/// A lock file, the gate, is locked during the opening, so that only one process at a time opens the store. The first process
/// makes, resets, migrates or upgrades the store while no other process has it open. A later process opens the store without
/// changes, or throws.
struct SharedOpening {
    struct Result {
        let opened: StoreOpening.Result
        let lock: LockFile
        let access: SharedAccess
        let feed: SharedTables.Feed
    }

    let files: StoreFiles
    let schema: StoreSchema
    let options: SQLiteOptions

    /// The longest time to wait while another process opens the store.
    private static let lockTimeout = Duration.seconds(10)

    func run() throws(DataSourceError) -> Result {
        try SharedTables.check(schema)
        try files.requireLocalDisk()
        let gate = try FileLock(files.gate, files)
        try gate.take(lockTimeout: SharedOpening.lockTimeout)
        defer { gate.release() }
        let notifier = try MemberNotifier(files)
        try notifier.announceJoining()
        let writeLock = try FileLock(files.writeLock, files)
        let isAlone = !notifier.isAnyAlive
        let lock = try ClosingStores.shared.lock(files, isShared: !isAlone)
        let opening = StoreOpening(files: files, schema: schema, options: options)
        let opened = try isAlone ? opening.run() : opening.runWithoutChanges(notifier)
        do throws(DataSourceError) {
            let name = options.memberName
            let joined = try writeLock.withLock { () throws(DataSourceError) in
                try isAlone
                    ? SharedTables.prepare(opened.connection, as: name)
                    : SharedTables.join(opened.connection, as: name, notifier)
            }
            try notifier.markAlive(as: joined.member.number)
            if isAlone { try lock.share() }
            let access = SharedAccess(
                files, schema.layout, gate: gate, writeLock: writeLock, notifier: notifier, joined: joined,
                times: options.leaseTimes)
            // Let the feed reader record the current state of the file, so that the reader notices later writes of
            // other programs.
            _ = try access.reading { reader throws(DataSourceError) in try reader.leases() }
            var feed = joined.feed
            // Set the limits of the history last: a container that cannot open the store must not change the limits of the
            // other members.
            if !isAlone, let limits = opening.historyLimits(opened) {
                feed = try writeLock.withLock { () throws(DataSourceError) in
                    try SharedTables.set(limits, opened.connection)
                }
            }
            return Result(opened: opened, lock: lock, access: access, feed: feed)
        } catch {
            opened.connection.close(copyingLog: false)
            throw error
        }
    }
}

extension StoreFiles {
    /// Checks that the store is on a local disk.
    ///
    /// - Throws: `storeUnreadable` for a network file system, because locks and shared memory do not work there.
    fileprivate func requireLocalDisk() throws(DataSourceError) {
        #if os(Linux)
        // The magic numbers of NFS, SMB, CIFS, SMB2, AFS, Ceph, 9p and Lustre, from linux/magic.h.
        let remote: Set<UInt32> = [
            0x6969, 0x517B, 0xFF53_4D42, 0xFE53_4D42, 0x5346_414F, 0x00C3_6400, 0x0102_1997, 0x0BD0_0BD0,
        ]
        guard remote.contains(csqlite_file_system(folder)) else { return }
        throw DataSourceError(
            .storeUnreadable,
            "\(main) is on a network file system, where processes cannot share a store. Put the store on a local disk.")
        #endif
    }
}

extension StoreOpening {
    /// Opens a store that other members have open. Makes no changes to the store.
    ///
    /// - Throws: `storeInUse`, with the names of the other members, if the store needs a change.
    func runWithoutChanges(_ notifier: MemberNotifier) throws(DataSourceError) -> Result {
        guard try files.mainExists() else { throw DataSourceError(storeMoved: files.main) }
        let connection = try connect()
        do throws(DataSourceError) {
            try checkRights(connection)
            let probe = try StoreProbe(connection)
            let others = { () throws(DataSourceError) in
                try SharedTables.members(connection).filter { notifier.isAlive($0.number) }
            }
            let metadata = try unchanged(probe, others)
            try requireSameHistory(metadata, others)
            try probe.check(schema)
            try connection.configureWriter(options.synchronous)
            return Result(connection: connection, metadata: metadata, startup: StoreStartup(reason: .current))
        } catch {
            connection.close(copyingLog: false)
            throw error
        }
    }

    private func unchanged(
        _ probe: StoreProbe, _ others: () throws(DataSourceError) -> [StoreMember]
    ) throws(DataSourceError) -> StoreMetadata {
        let found = try probe.found()
        guard SharedTables.names.allSatisfy({ name in probe.contents.contains { $0.name == name } }) else {
            throw SharedTables.damaged(probe.connection)
        }
        let decision = try StartupDecision(found, options.identity, options.resetPolicy)
        guard case .proceed(let metadata) = decision, metadata.format == StoreSchema.format else {
            let migrates = if case .migrate = decision { true } else { false }
            throw DataSourceError(files.main, openIn: try others(), cannotBe: migrates ? "migrated" : "reset")
        }
        return metadata
    }
}
