/// Rows of one entity that a save is going to insert.
package struct NewRows: Sendable {
    package let entity: Int
    package let rows: [StoredRow]

    package init(entity: Int, _ rows: [StoredRow]) {
        self.entity = entity
        self.rows = rows
    }
}

/// The rows of one large save that are handed to the store before the save is made.
package final class EarlyWrite: Sendable {
    private struct State {
        var waiting: [NewRows] = []
        var isWriting = false
        var hasBegun = false
        /// Whether its transaction is open.
        var isOpen = false
        var isOver = false
        var isWatched = false
        /// How many parts were taken.
        var progress = 0
        /// How many rows the store has written, and how many of them it had to write again.
        var written = 0
        var rewritten = 0
    }

    private let state = Guarded(State())

    package init() {}

    /// Whether no more rows are written early.
    package var isOver: Bool { state.withLock { $0.isOver } }

    /// Whether so many of the rows had to be written again that it was not worth it.
    package var wasInVain: Bool { state.withLock { $0.rewritten * 8 > $0.written } }

    /// Adds rows.
    ///
    /// - Returns: Whether somebody has to begin to take them.
    package func add(_ rows: NewRows) -> Bool {
        state.withLock { state in
            if state.isOver { return false }
            state.waiting.append(rows)
            defer { state.isWriting = true }
            return !state.isWriting
        }
    }

    /// The next rows to write, all of one entity; nil if there are not enough, and then somebody has to begin again when more
    /// are added.
    ///
    /// - Parameter sizes: The fewest and the most rows. What was added at once stays together.
    package func next(of sizes: ClosedRange<Int>) -> NewRows? {
        state.withLock { state in
            var counts: [Int: Int] = [:]
            for part in state.waiting { counts[part.entity, default: 0] += part.rows.count }
            let enough = state.waiting.first { counts[$0.entity, default: 0] >= sizes.lowerBound }
            guard let entity = enough?.entity else {
                state.isWriting = false
                return nil
            }
            // The rows of an entity keep their order.
            var (rows, rest, isFull): ([StoredRow], [NewRows], Bool) = ([], [], false)
            for part in state.waiting {
                let isNext = part.entity == entity && !isFull
                if isNext { isFull = !rows.isEmpty && rows.count + part.rows.count > sizes.upperBound }
                if isNext, !isFull { rows += part.rows } else { rest.append(part) }
            }
            state.waiting = rest
            state.progress += 1
            return NewRows(entity: entity, rows)
        }
    }

    /// Whether it begins now: it does so once, and not after its end.
    package func begin() -> Bool {
        state.withLock { state in
            if state.isOver || state.hasBegun { return false }
            (state.hasBegun, state.isOpen) = (true, true)
            return true
        }
    }

    /// Whether its transaction may still be open.
    package var isOpen: Bool { state.withLock { $0.isOpen } }

    /// Its transaction has ended.
    package func close() {
        end()
        state.withLock { $0.isOpen = false }
    }

    /// Forgets the rows that have not been taken, and takes no more. What was written stays for the commit.
    package func end() {
        state.withLock { state in
            state.isOver = true
            state.waiting = []
        }
    }

    /// Notes how much of what was written early could stay.
    package func note(written: Int, rewritten: Int) {
        state.withLock { ($0.written, $0.rewritten) = (written, rewritten) }
    }

    /// Whether nobody watches yet whether it goes on; now somebody does.
    package func watch() -> Bool {
        state.withLock { state in
            defer { state.isWatched = true }
            return !state.isWatched
        }
    }

    /// How many parts were taken so far.
    package var progress: Int { state.withLock { $0.progress } }
}

/// What a store has written of a save that is still being made.
package struct EarlyRows {
    package let earlyWrite: EarlyWrite
    /// By entity, in the order in which they were written.
    private var rows: [Int: [StoredRow]] = [:]

    /// What is left to do once the save is made.
    package struct Remainder {
        /// The changes that are not written yet.
        package var changes: [EntityChanges] = []
        /// The rows that were written, and are not to be there, or not so. They are deleted first.
        package var wrong: [NewRows] = []
    }

    package init(_ earlyWrite: EarlyWrite) {
        self.earlyWrite = earlyWrite
    }

    /// How many rows were written.
    package var count: Int { rows.values.reduce(0) { $0 + $1.count } }

    package mutating func add(_ new: NewRows) { rows[new.entity, default: []] += new.rows }

    /// Whether they are of the only save of the group.
    package func isOf(_ group: [ChangeSet]) -> Bool { group.count == 1 && group[0].earlyWrite === earlyWrite }

    /// What is left of the save, which is noted in the early write.
    package func remainder(of set: ChangeSet) -> Remainder {
        var (early, remainder) = (rows, Remainder())
        for var changes in set.entities {
            if let rows = early.removeValue(forKey: changes.entity) {
                let wrong = changes.removeInserted(equalTo: rows)
                if !wrong.isEmpty { remainder.wrong.append(NewRows(entity: changes.entity, wrong)) }
            }
            remainder.changes.append(changes)
        }
        remainder.wrong += early.map { NewRows(entity: $0.key, $0.value) }
        earlyWrite.note(written: count, rewritten: remainder.wrong.reduce(0) { $0 + $1.rows.count })
        return remainder
    }
}

extension EntityChanges {
    /// Leaves out the inserted rows that were written early with the same values.
    ///
    /// It is one pass if both lists are in the order of their keys. In another order it is right too: rows are then taken out
    /// and written again.
    ///
    /// - Returns: The rows written early that have other values now, or are not inserted any more.
    fileprivate mutating func removeInserted(equalTo early: [StoredRow]) -> [StoredRow] {
        var wrong: [StoredRow] = []
        var rest: [StoredRow] = []
        var next = 0
        for (index, new) in inserted.enumerated() {
            while next < early.count, early[next].key < new.key {
                wrong.append(early[next])
                next += 1
            }
            guard next < early.count else {
                rest += inserted[index...]
                break
            }
            guard early[next].key == new.key else {
                rest.append(new)
                continue
            }
            if !early[next].row.isIdentical(to: new.row) {
                wrong.append(early[next])
                rest.append(new)
            }
            next += 1
        }
        wrong += early[next...]
        inserted = rest
        return wrong
    }
}
