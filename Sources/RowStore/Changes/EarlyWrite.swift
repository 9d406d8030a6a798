/// Rows of one entity that a save will insert.
package struct NewRows: Sendable {
    package let entity: Int
    package let rows: [StoredRow]

    package init(entity: Int, _ rows: [StoredRow]) {
        self.entity = entity
        self.rows = rows
    }
}

/// The queue for new rows of a large save. The store may write these rows early, before the save is complete.
package final class EarlyWrite: Sendable {
    private struct State {
        var waiting: [NewRows] = []
        var isWriting = false
        var hasBegun = false
        /// Whether the transaction with the early rows is open.
        var isOpen = false
        var hasEnded = false
        var isWatched = false
        var progress = 0
        /// The number of rows that the store wrote early, and the number of these rows that it deleted because they
        /// were stale.
        var written = 0
        var stale = 0
    }

    private let state = Guarded(State())

    package init() {}

    /// Whether the early write has ended, so that no more rows are accepted.
    package var hasEnded: Bool { state.withLock { $0.hasEnded } }

    /// Whether more than an eighth of the early rows were stale: the save did not insert them, or inserted them with other
    /// values. If so, the early write saved no time.
    package var wasWasteful: Bool { state.withLock { $0.stale * 8 > $0.written } }

    /// Adds rows. Does nothing if the early write has ended.
    ///
    /// - Returns: Whether the caller must call ``next(of:)`` to take rows. False if another caller is already taking rows, or
    ///   if the early write has ended.
    package func add(_ rows: NewRows) -> Bool {
        state.withLock { state in
            if state.hasEnded { return false }
            state.waiting.append(rows)
            defer { state.isWriting = true }
            return !state.isWriting
        }
    }

    /// Returns the next rows to write, all of the same entity. Returns nil if no entity has enough rows. After nil, the next
    /// ``add(_:)`` returns true.
    ///
    /// - Parameter sizes: The minimum and maximum number of rows. Rows of one call of ``add(_:)`` are never split, even if they
    ///   exceed the maximum.
    package func next(of sizes: ClosedRange<Int>) -> NewRows? {
        state.withLock { state in
            var counts: [Int: Int] = [:]
            for part in state.waiting { counts[part.entity, default: 0] += part.rows.count }
            let enough = state.waiting.first { counts[$0.entity, default: 0] >= sizes.lowerBound }
            guard let entity = enough?.entity else {
                state.isWriting = false
                return nil
            }
            // The rows of an entity must keep their order. So after the first part that does not fit, later parts wait, too.
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

    /// Marks the transaction with the early rows as open. Returns false if such a transaction was opened before, or if the early
    /// write has ended.
    package func begin() -> Bool {
        state.withLock { state in
            if state.hasEnded || state.hasBegun { return false }
            (state.hasBegun, state.isOpen) = (true, true)
            return true
        }
    }

    /// Whether the transaction can still be open.
    package var isOpen: Bool { state.withLock { $0.isOpen } }

    /// Ends the early write. Called after its transaction has ended.
    package func close() {
        end()
        state.withLock { $0.isOpen = false }
    }

    /// Ends the early write and drops the rows in the queue. Rows that the store has already written are kept for the commit.
    package func end() {
        state.withLock { state in
            state.hasEnded = true
            state.waiting = []
        }
    }

    /// Records how many rows were written early, and how many of these rows had to be deleted because they were stale.
    package func record(written: Int, stale: Int) {
        state.withLock { ($0.written, $0.stale) = (written, stale) }
    }

    /// Claims the right to watch the progress. Returns true only to the first caller.
    package func watch() -> Bool {
        state.withLock { state in
            defer { state.isWatched = true }
            return !state.isWatched
        }
    }

    /// The number of times that rows were taken from the queue.
    package var progress: Int { state.withLock { $0.progress } }
}

/// The rows that a store has written early for one save.
package struct EarlyRows {
    package let earlyWrite: EarlyWrite
    /// The rows by entity, in the order in which they were written.
    private var rows: [Int: [StoredRow]] = [:]

    /// The work that remains at the commit of the save.
    package struct Remainder {
        /// The changes that are not written yet.
        package var changes: [EntityChanges] = []
        /// The early rows that the save does not insert, or inserts with other values. The store deletes these rows first.
        package var stale: [NewRows] = []
    }

    package init(_ earlyWrite: EarlyWrite) {
        self.earlyWrite = earlyWrite
    }

    package var count: Int { rows.values.reduce(0) { $0 + $1.count } }

    package mutating func add(_ new: NewRows) { rows[new.entity, default: []] += new.rows }

    /// Whether the group consists of only the save to which these rows belong.
    package func belongsTo(_ group: [ChangeSet]) -> Bool { group.count == 1 && group[0].earlyWrite === earlyWrite }

    /// Returns the remaining work for the save. Records in the early write how many of its rows were stale.
    package func remainder(of set: ChangeSet) -> Remainder {
        var (earlyRows, remainder) = (rows, Remainder())
        for var changes in set.entities {
            if let rows = earlyRows.removeValue(forKey: changes.entity) {
                let stale = changes.removeInserted(equalTo: rows)
                if !stale.isEmpty { remainder.stale.append(NewRows(entity: changes.entity, stale)) }
            }
            remainder.changes.append(changes)
        }
        remainder.stale += earlyRows.map { NewRows(entity: $0.key, $0.value) }
        earlyWrite.record(written: count, stale: remainder.stale.reduce(0) { $0 + $1.rows.count })
        return remainder
    }
}

extension EntityChanges {
    /// Removes the rows from ``inserted`` that were written early with the same values.
    ///
    /// If both lists are sorted by key, one pass finds all equal rows. In any other order, the result is still correct, but
    /// some rows are deleted and written again.
    ///
    /// - Returns: The early rows that now have other values, or are no longer inserted.
    fileprivate mutating func removeInserted(equalTo earlyRows: [StoredRow]) -> [StoredRow] {
        var stale: [StoredRow] = []
        var rest: [StoredRow] = []
        var next = 0
        for (index, new) in inserted.enumerated() {
            while next < earlyRows.count, earlyRows[next].key < new.key {
                stale.append(earlyRows[next])
                next += 1
            }
            guard next < earlyRows.count else {
                rest += inserted[index...]
                break
            }
            guard earlyRows[next].key == new.key else {
                rest.append(new)
                continue
            }
            if !earlyRows[next].row.isIdentical(to: new.row) {
                stale.append(earlyRows[next])
                rest.append(new)
            }
            next += 1
        }
        stale += earlyRows[next...]
        inserted = rest
        return stale
    }
}
