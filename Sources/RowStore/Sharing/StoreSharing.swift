/// The interface through which several containers share a store. Two containers of the same process count as two members.
///
/// Every save gets a **position** when it is committed. Positions have the order of the commits. Each reader has the position
/// of the state that it reads (``StoreReader/position``). The store keeps a **feed**: the newest saves with their positions.
/// Each entity has only one writer at a time, which is the member that has the **lease** of the entity.
///
/// The container calls these methods to determine which member may write. The store keeps the leases beside the rows, and
/// changes the leases in transactions, too. Waiting members get leases in the order of their requests. Each member gets either
/// all requested leases or none. A commit compares ``ChangeSet/leases`` with the current leases in its own transaction, and
/// refuses a save with `leaseLost` if the leases differ. A scope has no lease in a custom store: if several members load the
/// same list of a server at the same time, each of them makes a request.
///
/// **Isolation**: none. The methods are called on any thread, and on several threads at the same time. They wait for the store,
/// so they are never called on the main actor. After the store was closed, they throw `storeClosed`.
///
/// **Ordering**: the state that a reader sees contains exactly the saves up to the reader's position.
public protocol StoreSharing: Sendable {
    /// The member that stands for this container. Other members see this value.
    var member: StoreMember { get }

    /// The position of the newest save at the time when the store was opened or reset.
    var firstPosition: Int64 { get }

    /// Reserves keys that no other member uses. The keys are greater than every key ever used. The range is empty if no keys
    /// are left.
    ///
    /// ```swift
    /// let keys = try sharing.reserveKeys(1_000)
    /// ```
    ///
    /// - Parameter count: The number of keys; at least 1.
    /// - Throws: `storeClosed`; an error if the store cannot be written.
    func reserveKeys(_ count: Int64) throws(DataSourceError) -> Range<Int64>

    /// Returns the first saves that other members have made after a position. A page has at most a few thousand rows, so a
    /// container that has many saves to read calls this method several times. If the store no longer has the saves after the
    /// position, the page contains ``FeedEvent/unknown(_:)``.
    ///
    /// ```swift
    /// let page = try sharing.readFeed(after: sharing.firstPosition)
    /// for event in page.events { print(event) }
    /// ```
    ///
    /// - Parameter position: A position that was returned earlier, as ``firstPosition``, ``FeedPage/position`` or
    ///   ``StoreReader/position``.
    /// - Throws: `storeClosed`; an error if the store cannot be read.
    func readFeed(after position: Int64) throws(DataSourceError) -> FeedPage

    /// Like ``readFeed(after:)``, but includes the saves of this container, with ``member`` as their ``ChangeSet/member``.
    ///
    /// The container calls this method only while a loop over `container.saves` runs, and uses only the position, the
    /// events and ``FeedPage/isMore``.
    ///
    /// ```swift
    /// let page = try sharing.readSaves(after: sharing.firstPosition)
    /// ```
    ///
    /// - Parameter position: As for ``readFeed(after:)``, or ``CommitOutcome/position``.
    /// - Throws: The error that prevents reading the store; `storeClosed`.
    func readSaves(after position: Int64) throws(DataSourceError) -> FeedPage

    /// Returns the current leases, and the tickets of the members that wait.
    ///
    /// ```swift
    /// for lease in try sharing.leases().leases { print(lease.holder, lease.source) }
    /// ```
    ///
    /// - Throws: `storeClosed`; an error if the store cannot be read.
    func leases() throws(DataSourceError) -> LeaseTable

    /// Takes free leases. If another member has one of the leases, or waits for one, this container gets a ticket and
    /// is served after that member.
    ///
    /// ```swift
    /// let (ticket, table) = try sharing.takeLeases(
    ///     [layout.index], for: "ContactDataSource")
    /// ```
    ///
    /// - Parameters:
    ///   - entities: The indexes of the entities in ``ModelLayout/entities``.
    ///   - source: The name of the data source, as information for other members.
    /// - Returns: The ticket if this container must wait, nil if it has all leases; and the current table.
    /// - Throws: `storeClosed`; an error if the store cannot be written. If the call throws, no lease was taken.
    func takeLeases(
        _ entities: [Int], for source: String
    ) throws(DataSourceError) -> (ticket: Int64?, table: LeaseTable)

    /// Releases leases of this container. The first waiting member gets the leases. If no member waits, the leases become free.
    ///
    /// ```swift
    /// let table = try sharing.releaseLeases([layout.index])
    /// ```
    ///
    /// - Parameter entities: The indexes of the entities in ``ModelLayout/entities``.
    /// - Returns: The current table.
    /// - Throws: `storeClosed`; an error if the store cannot be written.
    func releaseLeases(_ entities: [Int]) throws(DataSourceError) -> LeaseTable

