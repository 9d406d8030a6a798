/// How containers share a store. Two containers of one process count as two.
///
/// Every save gets a **position** when it is committed. Positions are in the order of the commits. A reader has the position of
/// the state that it reads (``StoreReader/position``). The store keeps a **feed** of the saves by position. Each entity has one
/// writer at a time: the member with the **lease**.
///
/// The container's calls here determine who may write. The store keeps the leases beside the rows, and changes both with the
/// same kind of transactions. Leases are given to waiting members in the order of their requests, each member all its leases or
/// none. A commit compares ``ChangeSet/leases`` with the present leases in its own transaction, and refuses saves under other
/// leases with `leaseLost`.
///
/// **Isolation**: none. The functions are called on any thread, several at a time. They wait for the store, so they are never
/// called on the main actor. After the store was closed they throw `storeClosed`.
///
/// **Ordering**: the state that a reader sees contains exactly the saves up to its position.
public protocol StoreSharing: Sendable {
    /// This container, as the other members see it.
    var member: StoreMember { get }

    /// The position of the newest save when the store was opened or reset.
    var firstPosition: Int64 { get }

    /// Reserves keys that no other member uses, above every key ever used. The range is empty if no keys are left.
    ///
    /// ```swift
    /// let keys = try sharing.reserveKeys(1_000)
    /// ```
    ///
    /// - Parameter count: The number of keys; at least 1.
    /// - Throws: The error that prevents writing the store; `storeClosed`.
    func reserveKeys(_ count: Int64) throws(DataSourceError) -> Range<Int64>

    /// The saves of other members after a position, or the first part of them: some thousand rows at most, so that a follower
    /// that is far behind reads in pages. If the store no longer has the saves after the position, the result is
    /// ``FeedEvent/unknown(_:)``.
    ///
    /// ```swift
    /// let page = try sharing.readFeed(after: sharing.firstPosition)
    /// for event in page.events { print(event) }
    /// ```
    ///
    /// - Parameter position: A position that was returned before: ``firstPosition``, ``FeedPage/position`` or
    ///   ``StoreReader/position``.
    /// - Throws: The error that prevents reading the store; `storeClosed`.
    func readFeed(after position: Int64) throws(DataSourceError) -> FeedPage

    /// The present leases, and the members that wait.
    ///
    /// ```swift
    /// for lease in try sharing.leases().leases { print(lease.holder, lease.source) }
    /// ```
    ///
    /// - Throws: The error that prevents reading the store; `storeClosed`.
    func leases() throws(DataSourceError) -> LeaseTable

    /// Takes free leases. If another member has one of the leases, or waits for it, this container waits after that member.
    ///
    /// ```swift
    /// let (ticket, table) = try sharing.takeLeases(
    ///     [layout.index], for: "ContactDataSource")
    /// ```
    ///
    /// - Parameters:
    ///   - entities: The indexes of the entities in ``ModelLayout/entities``.
    ///   - source: The name of the data source, for other members to read.
    /// - Returns: The ticket if this container waits, nil if all leases were taken; and the present table.
    /// - Throws: The error that prevents writing the store; `storeClosed`. If the call throws, no lease was taken.
    func takeLeases(
        _ entities: [Int], for source: String
    ) throws(DataSourceError) -> (ticket: Int64?, table: LeaseTable)

    /// Releases leases of this container. The first waiting member gets them; if no member waits, they are free.
    ///
    /// ```swift
    /// let table = try sharing.releaseLeases([layout.index])
    /// ```
    ///
    /// - Parameter entities: The indexes of the entities in ``ModelLayout/entities``.
    /// - Returns: The present table.
    /// - Throws: The error that prevents writing the store; `storeClosed`.
    func releaseLeases(_ entities: [Int]) throws(DataSourceError) -> LeaseTable

    /// Maintains the tickets: removes tickets of containers that have ended, gives the leases of such containers to waiting
    /// members, and takes leases from holders that have not answered in time.
    ///
    /// ```swift
    /// let table = try sharing.settleLeases(answered: [ticket.number], withdrawn: nil)
    /// ```
    ///
    /// - Parameters:
    ///   - answered: The numbers of tickets that this container, as the holder of a lease, knows of but cannot serve yet.
    ///   - withdrawn: The number of a ticket that this container gives up; nil for none.
    /// - Returns: The present table.
    /// - Throws: The error that prevents writing the store; `storeClosed`.
    func settleLeases(answered: [Int64], withdrawn: Int64?) throws(DataSourceError) -> LeaseTable

    /// The times for keeping leases and waiting for them.
    var leaseTimes: LeaseTimes { get }

    /// How long a batch may rely on rows that this container has read. Nil, the default, if each batch first reads
    /// ``readFeed(after:)``. Implement it if that call takes a round trip.
    var trust: LeaseTrust? { get }

