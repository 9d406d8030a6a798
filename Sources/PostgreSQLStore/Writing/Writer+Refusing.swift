#if PostgreSQL
internal import RowStore

/// Groups of which some saves cannot be written, or not now.
extension Writer {
    /// Writes the saves of a group that can be written now.
    ///
    /// A save that was made under a lost lease is refused for that reason and no other: its rows may have been deleted, and its
    /// unique values taken, by the member that has the lease now.
    ///
    /// - Parameter failure: Why the group could not be written as a whole; nil if that is to be tried.
    /// - Returns: Why the others were refused or postponed.
    /// - Complexity: For each refused or postponed save, about as many round trips as the number of saves has binary digits.
    func commitSome(
        _ group: [ChangeSet], failure: DataSourceError?
    ) throws(DataSourceError) -> CommitOutcome {
        var outcome = CommitOutcome()
        for attempt in 1... {
            do throws(DataSourceError) {
                try transaction { (connection) throws(DataSourceError) in
                    let begun = [Request("BEGIN"), Connection.shortLockTimeout, epochsRequest]
                    let epochs = epochs(try connection.pipeline(begun)[2])
                    var selection = Selection(group, failure)
                    for place in group.indices {
                        do throws(DataSourceError) { try check(group[place], epochs) } catch {
                            selection.lost[place] = error
                        }
                    }
                    // What has landed before needs no lease any more.
                    try write(
                        group.indices.filter { !landed.contains(group[$0].number) }[...], of: &selection, connection)
                    outcome = CommitOutcome(refused: selection.refusals.errors, postponed: selection.postponed)
                    let saves = selection.written.map { group[$0] }.filter { !$0.isEmpty }
                    let first = firstNote
                    _ = try connection.pipeline(note(saves, from: first))
                    return Written(saves: saves, firstNote: first)
                }
                return outcome
            } catch {
                // A lease was lost meanwhile.
                guard error.code == .leaseLost else { throw error }
                guard attempt < Writer.attempts else {
                    throw DataSourceError(
                        .storeBusy, "Other processes took over leases again and again. Try again later.",
                        cause: error.description)
                }
            }
        }
        return outcome
    }

    /// What is known of the saves of a group while they are written.
    private struct Selection {
        let group: [ChangeSet]
        /// Why they cannot be written all together, if that is known.
        let failure: DataSourceError?
        /// The saves whose leases were lost, by their places.
        var lost: [Int: DataSourceError] = [:]
        var refusals = Refusals()
        /// Why saves have to wait, by their places.
        var postponed: [Int: DataSourceError] = [:]
        var written: [Int] = []
        private var waitingOrigins: Set<Int> = []

        init(_ group: [ChangeSet], _ failure: DataSourceError?) {
            self.group = group
            self.failure = failure
        }

        /// Whether a save cannot be written because an earlier one cannot.
        mutating func leavesOut(_ place: Int) -> Bool {
            if refusals.refusesDependent(group[place], at: place) { return true }
            guard waitingOrigins.contains(group[place].origin) else { return false }
            postponed[place] = postponed.min { $0.key < $1.key }?.value
            return true
        }

        mutating func leaveOut(_ place: Int, _ error: DataSourceError) {
            guard error.isOfLockedRows else { return refusals.refuse(group[place], at: place, error) }
            waitingOrigins.insert(group[place].origin)
            postponed[place] = error
        }
    }

    /// Writes saves together; if that fails, each half of them, and so on.
    private func write(
        _ places: ArraySlice<Int>, of selection: inout Selection, _ connection: Connection
    ) throws(DataSourceError) {
        let places = places.filter { !selection.leavesOut($0) }
        guard let first = places.first else { return }
        var failure = places.first { selection.lost[$0] != nil }.flatMap { selection.lost[$0] }
        if places.count == selection.group.count { failure = failure ?? selection.failure }
        if failure == nil { failure = try failureOfWriting(places.map { selection.group[$0] }, connection) }
        guard let failure else {
            selection.written += places
            return
        }
        if places.count == 1 { return selection.leaveOut(first, failure) }
        try write(places[..<(places.count / 2)], of: &selection, connection)
        try write(places[(places.count / 2)...], of: &selection, connection)
    }

    /// - Returns: Why the saves cannot be written together; nothing of them is written then.
    private func failureOfWriting(
        _ saves: [ChangeSet], _ connection: Connection
    ) throws(DataSourceError) -> DataSourceError? {
        // What is wrong may be found before anything is sent.
        try connection.run("SAVEPOINT some_saves")
        do throws(DataSourceError) {
            var rows = RowWriter(connection, schema)
            try write(saves, &rows)
            // A row that is missing is found afterwards.
            try rows.finish()
            try connection.run("RELEASE some_saves")
            return nil
        } catch {
            guard error.isOfOneSave || error.isOfLockedRows, connection.isUsable else { throw error }
            _ = try connection.pipeline([Request("ROLLBACK TO some_saves"), Request("RELEASE some_saves")])
            return error
        }
    }
}
#endif
