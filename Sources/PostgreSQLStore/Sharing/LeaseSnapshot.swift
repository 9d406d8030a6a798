#if PostgreSQL
internal import RowStore

extension LeaseSnapshot {
    /// Reads the leases, the tickets, and the living members.
    ///
    /// - Parameters:
    ///   - heartbeats: The reports that this process has seen, to measure times by its own clock. If nil, times are measured
    ///   by the server's clock, for display only.
    ///   - own: The member that asks, to find out which members have ended. If nil, a member counts as ended only after a
    ///   long silence.
    init(
        _ connection: Connection, _ schema: PostgreSQLSchema, _ heartbeats: Heartbeats?, own: Int64? = nil
    ) throws(DataSourceError) {
        let count = Request(
            "SELECT leases, \(PostgreSQLSchema.milliseconds) FROM \(schema.qualified(PostgreSQLSchema.feed))")
        let results = try connection.pipeline([count] + schema.leaseTables.selects.map { Request($0) })
        let version = results[0].rowCount == 1 ? results[0].integer(0, 0) : -1
        guard version >= 0, let arbiter = LeaseArbiter(results[1...].map(\.values), version: version) else {
            throw DataSourceError(damagedSharing: schema.name)
        }
        let known = try Members(connection, schema).all()
        let members = known.map(\.member)
        guard let heartbeats else {
            let alive = Set(known.filter { $0.report != nil && $0.silence < Members.silence }.map(\.member.number))
            self.init(arbiter: arbiter, version: version, now: results[0].integer(0, 1), members: members) {
                alive.contains($0)
            }
            return
        }
        let seen = heartbeats.record(known.reduce(into: [:]) { $0[$1.member.number] = $1.report }, arbiter.names)
        var alive = Set(seen.silence.filter { $0.value < .milliseconds(Members.silence) }.keys)
        if let own {
            let involved = Set(arbiter.leases.values.compactMap(\.holder) + arbiter.tickets.map(\.member))
            alive.subtract(
                try Members(connection, schema).endedEarly(
                    known.filter { involved.contains($0.member.number) }, besides: own))
        }
        let living = alive
        self.init(
            arbiter: arbiter.withStartTimes(at: seen.firstSeen, version), version: version, now: seen.now,
            members: members
        ) {
            living.contains($0)
        }
    }

    /// Returns the other members that lose leases by a change, with the entities of these leases.
    ///
    /// - Parameter own: The member that makes the change. The leases that this member releases are not listed.
    func losses(_ changed: LeaseArbiter, excluding own: Int64) -> [Int64: Set<String>] {
        var lost: [Int64: Set<String>] = [:]
        for (entity, lease) in arbiter.leases
        where changed.leases[entity]?.holder != lease.holder && !LeaseArbiter.isScope(entity) {
            if let holder = lease.holder, holder != own { lost[holder, default: []].insert(entity) }
        }
        return lost
    }

    /// Writes the differences between this snapshot and the changed arbiter. Must run in the transaction that has read this
    /// snapshot.
    func write(_ changed: LeaseArbiter, _ connection: Connection, _ schema: PostgreSQLSchema) throws(DataSourceError) {
        let requests = schema.leaseTables.changes(from: arbiter, to: changed).map { Request($0) }
        let count = Request(
            "UPDATE \(schema.qualified(PostgreSQLSchema.feed)) SET leases = $1", [WireValue(version + 1)])
        _ = try connection.pipeline(requests + [count])
    }
}

extension PostgreSQLSchema {
    /// The time by the server's clock, which is only displayed.
    fileprivate static let milliseconds = "(extract(epoch FROM clock_timestamp()) * 1000)::bigint"

    fileprivate var leaseTables: LeaseTables {
        LeaseTables(
            leases: qualified(PostgreSQLSchema.leases), tickets: qualified(PostgreSQLSchema.tickets),
            time: PostgreSQLSchema.milliseconds)
    }
}

extension LeaseArbiter {
    /// The names of the leases and tickets for ``Heartbeats``.
    fileprivate var names: [String] { leases.map { LeaseArbiter.name($0, $1) } + tickets.map { "\($0.number)" } }

    /// A name for the lease, which differs for each holder.
    private static func name(_ entity: String, _ lease: Lease) -> String {
        "\(entity)\n\(lease.epoch)\n\(lease.holder ?? 0)"
    }

    /// - Parameter firstSeen: The time at which this process first saw each lease and each ticket.
    fileprivate func withStartTimes(at firstSeen: [String: Int64], _ version: Int64) -> LeaseArbiter {
        var (leases, tickets) = (leases, tickets)
        for (entity, lease) in leases {
            if let first = firstSeen[LeaseArbiter.name(entity, lease)] { leases[entity]?.since = first }
        }
        for index in tickets.indices {
            if let first = firstSeen["\(tickets[index].number)"] { tickets[index].since = first }
        }
        return LeaseArbiter(leases: leases, tickets: tickets, nextTicket: version + 1)
    }
}
#endif
