#if PostgreSQL
internal import RowStore

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
