internal import CSQLite
internal import Foundation
internal import RowStore

/// What a writer does more in a store that others write too: it takes turns with them, compares leases, and notes what it has
/// changed in the same transaction.
///
/// It belongs to the writer.
final class SharedWriter {
    let member: StoreMember
    let turn: FileLock
    let bell: Bell
    private let connection: Connection
    private let schema: StoreSchema
    private let encoding: ChangeEncoding
    /// As it is in the transaction that is under way, or after the last one.
    private(set) var feed: SharedTables.Feed
    /// How often members had written after this one's last transaction.
    private var knownWrites: Int64
    /// The epochs of the leases that this member has, by entity, as of a version of the leases.
    private var epochs: [Int: Int64] = [:]
    private var epochsVersion: Int64 = -1
    private var insertion: Statement?
    /// What was noted since old saves were last forgotten. A member looks with its first save: it may make few.
    private var notedSaves = SharedWriter.saveLimit / 4
    private var notedBytes = 0
    /// Whether the transaction that is under way has noted a save.
    private var hasNoted = false

    /// The most saves and bytes that are kept for members who are behind, beside what was noted since the last look.
    static let saveLimit = 4096
    static let sizeLimit = 16 << 20
    /// How long they are kept, in seconds.
    static let ageLimit: Int64 = 600

    init(_ connection: Connection, _ schema: StoreSchema, _ access: SharedAccess, _ feed: SharedTables.Feed) {
        self.connection = connection
        self.schema = schema
        member = access.member
        turn = access.turn
        bell = access.bell
        self.feed = feed
        knownWrites = feed.writes
        encoding = ChangeEncoding(schema.layout)
    }

    /// That of a store which was reset, or could not be, and is open anew.
    ///
    /// - Parameter isAlone: Whether nobody else has it open.
    convenience init(
        rejoining connection: Connection, _ schema: StoreSchema, _ access: SharedAccess, isAlone: Bool
    ) throws(DataSourceError) {
        let (name, number) = (access.member.name, access.member.number)
        let joined = try access.turn.holding { () throws(DataSourceError) in
            try isAlone
                ? SharedTables.prepare(connection, as: name, number: number)
                : SharedTables.join(connection, as: name, number: number, access.bell)
        }
        self.init(connection, schema, access, joined.feed)
    }

    func end() { insertion = nil }

    // MARK: Transactions

    /// A transaction has begun.
    ///
    /// - Returns: Whether a member has written since this one's last transaction.
    func begin() throws(DataSourceError) -> Bool {
        hasNoted = false
        let statement = try connection.statement(schema.firstFreeStatement + 7, SharedTables.selectFeedSQL)
        feed = try SharedTables.feed(statement, connection)
        return feed.writes != knownWrites
    }

    /// The transaction is about to be committed.
    func finish() throws(DataSourceError) {
        feed.writes += 1
        try forgetOldSaves()
        let statement = try connection.statement(
            schema.firstFreeStatement + 8,
            "UPDATE \"_feed\" SET \"position\" = ?1, \"lowest\" = ?2, \"writes\" = ?3, \"leases\" = ?4")
        for (place, value) in [feed.position, feed.lowest, feed.writes, feed.leases].enumerated() {
            sqlite3_bind_int64(statement.handle, Int32(place + 1), value)
        }
        let code = statement.step()
        sqlite3_reset(statement.handle)
        guard code == SQLITE_DONE else { throw connection.error(code, while: "writing") }
    }

    /// The transaction was committed.
    func didCommit() {
        knownWrites = feed.writes
    }

    /// Calls the others. It comes after the commit: who is called before finds nothing.
    func ring() { bell.ring(feed.writes) }

    // MARK: Saves

    /// - Throws: `leaseLost` if somebody else has got a lease that the save was made under.
    func check(_ changes: ChangeSet) throws(DataSourceError) {
        if changes.leases.isEmpty { return }
        if epochsVersion != feed.leases { try readEpochs() }
        try changes.checkLeases(epochs, schema.layout)
    }

