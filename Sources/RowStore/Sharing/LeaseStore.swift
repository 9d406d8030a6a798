/// The leases, tickets and members. All of them come from the same state of the store.
package struct LeaseFacts: Sendable {
    package let desk: LeaseDesk
    /// The number of lease changes so far.
    package let version: Int64
    /// The current time of the desk's clock, in milliseconds.
    package let now: Int64
    package let members: [StoreMember]
    /// Returns whether the member with the given number is alive.
    package let isAlive: @Sendable (Int64) -> Bool

    package init(
        desk: LeaseDesk, version: Int64, now: Int64, members: [StoreMember],
        isAlive: @escaping @Sendable (Int64) -> Bool
    ) {
        self.desk = desk
        self.version = version
        self.now = now
        self.members = members
        self.isAlive = isAlive
    }

    /// - Parameters:
    ///   - changed: The desk after a change; nil for the current desk.
    ///   - own: The number of the member that reads the table.
    package func table(
        of changed: LeaseDesk? = nil, _ layout: ModelLayout, asSeenBy own: Int64
    ) -> LeaseTable {
        let shown = changed ?? desk
        return shown.table(shown == desk ? version : version + 1, members, layout, asSeenBy: own)
    }
}

/// A function that returns the desk after a change.
package typealias LeaseChange = @Sendable (LeaseFacts) -> LeaseDesk

/// A store that keeps a ``LeaseDesk`` in tables beside its rows.
package protocol LeaseStore: StoreSharing {
    var layout: ModelLayout { get }

    func leaseFacts() throws(DataSourceError) -> LeaseFacts

    /// Changes the leases in one transaction. If the desk has changed, counts the change and notifies the other members.
    func changeLeases(_ change: LeaseChange) throws(DataSourceError) -> LeaseTable
}

extension LeaseStore {
    package func leases() throws(DataSourceError) -> LeaseTable {
        try leaseFacts().table(layout, asSeenBy: member.number)
    }

    package func takeLeases(
        _ entities: [Int], for source: String
    ) throws(DataSourceError) -> (ticket: Int64?, table: LeaseTable) {
        let (names, own) = (names(entities), member.number)
        // The change may be tried several times. Only the last number is valid.
        let drawn = Guarded<Int64>(0)
        let table = try change { desk, facts in
            let number = desk.draw(names, for: source, by: own, at: facts.now)
            drawn.withLock { $0 = number }
        }
        let ticket = drawn.withLock { $0 }
        let waits = table.tickets.contains { $0.number == ticket && $0.member.number == own }
        return (waits ? ticket : nil, table)
    }

    package func releaseLeases(_ entities: [Int]) throws(DataSourceError) -> LeaseTable {
        let (names, own) = (names(entities), member.number)
        return try change { desk, _ in desk.release(names, by: own) }
    }

    package func settleLeases(answered: [Int64], withdrawn: Int64?) throws(DataSourceError) -> LeaseTable {
        let own = member.number
        let confirm: @Sendable (inout LeaseDesk, LeaseFacts) -> Void = { desk, _ in
            desk.answer(answered, by: own)
            if let withdrawn { desk.withdraw(withdrawn, by: own) }
        }
        // Usually nothing changes, and nothing is written.
        let facts = try leaseFacts()
        guard settled(facts, after: confirm) != facts.desk else { return facts.table(layout, asSeenBy: own) }
        return try change(confirm)
    }

    private func change(
        _ change: @Sendable (inout LeaseDesk, LeaseFacts) -> Void
    ) throws(DataSourceError) -> LeaseTable {
        try changeLeases { settled($0, after: change) }
    }

    private func settled(_ facts: LeaseFacts, after change: (inout LeaseDesk, LeaseFacts) -> Void) -> LeaseDesk {
        var desk = facts.desk
        change(&desk, facts)
        let own = member.number
        desk.settle(at: facts.now, patience: Int64(leaseTimes.answer / .milliseconds(1))) { number in
            number == own || facts.isAlive(number)
        }
        return desk
    }

    private func names(_ entities: [Int]) -> [String] { entities.map { layout.entities[$0].name } }
}
