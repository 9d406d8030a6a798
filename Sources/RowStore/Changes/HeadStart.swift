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
package final class HeadStart: Sendable {
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

    /// Whether no more rows are written ahead.
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

    /// The next rows to write; nil if there are none, and then somebody has to begin again when more are added.
    package func next() -> NewRows? {
        state.withLock { state in
            if state.waiting.isEmpty {
                state.isWriting = false
                return nil
            }
            state.progress += 1
            return state.waiting.removeFirst()
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

    /// Notes how much of what was written ahead could stay.
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
