internal import Foundation
internal import RowStore

/// Reading the leases from the store, and writing what has changed.
extension LeaseDesk {
    /// - Parameter version: How often the leases have changed. It grows with each change, and so do the tickets' numbers.
    /// - Throws: `storeCorrupt` for rows that no member has written.
    init(_ connection: Connection, version: Int64) throws(DataSourceError) {
        var leases: [String: Lease] = [:]
        for row in try connection.values(
            "SELECT \"entity\", \"holder\", \"epoch\", \"source\", \"since\" FROM \"_leases\"")
        {
            guard case .text(let entity) = row[0], let epoch = SharedTables.number(row[2]),
                case .text(let source) = row[3], let since = SharedTables.number(row[4]),
                row[1] == .null || SharedTables.number(row[1]) != nil
            else { throw SharedTables.damaged(connection) }
            leases[entity] = Lease(
                holder: SharedTables.number(row[1]), epoch: epoch, source: source, since: since)
        }
        var tickets: [Ticket] = []
        for row in try connection.values(
            """
            SELECT "number", "member", "entities", "source", "since", "answered" FROM "_tickets" ORDER BY "number"
            """)
        {
            guard let number = SharedTables.number(row[0]), let member = SharedTables.number(row[1]),
                case .text(let entities) = row[2], case .text(let source) = row[3],
                let since = SharedTables.number(row[4]), case .text(let answered) = row[5]
            else { throw SharedTables.damaged(connection) }
            tickets.append(
                Ticket(
                    number: number, member: member, entities: LeaseDesk.names(entities), source: source, since: since,
                    answered: Set(LeaseDesk.names(answered).compactMap { Int64($0) })))
        }
        self.init(leases: leases, tickets: tickets, nextTicket: version + 1)
    }

    private static func names(_ text: String) -> [String] { text.split(separator: "\n").map(String.init) }

    /// Writes the differences from another state of the leases.
    func write(_ connection: Connection, since before: LeaseDesk) throws(DataSourceError) {
        for (entity, lease) in leases where lease != before.leases[entity] {
            _ = try connection.values(
                "INSERT OR REPLACE INTO \"_leases\" (\"entity\", \"holder\", \"epoch\", \"source\", \"since\") "
                    + "VALUES (?1, ?2, ?3, ?4, ?5)",
                [
                    .text(entity), lease.holder.map { .integer($0) } ?? .null, .integer(lease.epoch),
                    .text(lease.source),
                    .integer(lease.since),
                ])
        }
        for ticket in before.tickets where !tickets.contains(where: { $0.number == ticket.number }) {
            try connection.run("DELETE FROM \"_tickets\" WHERE \"number\" = \(ticket.number)")
        }
        for ticket in tickets where !before.tickets.contains(ticket) {
            _ = try connection.values(
                "INSERT OR REPLACE INTO \"_tickets\" VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
                [
                    .integer(ticket.number), .integer(ticket.member), .text(ticket.entities.joined(separator: "\n")),
                    .text(ticket.source), .integer(ticket.since),
                    .text(ticket.answered.sorted().map(String.init).joined(separator: "\n")),
                ])
        }
    }

    /// The time that all processes of the machine share, in milliseconds.
    static var now: Int64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000
    }
}
