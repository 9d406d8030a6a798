/// What the containers that have a store open together do for each other. Two containers of one process count as two.
///
/// Every save gets a **position** when it is committed, and positions are in the order of the commits. A reader says of which
/// position the state is that it reads (``StoreReader/position``). Entities have one writer at a time, who has the **lease**.
///
/// What the container asks for here decides who may write; the store keeps it, in the same place and with the same
/// transactions as the rows. Leases go to those who wait in the order of asking, to each all that it asks for or nothing.
/// A commit compares ``ChangeSet/leases`` with those in force, in its own transaction, and refuses with `leaseLost` what was
/// made under others.
///
/// **Isolation**: none. Any thread calls these functions, several at a time. They wait for the store, so they are never called on
/// the main actor. Once the store is closed they throw `storeClosed`.
///
/// **Ordering**: the state that a reader sees has all saves up to its position and none behind it.
public protocol StoreSharing: Sendable {
    /// This container, as the others know it.
    var member: StoreMember { get }

    /// The position of the newest save when the store was opened or reset.
    var firstPosition: Int64 { get }

    /// Keys that nobody else gives, above every key that there ever was; none if there are none left.
    ///
    /// - Parameter count: How many; at least 1.
    /// - Throws: What keeps the store from being written; `storeClosed`.
    func reserveKeys(_ count: Int64) throws(DataSourceError) -> Range<Int64>

    /// What has happened since a position, or the first part of it: some thousand rows at most, so that a follower that is far
    /// behind reads page by page. A position of which the store no longer knows what followed is answered with
    /// ``FeedEvent/unknown(_:)``.
    ///
    /// - Parameter position: One that was told before: ``firstPosition``, ``SharedNews/position`` or ``StoreReader/position``.
    /// - Throws: What keeps the store from being read; `storeClosed`.
    func news(after position: Int64) throws(DataSourceError) -> SharedNews

    /// Who has which lease, and who waits.
    ///
    /// - Throws: What keeps the store from being read; `storeClosed`.
    func leases() throws(DataSourceError) -> LeaseTable

    /// Takes leases that nobody has. If somebody has one, or waits for one, this container waits behind them.
    ///
    /// - Parameters:
    ///   - entities: The numbers of the entities.
    ///   - source: The name of the data source, for others to read.
    /// - Returns: The ticket of the one who waits, nil if all leases were taken; and the table as it is now.
    /// - Throws: What keeps the store from being written; then nothing was taken. `storeClosed`.
    func takeLeases(
        _ entities: [Int], for source: String
    ) throws(DataSourceError) -> (ticket: Int64?, table: LeaseTable)

    /// Gives leases of this container to those who wait for them, and to nobody where no one does.
    ///
    /// - Parameter entities: The numbers of the entities.
    /// - Returns: The table as it is now.
    /// - Throws: What keeps the store from being written; `storeClosed`.
    func releaseLeases(_ entities: [Int]) throws(DataSourceError) -> LeaseTable

    /// Looks after tickets: those of containers that have ended go, their leases are given to those who wait, and so are
    /// leases whose holder has not answered in time.
    ///
    /// - Parameters:
    ///   - answered: Tickets that this container, who has the lease, knows of but cannot serve yet.
    ///   - withdrawn: A ticket of this container that is given up; nil for none.
    /// - Returns: The table as it is now.
    /// - Throws: What keeps the store from being written; `storeClosed`.
    func settleLeases(answered: [Int64], withdrawn: Int64?) throws(DataSourceError) -> LeaseTable

    /// How long leases are kept and waited for.
    var leaseTimes: LeaseTimes { get }

    /// Sets who is called when there may be news, on any thread and more often than there are any.
    ///
    /// - Parameter handler: Reads ``news(after:)``, so it takes its time. Never call it with a lock held, nor after the store
    ///   was closed.
    func listen(_ handler: @escaping @Sendable () -> Void)
}

/// A container that has a store open together with others.
public struct StoreMember: Sendable, Hashable {
    /// It grows from one to the next.
    public let number: Int64
    /// The number of its process, on its machine.
    public let processID: Int32
    /// The name of its program.
    public let name: String

    /// Describes a member.
    public init(number: Int64, processID: Int32, name: String) {
        self.number = number
        self.processID = processID
        self.name = name
    }
}

extension StoreMember: CustomStringConvertible {
    /// `process 4711 (importer)`
    public var description: String { "process \(processID) (\(name))" }
}

/// What others have saved.
public struct SharedNews: Sendable {
    /// All is told up to here.
    public var position: Int64
    /// In their order. Saves of this container are not among them.
    public var events: [FeedEvent]
    /// Whether there is more behind the position.
    public var isMore: Bool
    /// Whether a program that is no member has written to the store since this was last asked.
    public var foundOutsideWrites: Bool
    /// It is another one after each change of the leases.
    public var leaseVersion: Int64
    /// Whether a program that is no member may have inserted rows, by keys that are reserved. False unless it is set.
    public var foundOutsideRows = false
    /// Whether saves that were told of are not in the store any more, so that what was said of leases may be wrong, too. False
    /// unless it is set.
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

/// Something that happened to rows.
public enum FeedEvent: Sendable {
    /// Rows are different now.
    case changes(ChangeSet)
    /// What happened to rows of those entities is unknown, so that they have to be reloaded; nil for all entities.
    case unknown(Set<Int>?)
}
