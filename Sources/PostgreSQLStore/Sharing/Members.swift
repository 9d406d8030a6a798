#if PostgreSQL
internal import RowStore

/// Those who have the store open. Each says again and again that it lives.
struct Members {
    private let connection: Connection
    private let table: String

    /// How often a member says that it lives, and after what time without it counts as ended, in milliseconds.
    static let beat: Int32 = 1500
    static let silence: Int64 = 6000
    /// How long those are remembered that have ended, for who asks who made a save.
    private static let memory = "1 hour"

    init(_ connection: Connection, _ schema: PostgreSQLSchema) {
        self.connection = connection
        table = schema.term(PostgreSQLSchema.members)
    }

    /// All that are known, with how long ago each has said that it lives, in milliseconds.
    func all() throws(DataSourceError) -> [(member: StoreMember, silence: Int64)] {
        let found = try connection.rows(
            """
            SELECT number, process, name, (extract(epoch FROM clock_timestamp() - seen) * 1000)::bigint FROM \(table) \
            ORDER BY number
            """)
        return (0..<found.rowCount).map { row in
            let member = StoreMember(
                number: found.integer(row, 0), processID: Int32(truncatingIfNeeded: found.integer(row, 1)),
                name: found.text(row, 2))
            return (member, found.integer(row, 3))
        }
    }

    func alive() throws(DataSourceError) -> [StoreMember] {
        try all().filter { $0.silence < Members.silence }.map(\.member)
    }

    func add(_ member: StoreMember) throws(DataSourceError) {
        try connection.run("DELETE FROM \(table) WHERE seen < clock_timestamp() - interval '\(Members.memory)'")
        _ = try connection.rows(
            "INSERT INTO \(table) VALUES ($1, $2::bigint::integer, $3, clock_timestamp(), 0, 0)",
            [WireValue(member.number), WireValue(Int64(member.processID)), WireValue(member.name)])
    }

    /// Says that a member lives.
    ///
    /// - Returns: False if nobody knows it any more.
    func beat(_ number: Int64) throws(DataSourceError) -> Bool {
        let beaten = try connection.rows(
            "UPDATE \(table) SET seen = clock_timestamp() WHERE number = $1", [WireValue(number)])
        return beaten.changedRows == 1
    }

    /// The member has closed the store.
    func remove(_ number: Int64) throws(DataSourceError) {
        _ = try connection.rows(
            "UPDATE \(table) SET seen = clock_timestamp() - interval '1 minute' WHERE number = $1",
            [WireValue(number)])
    }
}
#endif
