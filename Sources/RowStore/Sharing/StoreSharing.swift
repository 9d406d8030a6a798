/// What the containers that have a store open together do for each other. Two containers of one process count as two.
///
/// Every save gets a **position** when it is committed, and positions are in the order of the commits. A reader says of which
/// position the state is that it reads (``StoreReader/position``). Entities have one writer at a time, who has the **lease**.
package protocol StoreSharing: Sendable {
    /// This container, as the others know it.
    var member: StoreMember { get }

    /// The position of the newest save when the store was opened or reset.
    var firstPosition: Int64 { get }

    /// Keys that nobody else gives.
    ///
    /// - Parameter count: How many; at least 1.
    func reserveKeys(_ count: Int64) throws(DataSourceError) -> Range<Int64>

    /// What has happened since a position, or the first part of it.
    func news(after position: Int64) throws(DataSourceError) -> SharedNews

    /// Who has which lease, and who waits.
    func leases() throws(DataSourceError) -> LeaseTable

    /// Takes leases that nobody has. If somebody has one, or waits for one, this container waits behind them.
    ///
    /// - Parameters:
    ///   - entities: The numbers of the entities.
    ///   - source: The name of the data source, for others to read.
    /// - Returns: The ticket of the one who waits; nil if all leases were taken.
    func takeLeases(
        _ entities: [Int], for source: String
    ) throws(DataSourceError) -> (ticket: Int64?, table: LeaseTable)

    /// Gives leases of this container to those who wait for them, and to nobody where no one does.
    func releaseLeases(_ entities: [Int]) throws(DataSourceError) -> LeaseTable

    /// Looks after tickets: those of containers that have ended go, their leases are given to those who wait, and so are
    /// leases whose holder has not answered in time.
    ///
    /// - Parameters:
    ///   - answered: Tickets that this container, who has the lease, knows of but cannot serve yet.
    ///   - withdrawn: A ticket of this container that is given up.
    func settleLeases(answered: [Int64], withdrawn: Int64?) throws(DataSourceError) -> LeaseTable

    /// How long leases are kept and waited for.
    var leaseTimes: LeaseTimes { get }

    /// Sets who is called when there may be news, on any thread and more often than there are any.
    func listen(_ handler: @escaping @Sendable () -> Void)
}

/// A container that has a store open together with others.
package struct StoreMember: Sendable, Hashable {
    /// It grows from one to the next.
    package let number: Int64
    package let processID: Int32
    /// The name of its program.
    package let name: String

    package init(number: Int64, processID: Int32, name: String) {
        self.number = number
        self.processID = processID
        self.name = name
    }
}

extension StoreMember: CustomStringConvertible {
    package var description: String { "process \(processID) (\(name))" }
}

/// What others have saved.
package struct SharedNews: Sendable {
    /// All is told up to here.
    package var position: Int64
    /// In their order. Saves of this container are not among them.
    package var events: [FeedEvent]
    /// Whether there is more behind the position.
    package var isMore: Bool
    /// Whether a program that is no member has written to the store since this was last asked.
    package var foundOutsideWrites: Bool
    /// It is another one after each change of the leases.
    package var leaseVersion: Int64
    /// Whether saves that were told of are not in the store any more, so that what was said of leases may be wrong, too.
    package var isOtherHistory = false

    package init(
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
package enum FeedEvent: Sendable {
    /// Rows are different now.
    case changes(ChangeSet)
    /// What happened to rows of those entities is unknown, so that they have to be reloaded; nil for all entities.
    case unknown(Set<Int>?)
}
