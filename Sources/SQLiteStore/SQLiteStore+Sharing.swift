package import RowStore

extension SQLiteStore: LeaseStore {
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

    package var layout: ModelLayout { schema.layout }

    package func leaseFacts() throws(DataSourceError) -> LeaseFacts {
        try shared.reading { reader throws(DataSourceError) in try reader.leases() }
    }

    package func changeLeases(_ change: LeaseChange) throws(DataSourceError) -> LeaseTable {
        try writer.withLock { (writer) throws(DataSourceError) in try openWriter(&writer).changeLeases(change) }
    }
}

extension Writer {
    /// Keys that no other member gives.
    func reserveKeys(_ count: Int64) throws(DataSourceError) -> Range<Int64> {
        try transaction { () throws(DataSourceError) in
            // A bound that is too high is corrected when the store is opened alone, because others may have keys now that no
            // row shows.
            guard case .integer(let stored)? = try connection.values(StoreMetadata.selectFirstFreeKeySQL).first?.first,
                (1...KeyBound.limit).contains(stored)
            else { throw SharedTables.damaged(connection) }
            let start = KeyBound.checked(stored, highestKey: try connection.highestKey(schema))
            let end = start > Int64.max - count ? Int64.max : start + count
            _ = try connection.values(StoreMetadata.setFirstFreeKeySQL, [.integer(end)])
            return start..<end
        }
    }

    func changeLeases(_ change: LeaseChange) throws(DataSourceError) -> LeaseTable {
        guard let sharing else { throw DataSourceError.storeClosed }
        return try transaction { () throws(DataSourceError) in
            let facts = try LeaseFacts(connection, version: sharing.leaseVersion, isAlive: sharing.bell.isAlive)
            let desk = change(facts)
            if desk != facts.desk {
                try facts.write(desk, connection)
                sharing.noteLeaseChange()
            }
            return facts.table(of: desk, schema.layout, asSeenBy: sharing.member.number)
        }
    }
}
