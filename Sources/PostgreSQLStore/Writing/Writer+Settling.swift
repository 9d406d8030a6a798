#if PostgreSQL
internal import RowStore

/// Answers of the server that were lost, and generations that are gone.
extension Writer {
    /// Finds out what became of a transaction whose answer was lost.
    ///
    /// The server's process that had it is ended, and then the transaction is refused on a new connection. That waits for the
    /// old one, so that one of both wins, and only then is it said that nothing was written.
    ///
    /// - Parameter patience: How long the server is asked; zero for a later save, which is then not written.
    /// - Returns: Whether it was committed; false if there is nothing to settle.
    /// - Throws: `outcomeUnknown` if the server cannot be asked in time. The next save asks again.
    @discardableResult
    func settle(patience: Duration) throws(DataSourceError) -> Bool {
        guard let open = unsettled else { return false }
        let end = ContinuousClock.now + patience
        var pause = Duration.milliseconds(20)
        while true {
            do throws(DataSourceError) {
                let isWritten = try refuse(open)
                unsettled = nil
                if isWritten, patience == .zero { landed = open.saves }
                return isWritten
            } catch {
                if let connection, !connection.isUsable { self.connection = nil }
                guard ContinuousClock.now + pause < end, error.isLoss || error.code == .storeBusy else {
                    if patience == .zero { throw error }
                    hasNews = true
                    throw DataSourceError(
                        .outcomeUnknown,
                        "The connection to the server was lost while a save was committed, and the server could not be asked "
                            + "since. The save may be there or not. The next save finds out.",
                        cause: error.description)
                }
            }
            opening.options.wait(pause)
            pause = min(pause * 2, .seconds(1))
        }
    }

    func refuse(_ open: Unsettled) throws(DataSourceError) -> Bool {
        let connection = try connected()
        if open.serverProcess != connection.serverProcess {
            // One's own processes can be ended. This one waits for the rest of what was sent, and counts as active if it has
            // some of it. Another one may have got the number meanwhile, but not with that lock.
            _ = try connection.rows(
                """
                SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid = $1::bigint::integer \
                AND usename = current_user AND datname = current_database() AND state <> 'idle' AND wait_event = 'ClientRead'
                """, [WireValue(Int64(open.serverProcess))])
        }
        let settled = try connection.rows(
            """
            UPDATE \(schema.term(PostgreSQLSchema.members)) SET refused = greatest(refused, $2) WHERE number = $1 \
            RETURNING saved >= $2
            """, [WireValue(member.number), WireValue(open.number)])
        guard settled.rowCount == 1 else { throw DataSourceError(goneMemberOf: opening.options.name) }
        return settled.isTrue(0, 0)
    }

    /// The error for those who work on a generation that is gone; nil if the registry still names it.
    func resetElsewhere() throws(DataSourceError) -> DataSourceError? {
        let found = try Registry(connection: connected()).entry(opening.options.name)
        return found == entry ? nil : DataSourceError(resetElsewhere: opening.options.name)
    }
}

extension DataSourceError {
    init(resetElsewhere name: String) {
        self.init(
            .storeReset,
            "Another process has reset the store \(name) while this one did not answer. Open it again.")
    }

    init(goneMemberOf name: String) {
        self.init(
            .storeUnavailable,
            "The store \(name) does not know this process any more, or has refused its save after a lost answer. It is tried again."
        )
    }
}
#endif
