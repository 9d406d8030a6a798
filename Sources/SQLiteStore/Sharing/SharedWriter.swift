internal import CSQLite
internal import Foundation
internal import RowStore

/// The additional work of a writer for a shared store. A shared writer takes turns with other members, checks leases, and
/// records each save in the transaction of the save.
///
/// Guarded by: the writer.
final class SharedWriter {
    let member: StoreMember
    let writeLock: FileLock
    let notifier: MemberNotifier
    private let connection: Connection
    private let schema: StoreSchema
    private let encoding: ChangeEncoding
    /// The row of `_feed` in the current transaction; between transactions, the row after the last transaction.
    private(set) var feed: SharedTables.Feed
    /// The number of writes by all members, as of this member's last transaction.
    private var knownWrites: Int64
    /// All writes by members are numbered. This range has the numbers of this member's last writes. No other member has
    /// written between these writes.
    private var ownWrites: ClosedRange<Int64>
    /// The epochs of this member's leases, by the indexes of the entities. They were read at the lease version
    /// ``epochsVersion``.
    private var epochs: [Int: Int64] = [:]
    private var epochsVersion: Int64 = -1
    private var insertion: Statement?
    private var retention = FeedRetention()
    /// Whether the current transaction has recorded a save.
    private var hasRecordedSave = false

    init(_ connection: Connection, _ schema: StoreSchema, access: SharedAccess, feed: SharedTables.Feed) {
        self.connection = connection
        self.schema = schema
        member = access.member
        writeLock = access.writeLock
        notifier = access.notifier
        self.feed = feed
        knownWrites = feed.writes
        ownWrites = feed.writes...feed.writes
        encoding = ChangeEncoding(schema.layout)
    }

    /// Makes a writer after a reset of the store, even if the reset has failed.
    ///
    /// - Parameter isAlone: Whether no other process has the store open.
    convenience init(
        rejoining connection: Connection, _ schema: StoreSchema, _ access: SharedAccess, isAlone: Bool
    ) throws(DataSourceError) {
        let (name, number) = (access.member.name, access.member.number)
        let joined = try access.writeLock.withLock { () throws(DataSourceError) in
            try isAlone
                ? SharedTables.prepare(connection, as: name, number: number)
                : SharedTables.join(connection, as: name, number: number, access.notifier)
        }
        self.init(connection, schema, access: access, feed: joined.feed)
    }

    func end() { insertion = nil }

    // MARK: Transactions

    /// Reads the row of `_feed`. Called at the start of a transaction.
    ///
    /// - Returns: Whether another member has written since this member's last transaction.
    func begin() throws(DataSourceError) -> Bool {
        hasRecordedSave = false
        let statement = try connection.statement(.selectFeed, SharedTables.selectFeedSQL)
        feed = try SharedTables.feed(statement, connection)
        return feed.writes != knownWrites
    }

    /// Writes the row of `_feed`. Called before the commit of a transaction.
    func finish() throws(DataSourceError) {
        feed.writes += 1
        try forgetOldSaves()
        let statement = try connection.statement(
            .updateFeed,
            "UPDATE \"_feed\" SET \"position\" = ?1, \"lowest\" = ?2, \"writes\" = ?3, \"leases\" = ?4")
        for (index, value) in [feed.position, feed.lowest, feed.writes, feed.leases].enumerated() {
            sqlite3_bind_int64(statement.handle, Int32(index + 1), value)
        }
        let code = statement.step()
        sqlite3_reset(statement.handle)
        guard code == SQLITE_DONE else { throw connection.error(code, while: "writing") }
    }

    /// Counts the write. Called after the commit of a transaction.
    func didCommit() {
        let number = feed.writes
        ownWrites = number == ownWrites.upperBound + 1 ? ownWrites.lowerBound...number : number...number
        knownWrites = number
    }

    /// Returns the row of `_feed` if all writes after a given write are writes of this member. Returns nil if another member
    /// may have written, or if the row cannot be read.
    ///
    /// - Parameter writes: The number of writes by all members, up to and including the given write.
    func feed(ifUnchangedByOthersSince writes: Int64) -> SharedTables.Feed? {
        guard writes >= ownWrites.lowerBound - 1,
            let statement = try? connection.statement(.selectFeed, SharedTables.selectFeedSQL),
            let found = try? SharedTables.feed(statement, connection), found.writes == ownWrites.upperBound
        else { return nil }
        return found
    }

    /// Notifies the other members. Called after the commit, because other members cannot see the changes before the
    /// commit.
    func notify() { notifier.notify(feed.writes) }

    // MARK: Saves

    /// Checks that this member still has the leases that the save needs.
    ///
    /// - Throws: `leaseLost` if another member has taken one of the leases.
    func check(_ changes: ChangeSet) throws(DataSourceError) {
        if changes.leases.isEmpty { return }
        if epochsVersion != feed.leases { try readEpochs() }
        try changes.checkLeases(epochs, schema.layout)
    }

