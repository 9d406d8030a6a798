#if PostgreSQL
internal import RowStore

/// Saves that wait for rows which another program keeps locked. Others do not wait for them.
extension Writer {
    /// Writes the saves of a group that have to wait for nobody: those of each origin in a transaction of their own.
    ///
    /// - Parameter error: Why the group could not be written in one transaction.
    func writeApart(_ group: [ChangeSet], _ error: DataSourceError) throws(DataSourceError) -> CommitOutcome {
        var outcome = CommitOutcome()
        var origins: [Int] = []
        for save in group where !origins.contains(save.origin) { origins.append(save.origin) }
        var failure: DataSourceError? = origins.count > 1 ? nil : error
        for origin in origins {
            let places = group.indices.filter { group[$0].origin == origin }
            do throws(DataSourceError) {
                if let failure { throw failure }
                let refused = try write(places.map { group[$0] })
                for (place, error) in refused { outcome.refused[places[place]] = error }
            } catch {
                // What has been written cannot be taken back, so the rest is tried again after that.
                if !metLock { failure = error }
                for place in places { outcome.postponed[place] = error }
            }
        }
        if let failure, !metLock, outcome.postponed.count == group.count { throw failure }
        return outcome
    }
}
#endif
