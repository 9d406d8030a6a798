#if PostgreSQL
internal import RowStore

/// What this member needs of the store before it can write: keys, and leases.
extension Writer {
    /// No store has given so many keys.
    private static let highestBound: Int64 = 1 << 62

    /// Keys that no other member gives; none if there are none left.
    func reserveKeys(_ count: Int64) throws(DataSourceError) -> Range<Int64> {
        let connection = try connected()
        let highest = schema.tables.compactMap { $0?.name }.map { name in
            "(SELECT coalesce(max(\(PostgreSQLTable.keyName.quoted)), 0) FROM \(name))"
        }
        // Greater than what another program has inserted, too.
        // One that no store has given is damage, or the end of the keys while an object had the highest one.
        let next = "CASE WHEN next > \(Writer.highestBound) THEN 1 ELSE next END"
        let bound = ([next] + highest.map { "least(\($0), $2::bigint - 1) + 1" }).joined(separator: ", ")
        let reserved = try connection.rows(
            """
            UPDATE \(schema.term(PostgreSQLSchema.keys)) SET next = least(greatest(\(bound)), $2::bigint - $1::bigint) + $1::bigint RETURNING next
            """, [WireValue(count), WireValue(Int64.max)])
        guard reserved.rowCount == 1 else { throw DataSourceError(damagedSharing: opening.options.name) }
        let end = reserved.integer(0, 0)
        if end == Int64.max { return end..<end }
        return end - count..<end
    }

    /// Changes the desk of leases in one transaction, and calls the others.
    func changeLeases(_ change: (inout LeaseDesk, LeaseFacts) -> Void) throws(DataSourceError) -> LeaseTable {
        let connection = try connected()
        do throws(DataSourceError) {
            return try connection.transaction { () throws(DataSourceError) in
                try connection.run("SELECT 1 FROM \(schema.term(PostgreSQLSchema.feed)) FOR UPDATE")
                let facts = try LeaseFacts(connection, schema)
                var desk = facts.desk
                change(&desk, facts)
                if desk == facts.desk { return facts.table(desk, schema.layout, asSeenBy: member.number) }
                try facts.write(desk, connection, schema)
                try connection.run(notifySQL)
                return facts.table(desk, schema.layout, asSeenBy: member.number, isChanged: true)
            }
        } catch {
            if !connection.isUsable { self.connection = nil }
            throw error
        }
    }
}
#endif
