#if PostgreSQL
internal import ManagedModel
internal import RowStore

/// Reserves keys and checks leases, before this member writes.
extension Writer {
    /// Reserves keys that no other member uses. Near the highest possible key, returns fewer keys or none.
    func reserveKeys(_ count: Int64) throws(DataSourceError) -> Range<Int64> {
        let keys = schema.qualified(PostgreSQLSchema.keys)
        let first = schema.firstFreeKey
        return try withReconnect { (connection) throws(DataSourceError) in
            let results = try connection.pipeline([
                Request("BEGIN"),
                // Commit durably, so that no other member ever gets the same keys.
                Request("SET LOCAL synchronous_commit = on"),
                Request("SELECT next FROM \(keys) FOR UPDATE"),
                Request(
                    """
                    WITH old AS (SELECT \(first) AS first FROM \(keys)) \
                    UPDATE \(keys) SET next = CASE WHEN first > \(Int64.max) - $1::bigint THEN \(Int64.max) \
                    ELSE first + $1::bigint END FROM old RETURNING first, next
                    """, [WireValue(count)]),
                // The server must know the member's earlier reservation; otherwise the loss of that reservation would never be
                // noticed.
                Request(
                    """
                    UPDATE \(schema.qualified(PostgreSQLSchema.writers)) SET keys = (SELECT next FROM \(keys)) \
                    WHERE member = $1 AND token = $2 AND keys >= $3
                    """, membership.values + [WireValue(self.keys.bound)]),
            ])
            guard results[3].rowCount == 1 else { throw DataSourceError(damagedSharing: opening.options.name) }
            guard results[4].changedRows == 1 else {
                try connection.run("ROLLBACK")
                try rejoin()
                throw DataSourceError(goneMemberOf: opening.options.name)
            }
            try connection.run("COMMIT")
            let range = results[3].integer(0, 0)..<max(results[3].integer(0, 0), results[3].integer(0, 1))
            self.keys.add(range)
            return range
        }
    }

    /// Checks that the server knows the keys that this member has reserved. If the server has lost a reservation and given keys
    /// to other members, inserts with these keys are refused.
    func checkKeys(_ connection: Connection) throws(DataSourceError) {
        if keys.bound == 0 { return }
        let (writers, table) = (schema.qualified(PostgreSQLSchema.writers), schema.qualified(PostgreSQLSchema.keys))
        try connection.transaction { () throws(DataSourceError) in
            try connection.run("SET LOCAL synchronous_commit = on")
            let next = try connection.rows("SELECT next FROM \(table) FOR UPDATE")
            let own = try connection.rows(
                "SELECT keys FROM \(writers) WHERE member = $1 AND token = $2", membership.values)
            guard next.rowCount == 1, own.rowCount == 1 else {
                throw DataSourceError(damagedSharing: opening.options.name)
            }
            let known = own.integer(0, 0)
            guard let start = keys.start(after: known) else { return }
            if next.integer(0, 0) > start {
                // The keys stay lost even if the answer to the commit is lost: unused keys are better than a duplicate key.
                keys.lose(after: known)
                mustReload = true
            }
            let bound = [WireValue(keys.bound)]
            _ = try connection.rows("UPDATE \(table) SET next = $1 WHERE next < $1", bound)
            _ = try connection.rows(
                "UPDATE \(writers) SET keys = $3 WHERE member = $1 AND token = $2", membership.values + bound)
        }
    }

    /// Checks that the server has all saves of this member. If the server has lost a save, the member releases its
    /// leases. Pending saves, which can depend on lost rows, are then refused, and every batch reads its rows again.
    func checkHistory(_ connection: Connection) throws(DataSourceError) {
        try connection.transaction { () throws(DataSourceError) in
            try connection.run("SET LOCAL synchronous_commit = on")
            try Members(connection, schema).lockFeed(membership, opening.options.name)
            let own = try connection.rows(
                "SELECT max(number) FROM \(schema.qualified(PostgreSQLSchema.saves)) WHERE member = $1 AND token = $2",
                membership.values)
            guard own.rowCount == 1, !own.isNull(0, 0) else {
                throw DataSourceError(damagedSharing: opening.options.name)
            }
            guard own.integer(0, 0) < committedNumber else { return }
            committedNumber = own.integer(0, 0)
            mustReload = true
            try giveUpLeases(connection)
        }
    }

