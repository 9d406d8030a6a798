package import RowStore

extension PersistentStore {
    /// Commits change sets. None of them may be refused. Postponed change sets are tried again for ten seconds.
    ///
    /// - Throws: The error of the commit, or of the first change set that was refused or is still postponed.
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
