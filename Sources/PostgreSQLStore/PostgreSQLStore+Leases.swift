#if PostgreSQL
package import RowStore

/// Who may write what.
extension PostgreSQLStore {
    package func leases() throws(DataSourceError) -> LeaseTable {
        let facts = try facts()
        return facts.table(facts.desk, options.layout, asSeenBy: member.number)
    }

    private func facts() throws(DataSourceError) -> LeaseFacts {
        try follower.feeding { (feed) throws(DataSourceError) in try feed.leases() }
    }

    package func takeLeases(
        _ entities: [Int], for source: String
    ) throws(DataSourceError) -> (ticket: Int64?, table: LeaseTable) {
        let drawn = Guarded<Int64>(0)
        let (names, own) = (names(entities), member.number)
        let table = try changeLeases { desk, facts in
            let number = desk.draw(names, for: source, by: own, at: facts.now)
            drawn.withLock { $0 = number }
        }
        let number = drawn.withLock { $0 }
        let waits = table.tickets.contains { $0.number == number && $0.member.number == own }
        return (waits ? number : nil, table)
    }

    package func releaseLeases(_ entities: [Int]) throws(DataSourceError) -> LeaseTable {
        let (names, own) = (names(entities), member.number)
        return try changeLeases { desk, _ in desk.release(names, by: own) }
    }

    package func settleLeases(answered: [Int64], withdrawn: Int64?) throws(DataSourceError) -> LeaseTable {
        let own = member.number
        let change: @Sendable (inout LeaseDesk, LeaseFacts) -> Void = { desk, _ in
            desk.answer(answered, by: own)
            if let withdrawn { desk.withdraw(withdrawn, by: own) }
        }
        // Most of the time there is nothing to do, and nothing to write.
        let facts = try facts()
        var after = facts.desk
        change(&after, facts)
        settle(&after, facts)
        if after == facts.desk { return facts.table(after, options.layout, asSeenBy: own) }
        return try changeLeases(change)
    }

    /// Changes the leases in one transaction, and notifies the others.
    private func changeLeases(
        _ change: @Sendable (inout LeaseDesk, LeaseFacts) -> Void
    ) throws(DataSourceError) -> LeaseTable {
        try follower.inTime { () throws(DataSourceError) in
            let (table, isChanged) = try clerk.withLockInTime { (clerk) throws(DataSourceError) in
                guard let clerk else { throw DataSourceError.storeClosed }
                return try clerk.change { desk, facts in
                    change(&desk, facts)
                    settle(&desk, facts)
                }
            }
            if isChanged { follower.notifyOthers() }
            return table
        }
    }

    private func settle(_ desk: inout LeaseDesk, _ facts: LeaseFacts) {
        let patience = Int64(options.leaseTimes.answer / .milliseconds(1))
        desk.settle(at: facts.now, patience: patience) { $0 == member.number || facts.isAlive($0) }
    }

    private func names(_ entities: [Int]) -> [String] { entities.map { options.layout.entities[$0].name } }
}
#endif
