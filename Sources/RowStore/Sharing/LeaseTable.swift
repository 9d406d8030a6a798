/// The leases of a shared store, and the members that wait for leases.
public struct LeaseTable: Sendable {
    /// The right to write the objects of an entity, until another container requests the right.
    public struct Lease: Sendable {
        /// The entity's index in ``ModelLayout/entities``.
        public let entity: Int
        /// The member that has the lease.
        public let holder: StoreMember
        /// A number that changes whenever another container gets the lease.
        public let epoch: Int64
        /// The data source that took the lease.
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

    /// A member's request for leases. The member gets all of them at once.
    public struct Ticket: Sendable {
        /// The number of the ticket. Tickets with lower numbers come first.
        public let number: Int64
        /// The member that waits.
        public let member: StoreMember
        /// The indexes of the entities in ``ModelLayout/entities``.
        public let entities: [Int]
        /// The data source that waits.
        public let source: String
        /// Whether this container, which has a lease, has confirmed that it knows of the ticket.
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

    /// The version of the table, which grows with each change.
    public var version: Int64
    /// The leases that a member has.
    public var leases: [Lease]
    /// The waiting tickets, the oldest first.
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

/// Times for keeping leases and waiting for them.
public struct LeaseTimes: Sendable {
    /// How long a holder that keeps saving may keep a lease while others wait; 20 milliseconds by default.
    public var turn: Duration = .milliseconds(20)
    /// After how long without a save a holder hands over a lease for which others wait; 2 milliseconds by default.
    public var pause: Duration = .milliseconds(2)
    /// How long a batch waits for its leases; 10 seconds by default.
    public var patience: Duration = .seconds(10)
    /// How long a holder that cannot hand over a lease yet may take to confirm the ticket. After that the holder counts as
    /// stopped; 5 seconds by default.
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
    /// Throws if another container has had a lease of the save since the save was made.
    ///
    /// - Parameter epochs: The present epochs of the container's leases, by entity.
    /// - Throws: `leaseLost`.
    package func checkLeases(_ epochs: [Int: Int64], _ layout: ModelLayout) throws(DataSourceError) {
        guard let lost = leases.first(where: { epochs[$0.entity] != $0.epoch }) else { return }
        throw DataSourceError(lostLeaseOf: layout.entities[lost.entity].name)
    }
}

extension ModelLayout {
    /// The epochs of a member's leases, by entity.
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
    /// The error for changing a whole store while other members have the store open.
    ///
    /// - Parameters:
    ///   - store: The subject of the sentence.
    ///   - action: A participle, such as "reset".
    package init(_ store: String, openIn others: [StoreMember], cannotBe action: String) {
        let names = others.map(\.description).joined(separator: ", ")
        self.init(
            .storeInUse,
            "\(store) cannot be \(action) while another process or container has the store open"
                + (names.isEmpty ? "" : ": \(names)") + ". Close the store there, and try again.")
    }

    /// The error for work under a lease that another container may have had since.
    package init(lostLeaseOf entity: String) {
        self.init(
            .leaseLost,
            "This process no longer has the lease of \(entity): another process took over the lease because this process did "
                + "not answer, or the server has lost its newest commits. Saves that had not reached the store are refused. "
                + "Save again.",
            entityName: entity)
    }
}
