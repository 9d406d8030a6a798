package import RowStore

extension PersistentStore {
    /// Commits change sets, none of which may be refused. Those that are postponed are tried again for ten seconds.
    ///
    /// - Throws: What the commit throws, or why the first one was refused or is still postponed.
    package func write(_ group: [ChangeSet]) throws(DataSourceError) {
        var group = group
        let end = ContinuousClock.now + .seconds(10)
        while !group.isEmpty {
            let outcome = try commit(group)
            let isLate = .now > end
            let errors = outcome.refused.merging(isLate ? outcome.postponed : [:]) { error, _ in error }
            if let first = errors.keys.min(), let error = errors[first] { throw error }
            group = outcome.postponed.keys.sorted().map { group[$0] }
        }
    }
}
