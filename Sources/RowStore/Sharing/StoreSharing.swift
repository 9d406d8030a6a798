/// What containers that share a store do for each other. Two containers of one process count as two.
///
/// Every save gets a **position** when it is committed, and positions are in the order of the commits. A reader has the
/// position of the state that it reads (``StoreReader/position``). Each entity has one writer at a time, which has the
/// **lease**.
///
/// The container's calls here determine who may write. The store keeps the leases in the same place and with the same
/// transactions as the rows. Leases are given to those who wait in the order of asking, to each all that it requests or
/// nothing. A commit compares ``ChangeSet/leases`` with the present ones, in its own transaction, and refuses saves that were
/// made under others with `leaseLost`.
///
/// **Isolation**: none. These functions are called on any thread, several at a time. They wait for the store, so they are never
/// called on the main actor. After the store was closed they throw `storeClosed`.
///
/// **Ordering**: the state that a reader sees contains all saves up to its position and none after it.
public protocol StoreSharing: Sendable {
    /// This container, in the form that the others see.
    var member: StoreMember { get }

    /// The position of the newest save when the store was opened or reset.
    var firstPosition: Int64 { get }

    /// Keys that no other member gives, above every key that was ever used; empty if there are none left.
    ///
    /// - Parameter count: How many; at least 1.
    /// - Throws: The error that keeps the store from being written; `storeClosed`.
    func reserveKeys(_ count: Int64) throws(DataSourceError) -> Range<Int64>

    /// What has happened since a position, or the first part of it: some thousand rows at most, so that a follower that is far
    /// behind reads page by page. If the store no longer knows what followed the position, the result is
    /// ``FeedEvent/unknown(_:)``.
    ///
    /// - Parameter position: A position that was returned before: ``firstPosition``, ``SharedNews/position`` or
    ///   ``StoreReader/position``.
    /// - Throws: The error that keeps the store from being read; `storeClosed`.
    func news(after position: Int64) throws(DataSourceError) -> SharedNews

    /// Who has which lease, and who waits.
    ///
    /// - Throws: The error that keeps the store from being read; `storeClosed`.
    func leases() throws(DataSourceError) -> LeaseTable

    /// Takes leases that are free. If another container has one, or waits for one, this container waits after it.
    ///
    /// - Parameters:
    ///   - entities: The numbers of the entities.
    ///   - source: The name of the data source, for others to read.
    /// - Returns: The ticket if this container waits, nil if all leases were taken; and the table as it is now.
    /// - Throws: The error that keeps the store from being written; nothing was taken then. `storeClosed`.
    func takeLeases(
        _ entities: [Int], for source: String
    ) throws(DataSourceError) -> (ticket: Int64?, table: LeaseTable)

    /// Gives leases of this container to those who wait for them; if nobody waits, they become free.
    ///
    /// - Parameter entities: The numbers of the entities.
    /// - Returns: The table as it is now.
    /// - Throws: The error that keeps the store from being written; `storeClosed`.
    func releaseLeases(_ entities: [Int]) throws(DataSourceError) -> LeaseTable

    /// Maintains the tickets: removes those of containers that have ended, gives their leases to those who wait, and also takes
    /// leases from holders that have not answered in time.
    ///
    /// - Parameters:
    ///   - answered: Tickets that this container, which has the lease, knows of but cannot serve yet.
    ///   - withdrawn: A ticket of this container that is given up; nil for none.
    /// - Returns: The table as it is now.
    /// - Throws: The error that keeps the store from being written; `storeClosed`.
    func settleLeases(answered: [Int64], withdrawn: Int64?) throws(DataSourceError) -> LeaseTable

    /// How long leases are kept and waited for.
    var leaseTimes: LeaseTimes { get }

    /// For how long a batch may rely on what this container has read; nil, the default, if each one reads ``news(after:)`` before it
    /// begins. It is for stores in which that takes a round trip.
    var trust: LeaseTrust? { get }

    /// Sets a handler that is called when there may be news, on any thread and possibly more often than necessary.
    ///
    /// A store that is remote calls it after each commit of others, and at least every few seconds: lists are not updated
    /// otherwise.
    ///
    /// - Parameter handler: Reads ``news(after:)``, so it may take a while. Never call it while a lock is held, or after the
    ///   store was closed.
    func listen(_ handler: @escaping @Sendable () -> Void)
}

extension StoreSharing {
    /// Each batch reads the news first.
    public var trust: LeaseTrust? { nil }
}

/// For how long a container may rely on what it has read of the rows for which it has the leases.
public struct LeaseTrust: Sendable {
    /// It changes whenever these rows may be others, although the container has the leases: after a connection was lost, as the
    /// server may have lost commits, and after a save was refused, or has an unknown outcome. Then everything is read again.
    public let number: Int
    /// Until when no other container gets the leases because this one seems to have ended.
    public let end: ContinuousClock.Instant

    /// Makes one.
    public init(number: Int, end: ContinuousClock.Instant) {
        self.number = number
        self.end = end
    }
}

/// The saves of others.
public struct SharedNews: Sendable {
    /// The position up to which everything is included.
    public var position: Int64
    /// In their order. Saves of this container are left out.
    public var events: [FeedEvent]
    /// Whether there is more after the position.
    public var isMore: Bool
    /// Whether a program that is not a member has written to the store since the last call.
    public var foundOutsideWrites: Bool
    /// It changes with each change of the leases.
    public var leaseVersion: Int64
    /// Whether a program that is not a member may have inserted rows with reserved keys. False by default.
    public var foundOutsideRows = false
    /// Whether the store has lost saves that were reported before, so that earlier leases may be wrong, too. False by default.
    public var isOtherHistory = false

    /// Makes news.
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

extension SharedNews {
    /// Adds the next save; nil for one of the container itself. Positions have no gaps: if one is missing, a program has
    /// deleted rows.
    package mutating func add(_ event: FeedEvent?, at next: Int64) {
        if next != position &+ 1 { events.append(.unknown(nil)) }
        position = next
        if let event { events.append(event) }
    }

    /// Passes by saves that the store no longer has.
    package mutating func skip(to position: Int64) {
        self.position = position
        events = [.unknown(nil)]
    }
}

/// A change of rows.
public enum FeedEvent: Sendable {
    /// Rows are different now.
    case changes(ChangeSet)
    /// Unknown changes of rows of these entities, which must be reloaded; nil for all entities.
    case unknown(Set<Int>?)
}

/// Decides when old saves are forgotten. Members that have not read them reload.
package struct FeedRetention {
    /// The most saves and bytes that are kept for members that are behind, beside what was noted since the last check.
    package static let saveLimit = 4096
    package static let byteLimit = 16 << 20
    /// How long they are kept, in seconds.
    package static let ageLimit: Int64 = 600

    // A member checks with its first save, because it may make only few.
    private var saves = FeedRetention.saveLimit / 4
    private var bytes = 0

    package init() {}

    package mutating func note(saves: Int = 0, bytes: Int) {
        self.saves += saves
        self.bytes += bytes
    }

    /// - Returns: Whether so much was noted since the last check that it is time for one.
    package mutating func takeTurn() -> Bool {
        guard saves >= FeedRetention.saveLimit / 4 || bytes >= FeedRetention.byteLimit / 4 else { return false }
        (saves, bytes) = (0, 0)
        return true
    }
}
