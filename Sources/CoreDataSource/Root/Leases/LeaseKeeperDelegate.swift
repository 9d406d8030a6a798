internal import RowStore

/// What the leases need of the context that commits.
protocol LeaseKeeperDelegate: AnyObject, Sendable {
    /// Adds the saves of others to the log.
    ///
    /// - Parameter wanted: How far at least; nil for as far as possible.
    func follow(to wanted: Int64?) throws(DataSourceError)

    /// Commits everything that is pending, even after a failure; calls back when it is done.
    func flush(_ waiter: @escaping @Sendable (Result<Void, DataSourceError>) -> Void)

    /// Whether saves are pending that were made under the lease of one of those entities.
    func hasPendingSaves(of entities: Set<Int>) -> Bool

    /// Reports what no call can throw.
    func report(_ failure: StoreFailure)
}