    /// Sets a handler that is called when there may be new saves, on any thread and possibly more often than necessary.
    ///
    /// A remote store calls the handler after each commit of another member, and at least every few seconds. Otherwise lists
    /// are not updated.
    ///
    /// ```swift
    /// func listen(_ handler: @escaping @Sendable () -> Void) {
    ///     notificationHandler.withLock { $0 = handler }
    /// }
    /// ```
    ///
    /// - Parameter handler: Calls ``readFeed(after:)``, so it may take a while. Do not call the handler while you hold a lock,
    ///   or after the store was closed.
    func listen(_ handler: @escaping @Sendable () -> Void)
}

extension StoreSharing {
    /// Nil: each batch first reads the new saves.
    public var trust: LeaseTrust? { nil }
}

/// How long a container may rely on the rows that it has read, if it has the leases of their entities.
public struct LeaseTrust: Sendable {
    /// A number that changes when the rows may have changed even though the container has the leases. This happens after a save
    /// that was refused or has an unknown outcome, and after a lost connection, because the server may have lost commits. The
    /// container then reads the rows again.
    public let number: Int
    /// The time until which no other member gets the leases, even if this container seems to have ended.
    public let end: ContinuousClock.Instant

    /// Makes a value that a store returns as its ``StoreSharing/trust``.
    ///
    /// ```swift
    /// let trust = LeaseTrust(number: 1, end: .now + .seconds(2))
    /// ```
    public init(number: Int, end: ContinuousClock.Instant) {
        self.number = number
        self.end = end
    }
}

/// The saves of other members after a position.
public struct FeedPage: Sendable {
    /// The position up to which the events are complete.
    public var position: Int64
    /// In the order of the commits. Saves of this container are left out.
    public var events: [FeedEvent]
    /// Whether there are more saves after the position.
    public var isMore: Bool
    /// Whether a program that is not a member has written to the store since the last call.
    public var foundOutsideWrites: Bool
    /// A number that changes with each change of the leases.
    public var leaseVersion: Int64
    /// Whether a program that is not a member may have inserted rows with reserved keys. False by default.
    public var foundOutsideRows = false
    /// Whether the store has lost saves that were returned before, so that earlier leases may be lost, too. False by default.
    public var isOtherHistory = false

    /// Makes the result of ``StoreSharing/readFeed(after:)``.
    ///
    /// ```swift
    /// return FeedPage(
    ///     position: position, events: [.changes(set)], isMore: false,
    ///     foundOutsideWrites: false, leaseVersion: 8)
    /// ```
    public init(
        position: Int64, events: [FeedEvent], isMore: Bool, foundOutsideWrites: Bool, leaseVersion: Int64
    ) {
        self.position = position
        self.events = events
        self.isMore = isMore
        self.foundOutsideWrites = foundOutsideWrites
        self.leaseVersion = leaseVersion
    }
}

extension FeedPage {
    /// Adds the next save; nil for a save of the container itself. Positions have no gaps: if a position is missing, another
    /// program has deleted rows of the feed.
    package mutating func add(_ event: FeedEvent?, at next: Int64) {
        if next != position &+ 1 { events.append(.unknown(nil)) }
        position = next
        if let event { events.append(event) }
    }

    /// Skips saves that the feed no longer has.
    package mutating func skip(to position: Int64) {
        self.position = position
        events = [.unknown(nil)]
    }
}

/// A save in the feed of a shared store.
public enum FeedEvent: Sendable {
    /// The rows before and after the save.
    case changes(ChangeSet)
    /// Unknown changes in rows of these entities, which must be reloaded; nil for all entities.
    case unknown(Set<Int>?)
}

/// Decides when the feed drops old saves. A member that has not read them reloads its rows.
package struct FeedRetention {
    /// The largest number of saves and bytes that the feed keeps for members that are behind, not counting later saves than the
    /// last check.
    package static let saveLimit = 4096
    package static let byteLimit = 16 << 20
    /// The longest time for which saves are kept, in seconds.
    package static let ageLimit: Int64 = 600

    // The first save of a member triggers a check, because the member may make only few saves.
    private var saves = FeedRetention.saveLimit / 4
    private var bytes = 0

    package init() {}

    package mutating func record(saves: Int = 0, bytes: Int) {
        self.saves += saves
        self.bytes += bytes
    }

    /// - Returns: Whether there were enough saves since the last check for another check.
    package mutating func takeTurn() -> Bool {
        guard saves >= FeedRetention.saveLimit / 4 || bytes >= FeedRetention.byteLimit / 4 else { return false }
        (saves, bytes) = (0, 0)
        return true
    }
}
