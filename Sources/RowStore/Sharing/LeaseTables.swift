/// The database tables with the leases and tickets of a store. A ticket is a member's request for leases.
package struct LeaseTables: Sendable {
    private let leases: String
    private let tickets: String
    private let time: String?

    /// - Parameters:
    ///   - leases: The name of the table with the leases, as SQL.
    ///   - tickets: The name of the table with the tickets, as SQL.
    ///   - time: The SQL for the time of a new row; nil to use the time of the arbiter's clock.
    package init(leases: String, tickets: String, time: String? = nil) {
        self.leases = leases
        self.tickets = tickets
        self.time = time
    }

    /// The statements that read the leases and the tickets.
    package var selects: [SQLStatement] {
        [
            SQLStatement("SELECT entity, holder, epoch, source, since FROM \(leases)"),
            SQLStatement("SELECT number, member, entities, source, answered, since FROM \(tickets) ORDER BY number"),
        ]
    }

    /// Returns the statements that write the differences between two states of the arbiter.
    package func changes(from before: LeaseArbiter, to after: LeaseArbiter) -> [SQLStatement] {
        let given = after.leases.filter { $0.value != before.leases[$0.key] }.map { entity, lease in
            insert(
                into: leases, "entity, holder, epoch, source",
                [
                    .text(entity), lease.holder.map { .integer($0) } ?? .null, .integer(lease.epoch),
                    .text(lease.source),
                ],
                since: lease.since, orUpdate: ["holder", "epoch", "source", "since"])
        }
        let forgotten = before.leases.keys.filter { after.leases[$0] == nil }.map {
            SQLStatement("DELETE FROM \(leases) WHERE entity = $1", [.text($0)])
        }
        let ended = before.tickets.filter { old in !after.tickets.contains { $0.number == old.number } }.map {
            SQLStatement("DELETE FROM \(tickets) WHERE number = $1", [.integer($0.number)])
        }
        let drawn = after.tickets.filter { !before.tickets.contains($0) }.map { ticket in
            insert(
                into: tickets, "number, member, entities, source, answered",
                [
                    .integer(ticket.number), .integer(ticket.member), .text(ticket.entities.joined(separator: "\n")),
                    .text(([ticket.source] + ticket.owners).joined(separator: "\n")),
                    .text(ticket.answered.sorted().map(String.init).joined(separator: "\n")),
                ], since: ticket.since, orUpdate: ["answered"])
        }
        return given + forgotten + ended + drawn
    }

    /// - Parameter columns: The names of the columns. The first one is the key column.
    private func insert(
        into table: String, _ columns: String, _ values: [RowValue], since: Int64, orUpdate changed: [String]
    ) -> SQLStatement {
        let values = time == nil ? values + [.integer(since)] : values
        let expressions = values.indices.map { "$\($0 + 1)" } + [time].compactMap(\.self)
        return SQLStatement(
            "INSERT INTO \(table) (\(columns), since) VALUES (\(expressions.joined(separator: ", "))) "
                + "ON CONFLICT (\(columns.prefix { $0 != "," })) DO UPDATE SET "
                + changed.map { "\($0) = excluded.\($0)" }.joined(separator: ", "), values)
    }
}

extension LeaseArbiter {
    /// Makes the arbiter from the rows of the tables.
    ///
    /// - Parameters:
    ///   - rows: The results of ``LeaseTables/selects``.
    ///   - version: The number of lease changes so far. The next ticket gets this number plus 1.
    ///   - numbers: The range of the numbers that members can have written.
    /// - Returns: Nil if a row has contents that no member can have written.
    package init?(
        _ rows: [[[RowValue]]], version: Int64, numbers: ClosedRange<Int64> = .min ... .max
    ) {
        func integer(_ value: RowValue) -> Int64? {
            if case .integer(let number) = value, numbers.contains(number) { number } else { nil }
        }
        func lines(_ text: String) -> [String] { text.split(separator: "\n").map(String.init) }
        var leases: [String: Lease] = [:]
        for row in rows[0] {
            guard case .text(let entity) = row[0], let epoch = integer(row[2]), case .text(let source) = row[3],
                let since = integer(row[4]), row[1] == .null || integer(row[1]) != nil
            else { return nil }
            leases[entity] = Lease(holder: integer(row[1]), epoch: epoch, source: source, since: since)
        }
        var tickets: [Ticket] = []
        for row in rows[1] {
            guard let number = integer(row[0]), let member = integer(row[1]), case .text(let entities) = row[2],
                case .text(let source) = row[3], case .text(let answered) = row[4], let since = integer(row[5])
            else { return nil }
            // The first line is the data source whose batch waits. The others are the owners of the entities.
            let sources = lines(source)
            tickets.append(
                Ticket(
                    number: number, member: member, entities: lines(entities), source: sources.first ?? "",
                    owners: Array(sources.dropFirst()), since: since,
                    answered: Set(lines(answered).compactMap { Int64($0) })))
        }
        self.init(leases: leases, tickets: tickets, nextTicket: version + 1)
    }
}
