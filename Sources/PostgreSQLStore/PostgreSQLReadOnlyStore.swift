#if PostgreSQL
package import RowStore

/// A store that is opened read-only: with a role that can only read the tables, or on a standby.
///
/// This store follows the saves of members, but is not a member: no member waits for this store, and a reset ignores this
/// store. After a reset, reads of the opened store throw `storeReset`.
package final class PostgreSQLReadOnlyStore: PersistentStore {
    /// The result of opening the store.
    package let startup = StoreStartup(reason: .current)
    package let firstPosition: Int64
    package let member = StoreMember(number: noMember, processID: 0, name: "a reader")
    package let keepsHistory: Bool
    let follower: StoreFollower
    private let layout: ModelLayout

    /// A number that no member has.
    private static let noMember: Int64 = -1

    /// Opens the store without making or changing anything.
    ///
    /// - Throws: `storeNotFound` if there is no store; `modelChanged` if the store was made for another model or database
    ///   key. If the server cannot be used, the same errors as when the store is opened for writing.
    package static func open(_ options: PostgreSQLOptions) throws(DataSourceError) -> PostgreSQLReadOnlyStore {
        var options = options
        options.isReadOnly = true
        let opened = try ReadOnlyOpening(options: options).run()
        // Use the same server for all connections, because different standbys can have different states.
        options.server = opened.server
        return PostgreSQLReadOnlyStore(options, opened)
    }

    private init(_ options: PostgreSQLOptions, _ opened: ReadOnlyOpening.Result) {
        layout = options.layout
        firstPosition = opened.position
        keepsHistory = opened.keepsHistory
        follower = StoreFollower(options, opened.schema, membership: nil, counters: PostgreSQLCounters())
    }

    package var isReadOnly: Bool { true }
    package var firstFreeKey: Int64 { 1 }

    package func close() { follower.close() }

    package func commit(_ group: [ChangeSet]) throws(DataSourceError) -> CommitOutcome {
        throw DataSourceError.storeReadOnly
    }

    package func reset(didEmpty: () -> Void) throws(DataSourceError) -> StoreStartup {
        throw DataSourceError.storeReadOnly
    }
}

extension PostgreSQLReadOnlyStore: ScopeStore {}

extension PostgreSQLReadOnlyStore: FollowingStore {
    package func changeConsumer(_ name: String, _ change: ConsumerChange) throws(DataSourceError) -> HistoryPosition? {
        let known = try readingHistory { history throws(DataSourceError) in try history.consumer(name) }
        switch change {
        case .register, .resume: if let known { return known }
        case .move, .remove: break
        }
        throw DataSourceError.storeReadOnly
    }

    package func readFeed(after position: Int64) throws(DataSourceError) -> FeedPage {
        try follower.withFeed { (feed) throws(DataSourceError) in try feed.readFeed(after: position) }
    }

    package func leases() throws(DataSourceError) -> LeaseTable {
        try follower.withFeed { (feed) throws(DataSourceError) in try feed.leases() }
            .table(layout, asSeenBy: member.number)
    }

    package func reserveKeys(_ count: Int64) throws(DataSourceError) -> Range<Int64> {
        throw DataSourceError.storeReadOnly
    }

    package func takeLeases(
        _ entities: [Int], for source: String
    ) throws(DataSourceError) -> (ticket: Int64?, table: LeaseTable) {
        throw DataSourceError.storeReadOnly
    }

    package func releaseLeases(_ entities: [Int]) throws(DataSourceError) -> LeaseTable {
        throw DataSourceError.storeReadOnly
    }

    package func settleLeases(answered: [Int64], withdrawn: Int64?) throws(DataSourceError) -> LeaseTable {
        throw DataSourceError.storeReadOnly
    }
}
#endif