    private func readEpochs() throws(DataSourceError) {
        epochs = schema.layout.epochs(
            try connection.values(
                "SELECT \"entity\", \"epoch\" FROM \"_leases\" WHERE \"holder\" = ?1", [.integer(member.number)]))
        epochsVersion = feed.leases
    }

    /// A number that changes each time the leases change.
    var leaseVersion: Int64 { feed.leases }

    /// The position of the last recorded save. If a save is rolled back, the writer restores the position from before that
    /// save.
    var position: Int64 {
        get { feed.position }
        set { feed.position = newValue }
    }

    /// Records the changes of a save.
    func append(_ changes: ChangeSet) throws(DataSourceError) {
        if changes.entities.isEmpty { return }
        feed.position += 1
        let statement = try insertionStatement()
        let words = encoding.words(changes)
        var code = statement.bind(.integer(feed.position), 1)
        code |= statement.bind(.integer(member.number), 2)
        code |= statement.bind(.integer(Int64(time(nil))), 3)
        code |= statement.bind(.integer(Int64((words?.count ?? 0) * 8)), 4)
        if let words {
            code |= statement.bind(.null, 5)
            // The words must stay in memory until the statement has run.
            code = words.withUnsafeBytes { bytes in
                code |= sqlite3_bind_blob(statement.handle, 6, bytes.baseAddress, Int32(bytes.count), nil)
                return code == SQLITE_OK ? statement.step() : code
            }
        } else {
            code |= statement.bind(.text(encoding.names(changes)), 5)
            code |= statement.bind(.null, 6)
            if code == SQLITE_OK { code = statement.step() }
        }
        statement.clear()
        // Only members assign positions. A row at this position therefore comes from another program.
        if code & 0xFF == SQLITE_CONSTRAINT { throw SharedTables.damaged(connection) }
        guard code == SQLITE_DONE else { throw connection.error(code, while: "writing") }
        hasRecordedSave = true
        retention.record(saves: 1, bytes: (words?.count ?? 0) * 8)
    }

    private func insertionStatement() throws(DataSourceError) -> Statement {
        if let insertion { return insertion }
        let statement = try connection.prepare("INSERT INTO \"_changes\" VALUES (?1, ?2, ?3, ?4, ?5, ?6)")
        insertion = statement
        return statement
    }

    /// Deletes recorded saves that are too old, and the oldest saves if there are too many saves or bytes. A member that has
    /// not read a deleted save reloads its rows.
    private func forgetOldSaves() throws(DataSourceError) {
        guard hasRecordedSave, retention.takeTurn() else { return }
        var bound = feed.position - Int64(FeedRetention.saveLimit)
        let tooLarge = try connection.values(
            """
            SELECT max("position") FROM (SELECT "position", total("size") OVER (ORDER BY "position" DESC) AS "total" \
            FROM "_changes") WHERE "total" > \(FeedRetention.byteLimit)
            """)
        if case .integer(let position)? = tooLarge.first?.first { bound = max(bound, position) }
        let tooOld = try connection.values(
            "SELECT max(\"position\") FROM \"_changes\" WHERE \"time\" < \(Int64(time(nil)) - FeedRetention.ageLimit)")
        if case .integer(let position)? = tooOld.first?.first { bound = max(bound, position) }
        bound = min(bound, feed.position)
        guard bound >= feed.lowest else { return }
        try connection.run("DELETE FROM \"_changes\" WHERE \"position\" <= \(bound)")
        feed.lowest = bound + 1
    }

    /// Counts a change of the leases in the current transaction.
    func recordLeaseChange() { feed.leases += 1 }
}

extension LeaseSnapshot {
    /// Reads the leases.
    ///
    /// - Parameter version: The number of lease changes so far.
    /// - Throws: `storeCorrupt` if a row has contents that no member can have written.
    init(
        _ connection: Connection, version: Int64, isAlive: @escaping @Sendable (Int64) -> Bool = { _ in false }
    ) throws(DataSourceError) {
        let rows = try SharedTables.leases.selects.map { select throws(DataSourceError) in
            try connection.values(select.sql)
        }
        guard let arbiter = LeaseArbiter(rows, version: version, numbers: SharedTables.numbers) else {
            throw SharedTables.damaged(connection)
        }
        // The monotonic clock is the same in all processes of the machine.
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        self.init(
            arbiter: arbiter, version: version, now: Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000,
            members: try SharedTables.members(connection), isAlive: isAlive)
    }

    /// Writes the differences between this snapshot and the changed arbiter. Must run in the transaction that has read the
    /// snapshot.
    func write(_ changed: LeaseArbiter, _ connection: Connection) throws(DataSourceError) {
        for change in SharedTables.leases.changes(from: arbiter, to: changed) {
            _ = try connection.values(change.sql, change.values)
        }
    }
}