    /// Handles a loss of saves on the server. If the server has lost saves of this member, releases the member's leases
    /// now instead of before the next save.
    func recordOtherHistory() {
        _ = try? withReconnect { (_) throws(DataSourceError) in try rejoin() }
    }

    /// Releases all leases of this member. The feed must be locked.
    func giveUpLeases(_ connection: Connection) throws(DataSourceError) {
        try connection.run("UPDATE \(schema.qualified(PostgreSQLSchema.feed)) SET leases = leases + 1")
        _ = try connection.rows(
            "UPDATE \(schema.qualified(PostgreSQLSchema.leases)) SET holder = NULL WHERE holder = $1",
            [WireValue(membership.member.number)])
        hasEventsForOthers = true
    }

    /// - Throws: `leaseLost` if the save inserts rows with lost keys.
    func checkKeys(_ changes: ChangeSet) throws(DataSourceError) {
        if !keys.hasLost { return }
        for entity in changes.entities where entity.inserted.contains(where: { keys.isLost($0.key) }) {
            throw DataSourceError(
                .leaseLost,
                "The server has lost its newest commits, including the keys that it reserved for this process. Saves that inserted "
                    + "objects with these keys are refused. Save again.",
                entityName: schema.layout.entities[entity.entity].name)
        }
    }
}

/// Changes the leases over a separate connection, so that a member can release leases for other members even during a
/// long commit.
///
/// Guarded by: ``PostgreSQLStore``.
final class LeaseWriter {
    private let opening: StoreOpening
    private let schema: PostgreSQLSchema
    private let membership: Membership
    private let counters: PostgreSQLCounters
    private let heartbeats: Heartbeats
    private var connection: Connection?

    init(
        _ opening: StoreOpening, _ schema: PostgreSQLSchema, membership: Membership, counters: PostgreSQLCounters,
        heartbeats: Heartbeats
    ) {
        self.opening = opening
        self.schema = schema
        self.membership = membership
        self.counters = counters
        self.heartbeats = heartbeats
    }

    func close() {
        connection?.close()
        connection = nil
    }

    /// Changes the leases in one transaction.
    ///
    /// - Returns: The leases, and whether other members must be notified.
    func change(_ change: LeaseChange) throws(DataSourceError) -> (table: LeaseTable, isChanged: Bool) {
        do throws(DataSourceError) { return try changeOnce(change) } catch {
            guard error.isConnectionLoss || error.isConflict else { throw error }
            if connection?.isUsable != true { close() }
            return try changeOnce(change)
        }
    }

    private func changeOnce(_ change: LeaseChange) throws(DataSourceError) -> (table: LeaseTable, isChanged: Bool) {
        let connection = try connected()
        let own = membership.member.number
        return try connection.checkingGeneration(schema, opening.options.name) { () throws(DataSourceError) in
            try connection.transaction { () throws(DataSourceError) in
                try connection.run("SET LOCAL synchronous_commit = on")
                try Members(connection, schema).lockFeed(membership, opening.options.name)
                let snapshot = try LeaseSnapshot(connection, schema, heartbeats, own: own)
                let arbiter = change(snapshot)
                if arbiter != snapshot.arbiter {
                    try snapshot.write(arbiter, connection, schema)
                    for (member, entities) in snapshot.losses(arbiter, excluding: own).sorted(by: { $0.key < $1.key }) {
                        try Members(connection, schema).endTransactions(
                            of: member, writing: schema.tables(of: entities))
                    }
                }
                return (snapshot.table(of: arbiter, schema.layout, asSeenBy: own), arbiter != snapshot.arbiter)
            }
        }
    }

    private func connected() throws(DataSourceError) -> Connection {
        if let connection, connection.isUsable { return connection }
        let made = try Connection(opening.options.target)
        made.counters = counters
        try opening.configureWriter(made)
        made.tracing = opening.options.tracing
        connection = made
        return made
    }
}

extension PostgreSQLSchema {
    /// The names of the tables of the entities and of their links.
    fileprivate func tables(of entities: Set<String>) -> [String] {
        layout.entities.indices.filter { index in
            layout.objectEntities(index).contains { entities.contains(layout.entities[$0].name) }
        }.compactMap { tables[$0]?.bareName }
    }
}
#endif