    /// Maintains the tickets. Removes the tickets of containers that have ended, and gives the leases of these containers to
    /// waiting members. Takes leases away from holders that have not answered in time.
    ///
    /// ```swift
    /// let table = try sharing.settleLeases(answered: [ticket.number], withdrawn: nil)
    /// ```
    ///
    /// - Parameters:
    ///   - answered: The numbers of the tickets that this container knows of but cannot serve yet, because it still needs one of
    ///     the requested leases.
    ///   - withdrawn: The number of a ticket that this container withdraws; nil for none.
    /// - Returns: The current table.
    /// - Throws: `storeClosed`; an error if the store cannot be written.
    func settleLeases(answered: [Int64], withdrawn: Int64?) throws(DataSourceError) -> LeaseTable

    /// The times for keeping leases, and for waiting for leases.
    var leaseTimes: LeaseTimes { get }

    /// How long a batch may rely on rows that this container has read. If nil, each batch first calls ``readFeed(after:)``. Nil
    /// by default. Implement this property if that call takes a round trip.
    var trust: LeaseTrust? { get }

    /// Sets the handler that the store calls when there may be new saves. The store may call the handler on any thread, and
    /// more often than necessary.
    ///
    /// A remote store must call the handler after each commit of another member, and at least every few seconds. Otherwise
    /// lists are not updated.
    ///
    /// ```swift
    /// func listen(_ handler: @escaping @Sendable () -> Void) {
    ///     notificationHandler.withLock { $0 = handler }
    /// }
    /// ```
    ///
    /// - Parameter handler: Calls ``readFeed(after:)``, so it may take a while. Do not call the handler while your code keeps a
    ///   lock, or after the store was closed.
    func listen(_ handler: @escaping @Sendable () -> Void)
}

extension StoreSharing {
    /// Returns nil. Each batch then first reads the new saves.
    public var trust: LeaseTrust? { nil }
}

/// How long a container may rely on the rows that it has read. The container must have the leases of the rows' entities.
public struct LeaseTrust: Sendable {
    /// A number that tells whether rows may have changed even though the container has the leases. It changes after a save that
    /// was refused or whose outcome is unknown. It also changes after a lost connection, because the server may have lost
    /// commits. When the number has changed, the container reads the rows again.
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

/// Saves of a shared store after a position.
public struct FeedPage: Sendable {
    /// The position of the last save that the page covers.
    public var position: Int64
    /// The saves, in the order of the commits. In a page of ``StoreSharing/readFeed(after:)``, the saves of this
    /// container are left out.
    public var events: [FeedEvent]
    /// Whether the feed has more saves after ``position``.
    public var isMore: Bool
    /// Whether a program that is not a member has written to the store since the last call.
    public var foundOutsideWrites: Bool
    /// A number that changes each time the leases change.
    public var leaseVersion: Int64
    /// Whether a program that is not a member may have inserted rows with reserved keys. False by default.
    public var foundOutsideRows = false
    /// Whether the store has lost saves that it returned earlier. Earlier leases may then be lost, too. False by default.
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
    /// Adds the next save. The event is nil for a save of this container. Positions have no gaps. A missing position therefore
    /// means that another program has deleted rows of the feed.
    package mutating func add(_ event: FeedEvent?, at next: Int64) {
        if next != position &+ 1 { events.append(.unknown(nil)) }
        position = next
        if let event { events.append(event) }
    }

    /// Skips saves that are no longer in the feed.
    package mutating func skip(to position: Int64) {
        self.position = position
        events = [.unknown(nil)]
    }
}

/// A save in the feed of a shared store.
public enum FeedEvent: Sendable {
    /// The rows before and after the save.
    case changes(ChangeSet)
    /// The save changed rows of these entities, but the changes are unknown. The rows must be reloaded. Nil for all entities.
    case unknown(Set<Int>?)
}

/// Decides when the feed drops old saves. If a save is dropped before a member has read it, the member reloads its rows.
package struct FeedRetention {
    /// The maximum number of saves that the feed keeps for members that have not read them yet, and the maximum number of
    /// their bytes. The feed may exceed the limits by the saves since the last check.
    package static let saveLimit = 4096
    package static let byteLimit = 16 << 20
    /// The maximum age of the saves in the feed, in seconds.
    package static let ageLimit: Int64 = 600

    // Start with a value that makes the first save trigger a check, because the member may make only a few saves.
    private var saves = FeedRetention.saveLimit / 4
    private var bytes = 0

    package init() {}

    package mutating func record(saves: Int = 0, bytes: Int) {
        self.saves += saves
        self.bytes += bytes
    }

    /// - Returns: Whether enough saves were recorded since the last check, so that another check is due.
    package mutating func takeTurn() -> Bool {
        guard saves >= FeedRetention.saveLimit / 4 || bytes >= FeedRetention.byteLimit / 4 else { return false }
        (saves, bytes) = (0, 0)
        return true
    }
}
