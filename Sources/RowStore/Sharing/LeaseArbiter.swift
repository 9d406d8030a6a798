/// Decides which member gets which lease. This type is a pure value, without files and clocks.
///
/// Tickets get leases in the order of their numbers. A ticket gets either all its leases or none. While a ticket waits, no
/// later ticket gets a lease that the waiting ticket needs. So no ticket waits forever.
package struct LeaseArbiter: Sendable, Equatable {
    package struct Lease: Sendable, Equatable {
        /// The number of the member that has the lease; nil if the lease is free.
        package var holder: Int64?
        /// A number that identifies the period for which one holder has the lease. Each new holder gets another epoch.
        package var epoch: Int64
        /// The data source that owns the entity or the scope.
        package var source: String
        /// The time at which the holder got the lease, in milliseconds.
        package var since: Int64

        package init(holder: Int64?, epoch: Int64, source: String, since: Int64) {
            self.holder = holder
            self.epoch = epoch
            self.source = source
            self.since = since
        }
    }

    package struct Ticket: Sendable, Equatable {
        package let number: Int64
        package let member: Int64
        package let entities: [String]
        /// The data source whose batch waits.
        package let source: String
        /// The data source that owns each of ``entities``, in the same order; empty if all belong to ``source``.
        package let owners: [String]
        /// The time at which the ticket was drawn, in milliseconds.
        package var since: Int64
        /// The numbers of the members that have confirmed that they know of the ticket.
        package var answered: Set<Int64>

        package init(
            number: Int64, member: Int64, entities: [String], source: String, owners: [String] = [], since: Int64,
            answered: Set<Int64>
        ) {
            self.number = number
            self.member = member
            self.entities = entities
            self.source = source
            self.owners = owners.count == entities.count && owners.contains { $0 != source } ? owners : []
            self.since = since
            self.answered = answered
        }
    }

    /// The leases, by the name of the entity. The key of a scope's lease begins with ``scopePrefix``.
    package private(set) var leases: [String: Lease]
    /// The waiting tickets, in the order of their numbers.
    package private(set) var tickets: [Ticket]

    /// The number of the next ticket. No earlier ticket had this number.
    private let nextTicket: Int64

    package init(leases: [String: Lease] = [:], tickets: [Ticket] = [], nextTicket: Int64) {
        self.leases = leases
        self.tickets = tickets
        self.nextTicket = nextTicket
    }

    // MARK: Asking

    /// Adds a ticket, which is served after all other tickets. Store the arbiter, and read it again, before you add another
    /// ticket: until then, the next ticket would have the same number.
    ///
    /// - Parameters:
    ///   - source: The data source whose batch waits.
    ///   - owners: The data source that owns each entity, in the order of the entities; empty if all belong to `source`.
    /// - Returns: The number of the ticket.
    package mutating func addTicket(
        _ entities: [String], for source: String, owners: [String] = [], by member: Int64, at now: Int64
    ) -> Int64 {
        tickets.append(
            Ticket(
                number: nextTicket, member: member, entities: entities, source: source, owners: owners, since: now,
                answered: []))
        return nextTicket
    }

    package mutating func withdraw(_ number: Int64, by member: Int64) {
        tickets.removeAll { $0.number == number && $0.member == member }
    }

    /// Records that a member knows of the tickets. The member has a lease that the tickets wait for.
    package mutating func confirm(_ numbers: [Int64], by member: Int64) {
        for index in tickets.indices where numbers.contains(tickets[index].number) {
            tickets[index].answered.insert(member)
        }
    }

    package mutating func release(_ entities: [String], by member: Int64) {
        for entity in entities where leases[entity]?.holder == member { leases[entity]?.holder = nil }
    }

    /// Releases all leases of a member, including those of scopes, and withdraws its tickets. Called before the member closes the
    /// store.
    package mutating func leave(_ member: Int64) {
        tickets.removeAll { $0.member == member }
        for (name, lease) in leases where lease.holder == member { leases[name]?.holder = nil }
    }

    /// Whether a member has a lease or a ticket.
    package func involves(_ member: Int64) -> Bool {
        leases.values.contains { $0.holder == member } || tickets.contains { $0.member == member }
    }

    // MARK: Deciding

    /// Removes the tickets and leases of members that are not alive. Then gives leases to each ticket that can get all
    /// its leases.
    ///
    /// - Parameters:
    ///   - now: The current time, in milliseconds.
    ///   - answerTimeout: The time within which a holder must answer, in milliseconds. After this time, the holder counts as
    ///     stopped.
    ///   - isAlive: Returns whether the member with the given number is alive.
    package mutating func grantLeases(at now: Int64, answerTimeout: Int64, isAlive: (Int64) -> Bool) {
        tickets.removeAll { !isAlive($0.member) }
        for (entity, lease) in leases {
            if let holder = lease.holder, !isAlive(holder) { leases[entity]?.holder = nil }
            // There may be many scopes, so a free lease of a scope is forgotten.
            if leases[entity]?.holder == nil, LeaseArbiter.isScope(entity) { leases[entity] = nil }
        }
        var claimed: Set<String> = []
        var waiting: [Ticket] = []
        for ticket in tickets {
            let isServed = ticket.entities.allSatisfy { entity in
                if claimed.contains(entity) { return false }
                guard let lease = leases[entity], let holder = lease.holder, holder != ticket.member else {
                    return true
                }
                return !ticket.answered.contains(holder) && now - max(ticket.since, lease.since) > answerTimeout
            }
            if isServed {
                for (index, entity) in ticket.entities.enumerated() {
                    let owner = ticket.owners.isEmpty ? ticket.source : ticket.owners[index]
                    give(entity, of: owner, to: ticket.member, now)
                }
            } else {
                claimed.formUnion(ticket.entities)
                waiting.append(ticket)
            }
        }
        tickets = waiting
    }

    /// The highest integer that every JSON reader represents exactly.
    private static let highestEpoch: Int64 = (1 << 53) - 1

    private mutating func give(_ entity: String, of source: String, to member: Int64, _ now: Int64) {
        if leases[entity]?.holder == member { return }
        // Use a random epoch. If a server loses its newest commits, a counter could repeat an epoch.
        let epoch = Int64.random(in: 1...LeaseArbiter.highestEpoch)
        leases[entity] = Lease(holder: member, epoch: epoch, source: source, since: now)
    }
}

