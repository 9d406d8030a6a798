extension ChangeSet {
    /// Makes sure that no other container has got a lease since the save was made under it.
    ///
    /// - Parameter epochs: The epochs of the leases that the container has now, by entity.
    /// - Throws: `leaseLost`.
    package func checkLeases(_ epochs: [Int: Int64], _ layout: ModelLayout) throws(DataSourceError) {
        guard let lost = leases.first(where: { epochs[$0.entity] != $0.epoch }) else { return }
        throw DataSourceError(lostLeaseOf: layout.entities[lost.entity].name)
    }
}

extension DataSourceError {
    /// The error for work that was done under a lease that another container may have got since.
    package init(lostLeaseOf entity: String) {
        self.init(
            .leaseLost,
            "This process no longer has the lease of \(entity): it was stopped or did not answer for so long that another process got "
                + "it, or the server has lost its newest commits. Saves that were not in the store yet are refused. Save again.",
            entityName: entity)
    }
}
