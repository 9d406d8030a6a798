#if PostgreSQL
internal import ManagedModel
internal import RowStore

/// Changes the leases, on a connection of its own: a member whose commit takes long still answers those who wait for its leases.
///
/// Guarded by: ``PostgreSQLStore``.
final class LeaseClerk {
    private let opening: StoreOpening
    private let schema: PostgreSQLSchema
    private let membership: Membership
    private let counters: PostgreSQLCounters
    private let heartbeats: Heartbeats
    private var connection: Connection?

    init(
        _ opening: StoreOpening, _ schema: PostgreSQLSchema, _ membership: Membership, _ counters: PostgreSQLCounters,
        _ heartbeats: Heartbeats
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
    /// - Returns: The leases, and whether others have to be notified.
    func change(
        _ change: (inout LeaseDesk, LeaseFacts) -> Void
    ) throws(DataSourceError) -> (table: LeaseTable, isChanged: Bool) {
        do throws(DataSourceError) { return try once(change) } catch {
            guard error.isLoss || error.isConflict else { throw error }
            if connection?.isUsable != true { close() }
            return try once(change)
        }
    }

    private func once(
        _ change: (inout LeaseDesk, LeaseFacts) -> Void
    ) throws(DataSourceError) -> (table: LeaseTable, isChanged: Bool) {
        let connection = try connected()
        let own = membership.member.number
        return try connection.ofGeneration(schema, opening.options.name) { () throws(DataSourceError) in
            try connection.transaction { () throws(DataSourceError) in
                try connection.run("SET LOCAL synchronous_commit = on")
                try Members(connection, schema).lockFeed(membership, opening.options.name)
                let facts = try LeaseFacts(connection, schema, heartbeats)
                var desk = facts.desk
                change(&desk, facts)
                if desk == facts.desk { return (facts.table(desk, schema.layout, asSeenBy: own), false) }
                try facts.write(desk, connection, schema)
                for (member, entities) in facts.losses(desk, but: own).sorted(by: { $0.key < $1.key }) {
                    try Members(connection, schema).endTransactions(of: member, writing: schema.tables(of: entities))
                }
                return (facts.table(desk, schema.layout, asSeenBy: own, isChanged: true), true)
            }
        }
    }

    private func connected() throws(DataSourceError) -> Connection {
        if let connection, connection.isUsable { return connection }
        let made = try Connection(opening.options.target)
        made.counters = counters
        try opening.settleWriter(made)
        made.tracing = opening.options.tracing
        connection = made
        return made
    }
}

extension PostgreSQLSchema {
    /// The names of the tables of entities, and of those of their links.
    fileprivate func tables(of entities: Set<String>) -> [String] {
        layout.entities.filter { entity in
            if entities.contains(entity.name) { return true }
            guard let links = entity.links, let source = layout.entity(named: links.entity) else { return false }
            let destination = source.relationships.first { $0.path == links }?.destination
            return ([source.index] + (destination.map { [$0] } ?? []))
                .contains { number in
                    layout.entities[number].concreteFamily.contains { entities.contains(layout.entities[$0].name) }
                }
        }.compactMap { tables[$0.index]?.bareName }
    }
}
#endif
