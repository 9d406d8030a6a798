#if PostgreSQL
internal import RowStore

/// The leases, the waiting tickets, and the living members, as the store has them.
struct LeaseFacts {
    let desk: LeaseDesk
    /// How often the leases have changed.
    let version: Int64
    /// In milliseconds, as the times of the desk: of this process's clock, or of the server's for people to read.
    let now: Int64
    private let members: [Members.Known]
    /// The numbers of those that have reported lately.
    private let alive: Set<Int64>

    /// - Parameter heartbeats: What this process has seen so far; nil to go by the server's clock.
    init(
        _ connection: Connection, _ schema: PostgreSQLSchema, _ heartbeats: Heartbeats?
    ) throws(DataSourceError) {
        let results = try connection.pipeline([
            Request(
                """
                SELECT leases, \(LeaseFacts.serverTime) \
                FROM \(schema.term(PostgreSQLSchema.feed))
                """),
            Request("SELECT entity, holder, epoch, source, since FROM \(schema.term(PostgreSQLSchema.leases))"),
            Request(
                """
                SELECT number, member, entities, source, since, answered \
                FROM \(schema.term(PostgreSQLSchema.tickets)) ORDER BY number
                """),
        ])
        guard results[0].rowCount == 1 else { throw DataSourceError(damagedSharing: schema.name) }
        version = results[0].integer(0, 0)
        let all = try Members(connection, schema).all()
        members = all
        let (leases, waiting) = (results[1], results[2])
        guard let heartbeats else {
            now = results[0].integer(0, 1)
            alive = Set(all.filter { $0.report != nil && $0.silence < Members.silence }.map(\.member.number))
            desk = LeaseFacts.desk(of: leases, waiting: waiting, version: version, firsts: nil)
            return
        }
        let names =
            (0..<leases.rowCount).map { LeaseFacts.name(lease: $0, leases) }
            + (0..<waiting.rowCount).map { "\(waiting.integer($0, 0))" }
        var reports: [Int64: Int64] = [:]
        for known in all { reports[known.member.number] = known.report }
        let seen = heartbeats.note(reports, names)
        now = seen.now
        alive = Set(seen.silence.filter { $0.value < .milliseconds(Members.silence) }.keys)
        desk = LeaseFacts.desk(of: leases, waiting: waiting, version: version, firsts: seen.firsts)
    }

    /// Another one for each holder.
    private static func name(lease row: Int, _ found: QueryResult) -> String {
        "\(found.text(row, 0))\n\(found.integer(row, 2))\n\(found.integer(row, 1))"
    }

    /// - Parameter firsts: When this process has first seen each lease and each ticket; nil to go by what the store says.
    private static func desk(
        of found: QueryResult, waiting: QueryResult, version: Int64, firsts: [String: Int64]?
    ) -> LeaseDesk {
        var leases: [String: LeaseDesk.Lease] = [:]
        for row in 0..<found.rowCount {
            leases[found.text(row, 0)] = LeaseDesk.Lease(
                holder: found.optionalInteger(row, 1), epoch: found.integer(row, 2), source: found.text(row, 3),
                since: firsts?[name(lease: row, found)] ?? found.integer(row, 4))
        }
        let tickets = (0..<waiting.rowCount).map { row in
            LeaseDesk.Ticket(
                number: waiting.integer(row, 0), member: waiting.integer(row, 1),
                entities: lines(waiting.text(row, 2)), source: waiting.text(row, 3),
                since: firsts?["\(waiting.integer(row, 0))"] ?? waiting.integer(row, 4),
                answered: Set(lines(waiting.text(row, 5)).compactMap { Int64($0) }))
        }
        return LeaseDesk(leases: leases, tickets: tickets, nextTicket: version + 1)
    }

    private static func lines(_ text: String) -> [String] { text.split(separator: "\n").map(String.init) }

    /// For people to read.
    private static let serverTime = "(extract(epoch FROM clock_timestamp()) * 1000)::bigint"

    /// Whether a member has reported lately.
    func isAlive(_ number: Int64) -> Bool { alive.contains(number) }

    func table(
        _ desk: LeaseDesk, _ layout: ModelLayout, asSeenBy own: Int64, isChanged: Bool = false
    ) -> LeaseTable {
        desk.table(isChanged ? version + 1 : version, members.map(\.member), layout, asSeenBy: own)
    }

    /// The entities of which members have lost the leases without giving them back.
    ///
    /// - Parameter own: The member that made the changes, which may give back its own.
    func losses(_ changed: LeaseDesk, but own: Int64) -> [Int64: Set<String>] {
        var lost: [Int64: Set<String>] = [:]
        for (entity, lease) in desk.leases where changed.leases[entity]?.holder != lease.holder {
            if let holder = lease.holder, holder != own { lost[holder, default: []].insert(entity) }
        }
        return lost
    }

    /// Writes the differences from these facts, in the transaction in which they were read.
    func write(_ changed: LeaseDesk, _ connection: Connection, _ schema: PostgreSQLSchema) throws(DataSourceError) {
        var requests: [Request] = []
        for (entity, lease) in changed.leases where lease != desk.leases[entity] {
            requests.append(
                Request(
                    """
                    INSERT INTO \(schema.term(PostgreSQLSchema.leases)) VALUES ($1, $2, $3, $4, \(LeaseFacts.serverTime)) \
                    ON CONFLICT (entity) DO UPDATE SET holder = excluded.holder, epoch = excluded.epoch, \
                    source = excluded.source, since = excluded.since
                    """,
                    [
                        WireValue(entity), lease.holder.map { WireValue($0) } ?? .null, WireValue(lease.epoch),
                        WireValue(lease.source),
                    ]))
        }
        let tickets = schema.term(PostgreSQLSchema.tickets)
        for ticket in desk.tickets where !changed.tickets.contains(where: { $0.number == ticket.number }) {
            requests.append(Request("DELETE FROM \(tickets) WHERE number = $1", [WireValue(ticket.number)]))
        }
        for ticket in changed.tickets where !desk.tickets.contains(ticket) {
            requests.append(
                Request(
                    """
                    INSERT INTO \(tickets) VALUES ($1, $2, $3, $4, \(LeaseFacts.serverTime), $5) \
                    ON CONFLICT (number) DO UPDATE SET answered = excluded.answered
                    """,
                    [
                        WireValue(ticket.number), WireValue(ticket.member),
                        WireValue(ticket.entities.joined(separator: "\n")), WireValue(ticket.source),
                        WireValue(ticket.answered.sorted().map(String.init).joined(separator: "\n")),
                    ]))
        }
        requests.append(
            Request(
                "UPDATE \(schema.term(PostgreSQLSchema.feed)) SET leases = $1", [WireValue(version + 1)]))
        _ = try connection.pipeline(requests)
    }
}
#endif
