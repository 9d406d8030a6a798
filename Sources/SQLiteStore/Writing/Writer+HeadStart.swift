internal import RowStore

extension Writer {
    /// Writes rows of a save that is still being made, in a transaction that stays open.
    ///
    /// - Returns: Whether the rest may follow.
    func write(_ new: NewRows, ahead headStart: HeadStart) -> Bool {
        guard !isOutcomeUnknown, let table = schema.tables[new.entity] else { return false }
        // Others could not write until the save is made, however long its hooks take, nor while this process is halted.
        if sharing?.bell.isAnyPresent == true {
            abandonHeadStart()
            return false
        }
        do throws(DataSourceError) {
            if ahead == nil, headStart.begin() {
                // Known before the transaction begins: if that fails, the head start is over.
                ahead = RowsAhead(headStart)
                // Nobody is to wait for an attempt: if another program is writing, there is none.
                connection.setPatience(.zero)
                defer { connection.setPatience(patience) }
                try sharing?.turn.take(patience: .zero)
                try begin()
            }
            guard ahead?.headStart === headStart else { return false }
            try insert(new.rows, table)
            ahead?.add(new)
            return true
        } catch {
            // Whatever it was, the commit of the save says it if it is still so.
            abandonHeadStart()
            return false
        }
    }

    /// Rolls back what was written ahead, if anything was.
    func abandonHeadStart() {
        guard ahead != nil else { return }
        endHeadStart()
        connection.rollBack()
        shrinkCache()
        sharing?.turn.release()
    }

    /// Forgets what was written ahead, as its transaction ends.
    func endHeadStart() {
        ahead?.headStart.close()
        ahead = nil
    }

    /// Takes out the rows that were written ahead and are not to be there, or not so.
    ///
    /// - Returns: The changes that are not written yet.
    func rest(of set: ChangeSet) throws(DataSourceError) -> [EntityChanges] {
        guard let ahead else { return set.entities }
        let remainder = ahead.remainder(of: set)
        rowsWritten += ahead.count
        for wrong in remainder.wrong {
            guard let table = schema.tables[wrong.entity] else { continue }
            rowsWritten -= wrong.rows.count
            try delete(wrong.rows, table)
        }
        return remainder.changes
    }
}
