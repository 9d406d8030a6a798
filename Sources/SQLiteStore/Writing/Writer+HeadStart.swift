internal import RowStore

/// What was written ahead of a save in the open transaction.
struct RowsAhead {
    let headStart: HeadStart
    /// The rows, by entity, in the order in which they were written.
    var rows: [Int: [StoredRow]] = [:]
}

extension Writer {
    /// Writes rows of a save that is still being made, in a transaction that stays open.
    ///
    /// - Returns: Whether the rest may follow.
    func write(_ new: NewRows, ahead headStart: HeadStart) -> Bool {
        guard sharing == nil, !isOutcomeUnknown, let table = schema.tables[new.entity] else { return false }
        do throws(DataSourceError) {
            if ahead == nil, headStart.begin() {
                // Known before the transaction begins: if that fails, the head start is over.
                ahead = RowsAhead(headStart: headStart)
                // Nobody is to wait for an attempt: if another program is writing, there is none.
                connection.setPatience(.zero)
                defer { connection.setPatience(patience) }
                try begin()
            }
            guard ahead?.headStart === headStart else { return false }
            try insert(new.rows, table)
            ahead?.rows[new.entity, default: []] += new.rows
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
    }

    /// Forgets what was written ahead, as its transaction ends.
    func endHeadStart() {
        ahead?.headStart.close()
        ahead = nil
    }

    /// Whether the rows that were written ahead are those of the group, which has no other saves.
    func hasHeadStart(_ group: [ChangeSet]) -> Bool {
        guard let ahead, group.count == 1 else { return false }
        return group[0].headStart === ahead.headStart
    }

    /// Takes out the rows that were written ahead and are not to be there, or not so.
    ///
    /// - Returns: The changes that are not written yet.
    func rest(of set: ChangeSet) throws(DataSourceError) -> [EntityChanges] {
        guard var early = ahead?.rows else { return set.entities }
        var rest: [EntityChanges] = []
        var (written, wrong) = (0, [(table: EntityTable, rows: [StoredRow])]())
        for var changes in set.entities {
            if let rows = early.removeValue(forKey: changes.entity), let table = schema.tables[changes.entity] {
                written += rows.count
                wrong.append((table, changes.removeInserted(ahead: rows)))
            }
            rest.append(changes)
        }
        for (entity, rows) in early {
            guard let table = schema.tables[entity] else { continue }
            written += rows.count
            wrong.append((table, rows))
        }
        let rewritten = wrong.reduce(0) { $0 + $1.rows.count }
        ahead?.headStart.note(written: written, rewritten: rewritten)
        rowsWritten += written - rewritten
        for (table, rows) in wrong { try delete(rows, table) }
        return rest
    }
}

extension EntityChanges {
    /// Leaves out the inserted rows that were written ahead just so.
    ///
    /// It is one pass if both lists are in the order of their keys. In another order it is right too: rows are then taken out
    /// and written again.
    ///
    /// - Returns: The rows written ahead that have other values now, or are not inserted any more.
    fileprivate mutating func removeInserted(ahead early: [StoredRow]) -> [StoredRow] {
        var wrong: [StoredRow] = []
        var rest: [StoredRow] = []
        var place = 0
        for (index, new) in inserted.enumerated() {
            while place < early.count, early[place].key < new.key {
                wrong.append(early[place])
                place += 1
            }
            guard place < early.count else {
                rest += inserted[index...]
                break
            }
            guard early[place].key == new.key else {
                rest.append(new)
                continue
            }
            if !early[place].row.isIdentical(to: new.row) {
                wrong.append(early[place])
                rest.append(new)
            }
            place += 1
        }
        wrong += early[place...]
        inserted = rest
        return wrong
    }
}