    private func readEpochs() throws(DataSourceError) {
        epochs = [:]
        let rows = try connection.values(
            "SELECT \"entity\", \"epoch\" FROM \"_leases\" WHERE \"holder\" = ?1", [.integer(member.number)])
        for row in rows {
            if case .text(let name) = row[0], case .integer(let epoch) = row[1],
                let entity = schema.layout.entity(named: name)
            {
                epochs[entity.index] = epoch
            }
        }
        epochsVersion = feed.leases
    }

    /// It is another one after each change of the leases.
    var leaseVersion: Int64 { feed.leases }

    /// The position after the last save of the transaction; set to take saves back.
    var position: Int64 {
        get { feed.position }
        set { feed.position = newValue }
    }

    /// Notes what a save has changed.
    func append(_ changes: ChangeSet) throws(DataSourceError) {
        if changes.isEmpty { return }
        feed.position += 1
        let statement = try insertionStatement()
        let words = encoding.words(changes)
        var code = statement.bind(.integer(feed.position), 1)
        code |= statement.bind(.integer(member.number), 2)
        code |= statement.bind(.integer(Int64(time(nil))), 3)
        code |= statement.bind(.integer(Int64((words?.count ?? 0) * 8)), 4)
        if let words {
            code |= statement.bind(.null, 5)
            // The words have to stay where they are until they were written.
            code = words.withUnsafeBytes { bytes in
                code |= sqlite3_bind_blob(statement.handle, 6, bytes.baseAddress, Int32(bytes.count), nil)
                return code == SQLITE_OK ? statement.step() : code
            }
        } else {
            let names = changes.entities.map { schema.layout.entities[$0.entity].name }
            code |= statement.bind(.text(names.joined(separator: "\n")), 5)
            code |= statement.bind(.null, 6)
            if code == SQLITE_OK { code = statement.step() }
        }
        statement.clear()
        // Nobody else gives positions: what is there was put there by another program.
        if code & 0xFF == SQLITE_CONSTRAINT { throw SharedTables.damaged(connection) }
        guard code == SQLITE_DONE else { throw connection.error(code, while: "writing") }
        hasNoted = true
        notedSaves += 1
        notedBytes += (words?.count ?? 0) * 8
    }

    private func insertionStatement() throws(DataSourceError) -> Statement {
        if let insertion { return insertion }
        let statement = try connection.prepare("INSERT INTO \"_changes\" VALUES (?1, ?2, ?3, ?4, ?5, ?6)")
        insertion = statement
        return statement
    }

    /// Forgets saves that are old, or too many. Who has not taken them in reads anew.
    private func forgetOldSaves() throws(DataSourceError) {
        guard hasNoted, notedSaves >= SharedWriter.saveLimit / 4 || notedBytes >= SharedWriter.sizeLimit / 4 else {
            return
        }
        (notedSaves, notedBytes) = (0, 0)
        var bound = feed.position - Int64(SharedWriter.saveLimit)
        let tooLarge = try connection.values(
            """
            SELECT max("position") FROM (SELECT "position", total("size") OVER (ORDER BY "position" DESC) AS "total" \
            FROM "_changes") WHERE "total" > \(SharedWriter.sizeLimit)
            """)
        if case .integer(let position)? = tooLarge.first?.first { bound = max(bound, position) }
        let tooOld = try connection.values(
            "SELECT max(\"position\") FROM \"_changes\" WHERE \"time\" < \(Int64(time(nil)) - SharedWriter.ageLimit)")
        if case .integer(let position)? = tooOld.first?.first { bound = max(bound, position) }
        bound = min(bound, feed.position)
        guard bound >= feed.lowest else { return }
        try connection.run("DELETE FROM \"_changes\" WHERE \"position\" <= \(bound)")
        feed.lowest = bound + 1
    }

    /// The leases have changed in the transaction that is under way.
    func noteLeaseChange() { feed.leases += 1 }
}
