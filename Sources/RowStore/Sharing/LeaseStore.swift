/// The leases, tickets and members. All of them come from the same state of the store.
package struct LeaseSnapshot: Sendable {
    package let arbiter: LeaseArbiter
    /// The number of lease changes so far.
    package let version: Int64
    /// The current time of the arbiter's clock, in milliseconds.
    package let now: Int64
    package let members: [StoreMember]
    /// Returns whether the member with the given number is alive.
    package let isAlive: @Sendable (Int64) -> Bool

    package init(
        arbiter: LeaseArbiter, version: Int64, now: Int64, members: [StoreMember],
        isAlive: @escaping @Sendable (Int64) -> Bool
    ) {
        self.arbiter = arbiter
        self.version = version
        self.now = now
        self.members = members
        self.isAlive = isAlive
    }

    /// - Parameters:
    ///   - changed: The arbiter after a change; nil for the current arbiter.
    ///   - own: The number of the member that reads the table.
    package func table(
        of changed: LeaseArbiter? = nil, _ layout: ModelLayout, asSeenBy own: Int64
    ) -> LeaseTable {
        let shown = changed ?? arbiter
        return shown.table(shown == arbiter ? version : version + 1, members, layout, asSeenBy: own)
    }
}

/// A function that returns the arbiter after a change.
package typealias LeaseChange = @Sendable (LeaseSnapshot) -> LeaseArbiter

/// A store that keeps a ``LeaseArbiter`` in tables beside its rows.
package protocol LeaseStore: StoreSharing {
    var layout: ModelLayout { get }

    func leaseSnapshot() throws(DataSourceError) -> LeaseSnapshot

    /// Changes the leases in one transaction. If the arbiter has changed, counts the change and notifies the other members.
    func changeLeases(_ change: LeaseChange) throws(DataSourceError) -> LeaseTable
}

extension LeaseStore {
    package func leases() throws(DataSourceError) -> LeaseTable {
        try leaseSnapshot().table(layout, asSeenBy: member.number)
    }

    package func takeLeases(
        _ entities: [Int], for source: String
    ) throws(DataSourceError) -> (ticket: Int64?, table: LeaseTable) {
        let (names, own) = (names(entities), member.number)
        // The change may be tried several times. Only the last number is valid.
        let ticketNumber = Guarded<Int64>(0)
        let table = try change { arbiter, snapshot in
            let number = arbiter.addTicket(names, for: source, by: own, at: snapshot.now)
            ticketNumber.withLock { $0 = number }
        }
        let ticket = ticketNumber.withLock { $0 }
        let waits = table.tickets.contains { $0.number == ticket && $0.member.number == own }
        return (waits ? ticket : nil, table)
    }

    package func releaseLeases(_ entities: [Int]) throws(DataSourceError) -> LeaseTable {
        let (names, own) = (names(entities), member.number)
        return try change { arbiter, _ in arbiter.release(names, by: own) }
    }

    package func settleLeases(answered: [Int64], withdrawn: Int64?) throws(DataSourceError) -> LeaseTable {
        let own = member.number
        let confirm: @Sendable (inout LeaseArbiter, LeaseSnapshot) -> Void = { arbiter, _ in
            arbiter.confirm(answered, by: own)
            if let withdrawn { arbiter.withdraw(withdrawn, by: own) }
        }
        // Usually nothing changes, and nothing is written.
        let snapshot = try leaseSnapshot()
        guard updated(snapshot, after: confirm) != snapshot.arbiter else {
            return snapshot.table(layout, asSeenBy: own)
        }
        return try change(confirm)
    }

    /// Takes the lease of a scope.
    ///
    /// - Parameter isForced: Whether to take the lease even if another living member has it.
    /// - Returns: The epoch of the lease; nil if another member has the lease.
    package func takeLease(
        ofScope name: String, for source: String, isForced: Bool
    ) throws(DataSourceError) -> Int64? {
        let own = member.number
        let isHeld: @Sendable (LeaseSnapshot) -> Bool = { snapshot in
            !isForced && snapshot.arbiter.isHeld(scope: name, byOtherThan: own, snapshot.isAlive)
        }
        // This check writes nothing.
        if isHeld(try leaseSnapshot()) { return nil }
        // The change may be tried several times. Only the last epoch is valid.
        let epoch = Guarded<Int64?>(nil)
        _ = try change { arbiter, snapshot in
            let taken = isHeld(snapshot) ? nil : arbiter.take(scope: name, for: source, by: own, at: snapshot.now)
            epoch.withLock { $0 = taken }
        }
        return epoch.withLock(\.self)
    }

    package func releaseLease(ofScope name: String, epoch: Int64) throws(DataSourceError) {
        _ = try change { arbiter, _ in arbiter.release(scope: name, epoch: epoch) }
    }

    private func change(
        _ change: @Sendable (inout LeaseArbiter, LeaseSnapshot) -> Void
    ) throws(DataSourceError) -> LeaseTable {
        try changeLeases { updated($0, after: change) }
    }

    private func updated(_ snapshot: LeaseSnapshot, after change: (inout LeaseArbiter, LeaseSnapshot) -> Void)
        -> LeaseArbiter
    {
        var arbiter = snapshot.arbiter
        change(&arbiter, snapshot)
        let own = member.number
        arbiter.grantLeases(at: snapshot.now, answerTimeout: Int64(leaseTimes.answer / .milliseconds(1))) { number in
            number == own || snapshot.isAlive(number)
        }
        return arbiter
    }

    private func names(_ entities: [Int]) -> [String] { entities.map { layout.entities[$0].name } }
}
