#if PostgreSQL
internal import RowStore

/// Writes groups in which some saves are refused or postponed.
extension Writer {
    /// Writes the saves of a group that can be written now.
    ///
    /// If the lease of a save was lost, the save is refused before its rows are tried. So the error of the save is the lost
    /// lease. The member that has the lease now might have deleted rows or taken unique values, which would cause another
    /// error.
    ///
    /// - Parameter failure: The error from writing the whole group; nil if this was not tried.
    /// - Returns: The refused and postponed saves, with their errors.
    /// - Complexity: about log2(n) round trips for each refused or postponed save, where n is the number of saves.
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
                    for index in group.indices {
                        do throws(DataSourceError) { try check(group[index], epochs) } catch {
                            selection.lost[index] = error
                        }
                    }
                    // A save that is already committed needs no lease.
                    try write(
                        group.indices.filter { !alreadyCommitted.contains(group[$0].saveNumber) }[...], of: &selection,
                        connection)
                    outcome = CommitOutcome(refused: selection.refusals.errors, postponed: selection.postponed)
                    let saves = selection.written.map { group[$0] }.filter { !$0.isEmpty }
                    let first = firstEntry
                    try readHistoryLimits(before: saves, connection)
                    _ = try connection.pipeline(record(saves, from: first))
                    return Written(saves: saves, firstEntry: first, scopes: try scopeRequests(saves, connection))
                }
                return outcome
            } catch {
                // A lease was lost during the transaction.
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

    /// The results for the saves of a group while they are written.
    private struct Selection {
        let group: [ChangeSet]
        /// The error from writing all saves together, if it is known.
        let failure: DataSourceError?
        /// The errors of saves whose leases were lost, by index.
        var lost: [Int: DataSourceError] = [:]
        var refusals = Refusals()
        /// The errors of postponed saves, by index.
        var postponed: [Int: DataSourceError] = [:]
        var written: [Int] = []
        private var waitingOrigins: Set<Int> = []

        init(_ group: [ChangeSet], _ failure: DataSourceError?) {
            self.group = group
            self.failure = failure
        }

        /// Leaves out a save if an earlier save of the same origin was left out. Returns whether the save was left out.
        mutating func postponesDependent(_ index: Int) -> Bool {
            if refusals.refuseIfDependent(group[index], at: index) { return true }
            guard waitingOrigins.contains(group[index].origin) else { return false }
            postponed[index] = postponed.min { $0.key < $1.key }?.value
            return true
        }

        mutating func refuseOrPostpone(_ index: Int, _ error: DataSourceError) {
            guard error.isLockTimeout else { return refusals.refuse(group[index], at: index, error) }
            waitingOrigins.insert(group[index].origin)
            postponed[index] = error
        }
    }

    /// Writes saves together. If this fails, writes each half separately, and so on.
    private func write(
        _ indexes: ArraySlice<Int>, of selection: inout Selection, _ connection: Connection
    ) throws(DataSourceError) {
        let indexes = indexes.filter { !selection.postponesDependent($0) }
        guard let first = indexes.first else { return }
        var failure = indexes.first { selection.lost[$0] != nil }.flatMap { selection.lost[$0] }
        if indexes.count == selection.group.count { failure = failure ?? selection.failure }
        if failure == nil { failure = try tryWriting(indexes.map { selection.group[$0] }, connection) }
        guard let failure else {
            selection.written += indexes
            return
        }
        if indexes.count == 1 { return selection.refuseOrPostpone(first, failure) }
        try write(indexes[..<(indexes.count / 2)], of: &selection, connection)
        try write(indexes[(indexes.count / 2)...], of: &selection, connection)
    }

    /// - Returns: Nil if the saves were written together. Otherwise the error, after rolling the saves back.
    private func tryWriting(
        _ saves: [ChangeSet], _ connection: Connection
    ) throws(DataSourceError) -> DataSourceError? {
        // Set the savepoint first, because an error can be found before any row is sent.
        try connection.run("SAVEPOINT some_saves")
        do throws(DataSourceError) {
            var rows = RowWriter(connection, schema)
            try write(saves, &rows)
            // Wait for the server's answers, which show whether a row was missing.
            try rows.finish()
            try tryWriting(scopeRequests(saves, connection), connection)
            try connection.run("RELEASE some_saves")
            return nil
        } catch {
            guard error.concernsOneSave || error.isLockTimeout, connection.isUsable else { throw error }
            _ = try connection.pipeline([Request("ROLLBACK TO some_saves"), Request("RELEASE some_saves")])
            return error
        }
    }

    /// Tries the requests that write scopes, and rolls them back, which unlocks the rows of the scopes. The last message of the
    /// transaction sends the requests again. An error in that message would refuse all saves.
    private func tryWriting(_ scopes: [Request], _ connection: Connection) throws(DataSourceError) {
        if scopes.isEmpty { return }
        _ = try connection.pipeline(
            [Request("SAVEPOINT scopes")] + scopes + [Request("ROLLBACK TO scopes"), Request("RELEASE scopes")])
    }
}

