/// The leases of a shared store, and the members that wait for leases.
public struct LeaseTable: Sendable {
    /// The right to write the objects of an entity. A member keeps this right until another member requests it.
    public struct Lease: Sendable {
        /// The entity's index in ``ModelLayout/entities``.
        public let entity: Int
        /// The member that has the lease.
        public let holder: StoreMember
        /// A number that changes each time another member gets the lease.
        public let epoch: Int64
        /// The data source that owns the entity. If the holder does not know the owner, the data source whose batch took the
        /// lease.
        public let source: String

        /// Makes a lease.
        ///
        /// ```swift
        /// let lease = LeaseTable.Lease(
        ///     entity: layout.index, holder: member, epoch: 7, source: "ContactDataSource")
        /// ```
        public init(entity: Int, holder: StoreMember, epoch: Int64, source: String) {
            self.entity = entity
            self.holder = holder
            self.epoch = epoch
            self.source = source
        }
    }

    /// A member's request for leases. The member gets all requested leases together.
    public struct Ticket: Sendable {
        /// The number of the ticket. Tickets with lower numbers are served first.
        public let number: Int64
        /// The member that waits.
        public let member: StoreMember
        /// The indexes of the entities in ``ModelLayout/entities``.
        public let entities: [Int]
        /// The data source whose batch waits.
        public let source: String
        /// Whether this container has confirmed that it knows of the ticket. A container confirms a ticket only if it has one of
        /// the requested leases.
        public let isAnswered: Bool

        /// Makes a ticket.
        ///
        /// ```swift
        /// let ticket = LeaseTable.Ticket(
        ///     number: 3, member: member, entities: [layout.index],
        ///     source: "ContactDataSource", isAnswered: false)
        /// ```
        public init(number: Int64, member: StoreMember, entities: [Int], source: String, isAnswered: Bool) {
            self.number = number
            self.member = member
            self.entities = entities
            self.source = source
            self.isAnswered = isAnswered
        }
    }

    /// The version of the table. The version grows with each change.
    public var version: Int64
    /// The leases that are not free.
    public var leases: [Lease]
    /// The waiting tickets, oldest first.
    public var tickets: [Ticket]

    /// Makes a table.
    ///
    /// ```swift
    /// let table = LeaseTable(version: 8, leases: [lease], tickets: [])
    /// ```
    public init(version: Int64, leases: [Lease], tickets: [Ticket]) {
        self.version = version
        self.leases = leases
        self.tickets = tickets
    }
}

/// The times for keeping leases, and for waiting for leases.
public struct LeaseTimes: Sendable {
    /// How long a holder that saves again and again may keep a lease while others wait; 20 milliseconds by default.
    public var turn: Duration = .milliseconds(20)
    /// The time without a save after which a holder releases a lease that others wait for; 2 milliseconds by default.
    public var pause: Duration = .milliseconds(2)
    /// The longest time that a batch waits for its leases; 10 seconds by default.
    public var patience: Duration = .seconds(10)
    /// The time within which a holder must confirm a ticket if it cannot release the lease yet. Otherwise the holder counts as
    /// stopped. 5 seconds by default.
    public var answer: Duration = .seconds(5)

    /// Makes the default times.
    ///
    /// ```swift
    /// var times = LeaseTimes()
    /// times.patience = .seconds(30)
    /// ```
    public init() {}
}

extension ChangeSet {
    /// Checks that no other container has had one of the save's leases since the save was made.
    ///
    /// - Parameter epochs: The current epochs of the container's leases, by entity.
    /// - Throws: `leaseLost`.
    package func checkLeases(_ epochs: [Int: Int64], _ layout: ModelLayout) throws(DataSourceError) {
        guard let lost = leases.first(where: { epochs[$0.entity] != $0.epoch }) else { return }
        throw DataSourceError(lostLeaseOf: layout.entities[lost.entity].name)
    }
}

extension ModelLayout {
    /// Returns the epochs of a member's leases, by entity.
    ///
    /// - Parameter rows: The name of the entity and the epoch, for each lease.
    package func epochs(_ rows: [[RowValue]]) -> [Int: Int64] {
        var epochs: [Int: Int64] = [:]
        for row in rows {
            guard case .text(let name) = row[0], case .integer(let epoch) = row[1], let entity = entity(named: name)
            else { continue }
            epochs[entity.index] = epoch
        }
        return epochs
    }
}

extension DataSourceError {
    /// Makes the error for a change of a whole store while other members have the store open.
    ///
    /// - Parameters:
    ///   - store: The subject of the message's first sentence.
    ///   - action: A participle, such as "reset".
    package init(_ store: String, openIn others: [StoreMember], cannotBe action: String) {
        let names = others.map(\.description).joined(separator: ", ")
        self.init(
            .storeInUse,
            "\(store) cannot be \(action) while another process or container has the store open"
                + (names.isEmpty ? "" : ": \(names)") + ". Close the store there, and try again.")
    }

    /// Makes the error for work under a lease that another container may have had in the meantime.
    package init(lostLeaseOf entity: String) {
        self.init(
            .leaseLost,
            "This process no longer has the lease of \(entity): another process took over the lease because this process did "
                + "not answer, or the server has lost its newest commits. Saves that had not reached the store are refused. "
                + "Save again.",
            entityName: entity)
    }
}
