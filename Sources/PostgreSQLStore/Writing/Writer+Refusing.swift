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
                    let epochs = schema.layout.epochs(try connection.pipeline(begun)[2].values)
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

/// Lost answers of the server, and generations that are gone.
extension Writer {
    /// Finds out the outcome of a transaction whose answer was lost.
    ///
    /// The server's process of the transaction is ended, and then the transaction is refused on a new connection. That waits
    /// for the old one, so exactly one of them wins, and only then is the save reported as not written.
    ///
    /// - Parameter patience: How long to ask the server; zero for a later save, which is then not written.
    /// - Returns: Whether it was committed; false if there is nothing to settle.
    /// - Throws: `outcomeUnknown` if the server cannot be reached in time. The next save asks again.
    @discardableResult
    func settle(patience: Duration) throws(DataSourceError) -> Bool {
        guard let open = unsettled else { return false }
        let end = ContinuousClock.now + patience
        var pause = Duration.milliseconds(20)
        while true {
            do throws(DataSourceError) {
                let isWritten = try refuse(open)
                unsettled = nil
                if isWritten { committedNumber = open.number }
                if isWritten, patience == .zero { landed.formUnion(open.saves) }
                return isWritten
            } catch {
                if let connection, !connection.isUsable { giveUpConnection() }
                if error.code == .outcomeUnknown { throw error }
                guard ContinuousClock.now + pause < end, error.isLoss || error.code == .storeBusy else {
                    if patience == .zero { throw error }
                    hasNews = true
                    throw DataSourceError(
                        .outcomeUnknown,
                        "The connection to the server was lost during a commit, and the server has not been reachable since. "
                            + "The save may or may not be stored: read its objects before you save them again.",
                        cause: error.description)
                }
            }
            opening.options.wait(pause)
            pause = min(pause * 2, .seconds(1))
        }
    }

    /// Refuses a transaction unless it was committed, and returns which of the two happened.
    ///
    /// - Throws: `outcomeUnknown` if the server has forgotten this member.
    private func refuse(_ open: Unsettled) throws(DataSourceError) -> Bool {
        let transaction = membership.values + [WireValue(open.number)]
        let settled = try connected().pipeline([
            Request(
                """
                UPDATE \(schema.term(PostgreSQLSchema.writers)) SET refused = greatest(refused, $3) \
                WHERE member = $1 AND token = $2 RETURNING 1
                """, transaction),
            // A statement of its own, which sees what that one has waited for.
            Request(
                "SELECT 1 FROM \(schema.term(PostgreSQLSchema.saves)) WHERE member = $1 AND token = $2 AND number = $3",
                transaction),
        ])
        if settled[0].rowCount == 1 { return settled[1].rowCount == 1 }
        unsettled = nil
        hasNews = true
        throw DataSourceError(
            .outcomeUnknown,
            "The connection to the server was lost during a commit, and the server no longer knows that this process "
                + "has the store open. The save may or may not be stored: read its objects before you save them again.")
    }

    /// Finds out the outcome of a transaction that was reported as unknown, if the server can be reached now.
    ///
    /// - Returns: Whether everything must be reloaded.
    func settleSoon() -> Bool {
        guard unsettled != nil || hasNews else { return false }
        do throws(DataSourceError) { try settle(patience: .zero) } catch { if unsettled != nil { return false } }
        defer { hasNews = false }
        return hasNews
    }
}
#endif
