/// What a store has written of a save that is still being made.
package struct RowsAhead {
    package let headStart: HeadStart
    /// By entity, in the order in which they were written.
    private var rows: [Int: [StoredRow]] = [:]

    /// What is left to do once the save is made.
    package struct Remainder {
        /// The changes that are not written yet.
        package var changes: [EntityChanges] = []
        /// The rows that were written, and are not to be there, or not so. They are deleted first.
        package var wrong: [NewRows] = []
    }

    package init(_ headStart: HeadStart) {
        self.headStart = headStart
    }

    /// How many rows were written.
    package var count: Int { rows.values.reduce(0) { $0 + $1.count } }

    package mutating func add(_ new: NewRows) { rows[new.entity, default: []] += new.rows }

    /// Whether they are of the only save of the group.
    package func isOf(_ group: [ChangeSet]) -> Bool { group.count == 1 && group[0].headStart === headStart }

    /// What is left of the save, which is noted in the head start.
    package func remainder(of set: ChangeSet) -> Remainder {
        var (early, remainder) = (rows, Remainder())
        for var changes in set.entities {
            if let rows = early.removeValue(forKey: changes.entity) {
                let wrong = changes.removeInserted(ahead: rows)
                if !wrong.isEmpty { remainder.wrong.append(NewRows(entity: changes.entity, wrong)) }
            }
            remainder.changes.append(changes)
        }
        remainder.wrong += early.map { NewRows(entity: $0.key, $0.value) }
        headStart.note(written: count, rewritten: remainder.wrong.reduce(0) { $0 + $1.rows.count })
        return remainder
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