/// The leases of scopes. The member that has the lease of a scope requests the scope's list from the server. Other members do
/// not draw tickets: they look again until the lease is free, or until they have waited too long.
extension LeaseArbiter {
    /// The beginning of the key of a scope's lease. The prefix contains a space, so no entity has a name that begins with the
    /// prefix.
    private static let scopePrefix = "scope "

    /// Whether a lease is the lease of a scope.
    package static func isScope(_ name: String) -> Bool { name.hasPrefix(scopePrefix) }

    /// Whether another living member has the lease of a scope.
    package func isHeld(scope name: String, byOtherThan member: Int64, _ isAlive: (Int64) -> Bool) -> Bool {
        epoch(ofScope: name, heldByOtherThan: member, isAlive) != nil
    }

    /// Returns the epoch of the lease of a scope if another living member has the lease; nil otherwise.
    package func epoch(
        ofScope name: String, heldByOtherThan member: Int64, _ isAlive: (Int64) -> Bool
    ) -> Int64? {
        guard let lease = leases[LeaseArbiter.scopePrefix + name], let holder = lease.holder, holder != member,
            isAlive(holder)
        else { return nil }
        return lease.epoch
    }

    /// Takes the lease of a scope, whoever has it.
    ///
    /// - Returns: The epoch of the lease.
    package mutating func take(scope name: String, for source: String, by member: Int64, at now: Int64) -> Int64 {
        let epoch = Int64.random(in: 1...LeaseArbiter.highestEpoch)
        leases[LeaseArbiter.scopePrefix + name] = Lease(holder: member, epoch: epoch, source: source, since: now)
        return epoch
    }

    /// Releases the lease of a scope, unless another member has taken it since.
    package mutating func release(scope name: String, epoch: Int64) {
        let name = LeaseArbiter.scopePrefix + name
        if leases[name]?.epoch == epoch { leases[name] = nil }
    }
}

extension LeaseArbiter {
    /// Returns the leases and tickets in the form that the container uses.
    package func table(
        _ version: Int64, _ members: [StoreMember], _ layout: ModelLayout, asSeenBy own: Int64
    ) -> LeaseTable {
        let members = Dictionary(members.map { ($0.number, $0) }) { first, _ in first }
        func member(_ number: Int64) -> StoreMember {
            members[number] ?? StoreMember(ended: number)
        }
        return LeaseTable(
            version: version,
            leases: leases.compactMap { name, lease in
                guard let entity = layout.entity(named: name), let holder = lease.holder else { return nil }
                return LeaseTable.Lease(
                    entity: entity.index, holder: member(holder), epoch: lease.epoch, source: lease.source)
            },
            tickets: tickets.map { ticket in
                LeaseTable.Ticket(
                    number: ticket.number, member: member(ticket.member),
                    entities: ticket.entities.compactMap { layout.entity(named: $0)?.index }, source: ticket.source,
                    isAnswered: ticket.answered.contains(own))
            })
    }
}

extension StoreMember {
    /// Makes a member that has ended. Only the number of the member is known.
    init(ended number: Int64) { self.init(number: number, processID: 0, name: "ended") }
}
