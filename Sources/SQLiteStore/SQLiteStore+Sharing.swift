package import RowStore

extension SQLiteStore: StoreSharing {
    package var sharing: (any StoreSharing)? { access == nil ? nil : self }

    /// The sharing of a store. None of this is called for a store that is not shared.
    private var shared: SharedAccess {
        get throws(DataSourceError) {
            guard let access else { throw DataSourceError.storeClosed }
            return access
        }
    }

    package var member: StoreMember { access?.member ?? StoreMember(number: 0, processID: 0, name: "") }
    package var firstPosition: Int64 { access?.firstPosition ?? 0 }
    package var leaseTimes: LeaseTimes { access?.times ?? LeaseTimes() }
    package func listen(_ handler: @escaping @Sendable () -> Void) { access?.bell.listen(handler) }

    package func news(after position: Int64) throws(DataSourceError) -> SharedNews {
        try reopenIfLost()
        if let news = try quietNews() { return news }
        return try shared.reading { reader throws(DataSourceError) in try reader.news(after: position) }
    }

    /// The news if no other member has written; nil if one may have, and while a commit is under way.
    private func quietNews() throws(DataSourceError) -> SharedNews? {
        guard let writes = try shared.reading({ reader throws(DataSourceError) in reader.readWrites }) else {
            return nil
        }
        return writer.withLockIfAvailable { $0.current?.quietNews(since: writes) } ?? nil
    }

    package func reserveKeys(_ count: Int64) throws(DataSourceError) -> Range<Int64> {
        try writer.withLock { (writer) throws(DataSourceError) in try openWriter(&writer).reserveKeys(count) }
    }

    // MARK: Leases

    package func leases() throws(DataSourceError) -> LeaseTable {
        try shared.reading { reader throws(DataSourceError) in try reader.leases().table }
    }

    package func takeLeases(
        _ entities: [Int], for source: String
    ) throws(DataSourceError) -> (ticket: Int64?, table: LeaseTable) {
        let (number, own) = (Guarded<Int64>(0), member.number)
        let names = entities.map { schema.layout.entities[$0].name }
        let table = try changeLeases { desk in
            let drawn = desk.draw(names, for: source, by: own, at: LeaseDesk.now)
            number.withLock { $0 = drawn }
        }
        let drawn = number.withLock { $0 }
        let waits = table.tickets.contains { $0.number == drawn && $0.member.number == own }
        return (waits ? drawn : nil, table)
    }

    package func releaseLeases(_ entities: [Int]) throws(DataSourceError) -> LeaseTable {
        let own = member.number
        let names = entities.map { schema.layout.entities[$0].name }
        return try changeLeases { $0.release(names, by: own) }
    }

    package func settleLeases(answered: [Int64], withdrawn: Int64?) throws(DataSourceError) -> LeaseTable {
        let access = try shared
        let change: @Sendable (inout LeaseDesk) -> Void = { desk in
            desk.answer(answered, by: access.member.number)
            if let withdrawn { desk.withdraw(withdrawn, by: access.member.number) }
        }
        // Most of the time there is nothing to do, and nothing to write.
        let (before, table) = try access.reading { reader throws(DataSourceError) in try reader.leases() }
        var after = before
        change(&after)
        settle(&after, access)
        return after == before ? table : try changeLeases(change)
    }

    /// Changes the leases in one transaction, and notifies the others.
    private func changeLeases(_ change: @Sendable (inout LeaseDesk) -> Void) throws(DataSourceError) -> LeaseTable {
        let access = try shared
        return try writer.withLock { (writer) throws(DataSourceError) in
            try openWriter(&writer).changeLeases { desk in
                change(&desk)
                settle(&desk, access)
            }
        }
    }

    private func settle(_ desk: inout LeaseDesk, _ access: SharedAccess) {
        desk.settle(at: LeaseDesk.now, patience: Int64(access.times.answer / .milliseconds(1))) { number in
            number == access.member.number || access.bell.isAlive(number)
        }
    }
}

extension Writer {
    /// Keys that no other member gives.
    func reserveKeys(_ count: Int64) throws(DataSourceError) -> Range<Int64> {
        var range: Range<Int64> = 0..<0
        try transaction { () throws(DataSourceError) in
            // A bound that is too high is corrected when the store is opened alone, because others may have keys now that no
            // row shows.
            guard case .integer(let stored)? = try connection.values(StoreMetadata.selectFirstFreeKeySQL).first?.first,
                (1...KeyBound.limit).contains(stored)
            else { throw SharedTables.damaged(connection) }
            let start = KeyBound.checked(stored, highestKey: try connection.highestKey(schema))
            let end = start > Int64.max - count ? Int64.max : start + count
            _ = try connection.values(StoreMetadata.setFirstFreeKeySQL, [.integer(end)])
            range = start..<end
        }
        return range
    }

    func changeLeases(_ change: @Sendable (inout LeaseDesk) -> Void) throws(DataSourceError) -> LeaseTable {
        guard let sharing else { throw DataSourceError.storeClosed }
        var table: LeaseTable?
        try transaction { () throws(DataSourceError) in
            let before = try LeaseDesk(connection, version: sharing.leaseVersion)
            var desk = before
            change(&desk)
            if desk != before {
                try desk.write(connection, since: before)
                sharing.noteLeaseChange()
            }
            let members = try SharedTables.members(connection)
            table = desk.table(sharing.leaseVersion, members, schema.layout, asSeenBy: sharing.member.number)
        }
        guard let table else { throw DataSourceError.storeClosed }
        return table
    }
}
