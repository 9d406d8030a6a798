/// Who may write which entities, and who waits for that.
public struct LeaseTable: Sendable {
    /// The right to write the objects of an entity, until another container asks for it.
    public struct Lease: Sendable {
        /// The entity's place in ``ModelLayout/entities``.
        public let entity: Int
        /// The member that has it.
        public let holder: StoreMember
        /// It changes whenever another container gets the lease.
        public let epoch: Int64
        /// The data source for which it was taken.
        public let source: String

        /// Makes a lease.
        public init(entity: Int, holder: StoreMember, epoch: Int64, source: String) {
            self.entity = entity
            self.holder = holder
            self.epoch = epoch
            self.source = source
        }
    }

    /// A member that waits for leases, all of them at once.
    public struct Ticket: Sendable {
        /// Lower numbers come first.
        public let number: Int64
        /// Who waits.
        public let member: StoreMember
        /// The places of the entities in ``ModelLayout/entities``.
        public let entities: [Int]
        /// The data source that waits.
        public let source: String
        /// Whether a holder has confirmed that it knows of the ticket.
        public let isAnswered: Bool

        /// Makes a ticket.
        public init(number: Int64, member: StoreMember, entities: [Int], source: String, isAnswered: Bool) {
            self.number = number
            self.member = member
            self.entities = entities
            self.source = source
            self.isAnswered = isAnswered
        }
    }

    /// It grows with each change.
    public var version: Int64
    /// The leases that are held.
    public var leases: [Lease]
    /// The waiting tickets, the oldest first.
    public var tickets: [Ticket]

    /// Makes a table.
    public init(version: Int64, leases: [Lease], tickets: [Ticket]) {
        self.version = version
        self.leases = leases
        self.tickets = tickets
    }
}

/// How long leases are kept and waited for.
public struct LeaseTimes: Sendable {
    /// How long a holder that saves again and again keeps a lease while others wait for it; 20 milliseconds by default.
    public var turn: Duration = .milliseconds(20)
    /// How long a holder may save nothing before it hands over a lease for which others wait; 2 milliseconds by default.
    public var pause: Duration = .milliseconds(2)
    /// How long a batch waits for its leases. 10 seconds by default.
    public var patience: Duration = .seconds(10)
    /// How long a holder that cannot hand a lease over yet may take to confirm that. After that it counts as stopped; 5 seconds
    /// by default.
    public var answer: Duration = .seconds(5)

    /// The usual times.
    public init() {}
}

extension ChangeSet {
    /// Makes sure that no other container has got a lease since the save was made under it.
    ///
    /// - Parameter epochs: The epochs of the leases that the container has now, by entity.
    /// - Throws: `leaseLost`.
    package func checkLeases(_ epochs: [Int: Int64], _ layout: ModelLayout) throws(DataSourceError) {
        guard let lost = leases.first(where: { epochs[$0.entity] != $0.epoch }) else { return }
        throw DataSourceError(lostLeaseOf: layout.entities[lost.entity].name)
    }
}

extension ModelLayout {
    /// The epochs of a member's leases, by entity.
    ///
    /// - Parameter rows: The names of the entities, and the epochs.
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
    /// The error for changing a store as a whole while others have it open.
    ///
    /// - Parameters:
    ///   - store: The subject of the sentence.
    ///   - action: A participle, such as "reset".
    package init(_ store: String, openIn others: [StoreMember], cannotBe action: String) {
        let names = others.map(\.description).joined(separator: ", ")
        self.init(
            .storeInUse,
            "\(store) cannot be \(action) while others have it open"
                + (names.isEmpty ? "" : ": \(names)") + ". Close it there, and try again.")
    }

    /// The error for work that was done under a lease that another container may have got since.
    package init(lostLeaseOf entity: String) {
        self.init(
            .leaseLost,
            "This process no longer has the lease of \(entity): it was stopped or did not answer for so long that another process got "
                + "it, or the server has lost its newest commits. Saves that were not in the store yet are refused. Save again.",
            entityName: entity)
    }
}
