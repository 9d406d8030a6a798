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
