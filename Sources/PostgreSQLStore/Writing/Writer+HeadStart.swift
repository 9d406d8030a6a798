#if PostgreSQL
internal import RowStore

/// Rows of a save that is still being made.
///
/// They are in a transaction that stays open, on a connection of its own: keys are reserved and leases are kept over the other
/// one meanwhile. The commit of the save ends it, and then the two connections have changed places.
extension Writer {
    struct Ahead {
        var rows: RowsAhead
        let connection: Connection
    }

    /// Nobody waits for an attempt for longer, and others may have locked a table.
    private static let patienceAhead = Duration.seconds(2)
    private static let lockTimeoutAhead = "100ms"

    /// Writes rows of a save that is still being made.
    ///
    /// - Returns: Whether the rest may follow.
    func write(_ new: NewRows, ahead headStart: HeadStart) -> Bool {
        guard unsettled == nil, connection?.isUsable == true else { return false }
        do throws(DataSourceError) {
            if ahead == nil, headStart.begin() {
                // If that fails, the head start is over.
                defer { if ahead == nil { headStart.close() } }
                ahead = try begin(headStart)
            }
            guard let ahead, ahead.rows.headStart === headStart else { return false }
            var rows = RowWriter(ahead.connection, schema)
            try rows.insert(new)
            self.ahead?.rows.add(new)
            return true
        } catch {
            // Whatever it was, the commit of the save reports it if it is still so.
            abandonHeadStart()
            return false
        }
    }

    private func begin(_ headStart: HeadStart) throws(DataSourceError) -> Ahead {
        let connection: Connection
        if let spare, spare.isUsable { connection = spare } else { connection = try connect() }
        spare = nil
        connection.patience = Writer.patienceAhead
        _ = try connection.pipeline([
            Request("BEGIN"), Request("SET LOCAL lock_timeout = '\(Writer.lockTimeoutAhead)'"),
        ])
        return Ahead(rows: RowsAhead(headStart), connection: connection)
    }

    /// Rolls back what was written ahead, if anything was.
    func abandonHeadStart() {
        guard let ahead else { return }
        self.ahead = nil
        ahead.rows.headStart.close()
        try? ahead.connection.run("ROLLBACK")
        if ahead.connection.isUsable { spare = ahead.connection }
    }

    /// Makes the connection with the rows that were written ahead the one that writes, if they are those of the group. Otherwise
    /// they are rolled back.
    ///
    /// - Returns: These rows; nil if there are none.
    func takeHeadStart(of group: [ChangeSet]) -> Ahead? {
        guard let found = ahead, found.rows.isOf(group), found.connection.isUsable else {
            abandonHeadStart()
            return nil
        }
        ahead = nil
        found.rows.headStart.close()
        found.connection.patience = opening.options.patience
        (connection, spare) = (found.connection, connection)
        return found
    }
}
#endif
