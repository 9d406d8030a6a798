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

/// The result for a member that tries to take the lease of a scope.
package enum ScopeLease: Sendable, Hashable {
    case taken(epoch: Int64)
    /// Another member has the lease.
    case held(epoch: Int64)
}

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
        try takeLeases(entities, for: source, owners: [])
    }

    /// Takes leases for a batch that may change entities of several data sources.
    ///
    /// - Parameter owners: The name of the data source that owns each entity, in the order of the entities; empty if all belong to
    ///   `source`.
    package func takeLeases(
        _ entities: [Int], for source: String, owners: [String]
    ) throws(DataSourceError) -> (ticket: Int64?, table: LeaseTable) {
        let (names, own) = (names(entities), member.number)
        // The change may be tried several times. Only the last number is valid.
        let ticketNumber = Guarded<Int64>(0)
        let table = try change { arbiter, snapshot in
            let number = arbiter.addTicket(names, for: source, owners: owners, by: own, at: snapshot.now)
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
        // Usually nothing changes. Then do not write.
        let snapshot = try leaseSnapshot()
        guard updated(snapshot, after: confirm) != snapshot.arbiter else {
            return snapshot.table(layout, asSeenBy: own)
        }
        return try change(confirm)
    }

    /// Takes the lease of a scope, unless another living member has it.
    ///
    /// - Parameter overtaken: The epoch of a holder that hangs. The lease is taken from this holder, but not from a later one. So
    ///   if several members wait for the holder, only one of them takes the lease. Nil to take the lease from nobody.
    package func takeLease(
        ofScope name: String, for source: String, overtaking overtaken: Int64? = nil
    ) throws(DataSourceError) -> ScopeLease {
        let own = member.number
        let held: @Sendable (LeaseSnapshot) -> ScopeLease? = { snapshot in
            let epoch = snapshot.arbiter.epoch(ofScope: name, heldByOtherThan: own, snapshot.isAlive)
            return epoch.flatMap { $0 == overtaken ? nil : .held(epoch: $0) }
        }
        // Read the leases first, because a change of the leases would write.
        if let held = held(try leaseSnapshot()) { return held }
        // The change may be tried several times. Only the last result is valid.
        let result = Guarded<ScopeLease?>(nil)
        _ = try change { arbiter, snapshot in
            let lease =
                held(snapshot)
                ?? .taken(epoch: arbiter.take(scope: name, for: source, by: own, at: snapshot.now))
            result.withLock { $0 = lease }
        }
        return result.withLock(\.self) ?? .held(epoch: 0)
    }

    package func releaseLease(ofScope name: String, epoch: Int64) throws(DataSourceError) {
        _ = try change { arbiter, _ in arbiter.release(scope: name, epoch: epoch) }
    }

    /// The change by which this member releases all its leases and withdraws its tickets, before it closes the store.
    package var departure: LeaseChange {
        let own = member.number
        return { snapshot in updated(snapshot) { arbiter, _ in arbiter.leave(own) } }
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
