#if PostgreSQL
internal import RowStore

/// What this member needs of the store before it can write: keys, and leases.
extension Writer {
    /// Keys that no other member gives; fewer, or none, at the end of all keys.
    func reserveKeys(_ count: Int64) throws(DataSourceError) -> Range<Int64> {
        // Greater than what another program has inserted, too.
        let highest = schema.tables.compactMap { $0?.name }.map { name in
            "(SELECT least(coalesce(max(\(PostgreSQLTable.keyName.quoted)), 0), \(Int64.max - 1)) + 1 FROM \(name))"
        }
        let keys = schema.term(PostgreSQLSchema.keys)
        // A bound that no store has given is damage, or the end of the keys while an object had the highest one.
        let next = "CASE WHEN next > \(Int64(1) << 62) THEN 1 ELSE next END"
        let first = "greatest(\(next), 1\(highest.map { ", \($0)" }.joined()))"
        return try reconnecting { (connection) throws(DataSourceError) in
            let results = try connection.pipeline([
                Request("BEGIN"),
                // Nobody may get them again.
                Request("SET LOCAL synchronous_commit = on"),
                Request("SELECT next FROM \(keys) FOR UPDATE"),
                Request(
                    """
                    WITH old AS (SELECT \(first) AS first FROM \(keys)) \
                    UPDATE \(keys) SET next = CASE WHEN first > \(Int64.max) - $1::bigint THEN \(Int64.max) \
                    ELSE first + $1::bigint END FROM old RETURNING first, next
                    """, [WireValue(count)]),
                Request("COMMIT"),
            ])
            guard results[3].rowCount == 1 else { throw DataSourceError(damagedSharing: opening.options.name) }
            return results[3].integer(0, 0)..<max(results[3].integer(0, 0), results[3].integer(0, 1))
        }
    }

    /// Changes the desk of leases in one transaction, and calls the others.
    func changeLeases(_ change: (inout LeaseDesk, LeaseFacts) -> Void) throws(DataSourceError) -> LeaseTable {
        try reconnecting { (connection) throws(DataSourceError) in
            try connection.transaction { () throws(DataSourceError) in
                try connection.run("SET LOCAL synchronous_commit = on")
                try connection.run("SELECT 1 FROM \(schema.term(PostgreSQLSchema.feed)) FOR UPDATE")
                let facts = try LeaseFacts(connection, schema)
                var desk = facts.desk
                change(&desk, facts)
                if desk == facts.desk { return facts.table(desk, schema.layout, asSeenBy: membership.member.number) }
                try facts.write(desk, connection, schema)
                try connection.run(notifySQL)
                return facts.table(desk, schema.layout, asSeenBy: membership.member.number, isChanged: true)
            }
        }
    }
}
#endif