/// Finds out the outcome of a commit if the server's answer was lost.
extension Writer {
    /// Finds out the outcome of a transaction whose answer was lost.
    ///
    /// Ends the old server process, and refuses the transaction over a new connection. The refusal waits for the old process,
    /// so either the commit or the refusal wins. If the refusal wins, the save is reported as not written.
    ///
    /// - Parameter timeout: How long to try. Zero means only one try. A later save passes zero, and fails if the only try
    ///   fails.
    /// - Returns: Whether the transaction was committed; false if no transaction has an unknown outcome.
    /// - Throws: `outcomeUnknown` if the server cannot be reached in time, or no longer knows this member; with a zero
    ///   timeout, the error of the only try. If the server cannot be reached, the next save tries again.
    @discardableResult
    func resolveOutcome(timeout: Duration) throws(DataSourceError) -> Bool {
        guard let open = inDoubtTransaction else { return false }
        let end = ContinuousClock.now + timeout
        var pause = Duration.milliseconds(20)
        while true {
            do throws(DataSourceError) {
                let isWritten = try refuseTransaction(open)
                inDoubtTransaction = nil
                if isWritten { committedNumber = open.number }
                if isWritten, timeout == .zero { alreadyCommitted.formUnion(open.saves) }
                return isWritten
            } catch {
                if let connection, !connection.isUsable { discardConnection() }
                if error.code == .outcomeUnknown { throw error }
                guard ContinuousClock.now + pause < end, error.isConnectionLoss || error.code == .storeBusy else {
                    if timeout == .zero { throw error }
                    mustReload = true
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

    /// Refuses a transaction if it was not committed.
    ///
    /// - Returns: Whether the transaction was committed.
    /// - Throws: `outcomeUnknown` if the server has forgotten this member.
    private func refuseTransaction(_ open: InDoubtTransaction) throws(DataSourceError) -> Bool {
        let transaction = membership.values + [WireValue(open.number)]
        let settled = try connected().pipeline([
            Request(
                """
                UPDATE \(schema.qualified(PostgreSQLSchema.writers)) SET refused = greatest(refused, $3) \
                WHERE member = $1 AND token = $2 RETURNING 1
                """, transaction),
            // Use a separate statement, which sees the commits that the first statement has waited for.
            Request(
                "SELECT 1 FROM \(schema.qualified(PostgreSQLSchema.saves)) WHERE member = $1 AND token = $2 AND number = $3",
                transaction),
        ])
        if settled[0].rowCount == 1 { return settled[1].rowCount == 1 }
        inDoubtTransaction = nil
        mustReload = true
        throw DataSourceError(
            .outcomeUnknown,
            "The connection to the server was lost during a commit, and the server no longer knows that this process "
                + "has the store open. The save may or may not be stored: read its objects before you save them again.")
    }

    /// Whether the outcome of a transaction is unknown, or was found and not reported yet.
    var isInDoubt: Bool { inDoubtTransaction != nil || mustReload }

    /// Finds out the outcome of a transaction that was reported as unknown, if the server can be reached now.
    ///
    /// - Returns: Whether all rows must be reloaded.
    func resolveOutcomeIfReachable() -> Bool {
        guard isInDoubt else { return false }
        do throws(DataSourceError) { try resolveOutcome(timeout: .zero) } catch {
            if inDoubtTransaction != nil { return false }
        }
        defer { mustReload = false }
        return mustReload
    }
}
#endif
