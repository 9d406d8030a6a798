internal import RowStore

/// Writing rows of a large save while its hooks still run.
///
/// The rows go into a transaction that nobody sees. The save itself goes through everything that other saves go through; only
/// its commit finds rows that are there already. Whoever else has anything to write has the transaction rolled back.
extension RootContext {
    /// How long an open transaction may stand still before it is rolled back: other programs cannot write meanwhile.
    private static let longestPause = Duration.milliseconds(250)

    /// Whether the store can do it.
    var canWriteAhead: Bool { store is any HeadStartStore && store.sharing == nil && !store.isReadOnly }

    /// Has the rows written on the queue, as far as nobody has anything else to write.
    func write(_ rows: NewRows, ahead headStart: HeadStart) {
        if headStart.add(rows) { queue.async { self.write(headStart) } }
    }

    private func write(_ headStart: HeadStart) {
        guard let store = store as? any HeadStartStore else { return }
        while let rows = headStart.next() {
            // Of this save or of another one: its commit does the rest.
            guard pendingSaveCount == 0, store.write(rows, ahead: headStart) else { return headStart.end() }
        }
        if headStart.watch() { watch(headStart, store, seen: headStart.progress) }
    }

    /// Rolls back what was written ahead of a save that does not go on.
    private func watch(_ headStart: HeadStart, _ store: any HeadStartStore, seen: Int) {
        scheduling.after(RootContext.longestPause) { [weak self, weak headStart] in
            guard let self, let headStart, !headStart.isOver else { return }
            let progress = headStart.progress
            if progress == seen { return self.abandon(headStart) }
            self.watch(headStart, store, seen: progress)
        }
    }

    /// Rolls back what was written ahead of a save that will not be made.
    func abandon(_ headStart: HeadStart) {
        headStart.end()
        (store as? any HeadStartStore)?.abandon(headStart)
    }

    /// Waits until the store has written what was handed over so far. For tests.
    package func waitForRowsAhead() { queue.sync {} }
}
