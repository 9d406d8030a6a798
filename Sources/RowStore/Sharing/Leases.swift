/// Who may write which entities, and who waits to.
package struct LeaseTable: Sendable {
    /// The right to write the objects of an entity, until somebody else asks for it.
    package struct Lease: Sendable {
        /// The entity's number.
        package let entity: Int
        package let holder: StoreMember
        /// Another one whenever another container gets it.
        package let epoch: Int64
        /// The data source it was taken for.
        package let source: String

        package init(entity: Int, holder: StoreMember, epoch: Int64, source: String) {
            self.entity = entity
            self.holder = holder
            self.epoch = epoch
            self.source = source
        }
    }

    /// Somebody who waits for leases, all of them at once.
    package struct Ticket: Sendable {
        /// Lower ones come first.
        package let number: Int64
        package let member: StoreMember
        package let entities: [Int]
        package let source: String
        /// Whether a holder has said that it knows of it.
        package let isAnswered: Bool

        package init(number: Int64, member: StoreMember, entities: [Int], source: String, isAnswered: Bool) {
            self.number = number
            self.member = member
            self.entities = entities
            self.source = source
            self.isAnswered = isAnswered
        }
    }

    /// It grows with each change.
    package var version: Int64
    package var leases: [Lease]
    /// The oldest first.
    package var tickets: [Ticket]

    package init(version: Int64, leases: [Lease], tickets: [Ticket]) {
        self.version = version
        self.leases = leases
        self.tickets = tickets
    }
}

/// A lease as it was when a save was made.
package struct LeaseEpoch: Sendable, Hashable {
    package let entity: Int
    package let epoch: Int64

    package init(entity: Int, epoch: Int64) {
        self.entity = entity
        self.epoch = epoch
    }
}

/// How long leases are kept and waited for.
package struct LeaseTimes: Sendable {
    /// The least time that a lease is kept once it was taken.
    package var minimumHold: Duration = .milliseconds(5)
    /// How long a batch waits for its leases.
    package var patience: Duration = .seconds(10)
    /// How long a holder that cannot hand a lease over yet may take to say so. After that it counts as stopped.
    package var answer: Duration = .seconds(5)

    package init() {}
}

extension ChangeSet {
    /// Makes sure that nobody else has got a lease since the save was made under it.
    ///
    /// - Parameter epochs: Those of the leases that the container has now, by entity.
    /// - Throws: `leaseLost`.
    package func checkLeases(_ epochs: [Int: Int64], _ layout: ModelLayout) throws(DataSourceError) {
        guard let lost = leases.first(where: { epochs[$0.entity] != $0.epoch }) else { return }
        let name = layout.entities[lost.entity].name
        throw DataSourceError(
            .leaseLost,
            "This process was stopped, or did not answer, for so long that another process has taken \(name) over. Saves "
                + "that were not in the store yet are refused. Save again.", entityName: name)
    }
}
