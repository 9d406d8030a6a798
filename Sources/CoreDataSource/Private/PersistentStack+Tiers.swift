extension PersistentStack {
    /// The tiers of the data sources that own any of those entities.
    func tiers(owning entities: Set<Int>) -> [PrivateTier] { owners(of: entities).compactMap { $0 as? PrivateTier } }
}
