internal import RowStore

/// Writing rows of a large save while its hooks still run.
///
/// The rows go into a transaction that nobody sees. The save itself goes through everything that other saves go through; only
/// its commit finds rows that are there already. Whoever else has anything to write has the transaction rolled back.
extension RootContext {
    /// How long an open transaction may stand still before it is rolled back: other programs cannot write to a file meanwhile.
    private static let longestPause = Duration.milliseconds(250)
    /// How many such pauses it may last in all.
    private static let longestTime = 20

    /// Has the rows written on the queue, as far as nobody has anything else to write.
    func write(_ rows: NewRows, ahead headStart: HeadStart) {
        if headStart.add(rows) { writeNext(headStart) }
    }

    /// Writes what was added in one piece, and goes on after whatever else waits for the queue.
    private func writeNext(_ headStart: HeadStart) {
        queue.async {
            guard let store = self.headStartStore, let rows = headStart.next(of: store.rowsWrittenAhead) else { return }
            // Of this save or of another one: its commit does the rest.
            guard self.pendingSaveCount == 0, store.write(rows, ahead: headStart) else { return headStart.end() }
            if headStart.watch() { self.watch(headStart, seen: headStart.progress, turnsLeft: Self.longestTime) }
            self.writeNext(headStart)
        }
    }

    /// Rolls back what was written ahead of a save that does not go on, or takes too long.
    private func watch(_ headStart: HeadStart, seen: Int, turnsLeft: Int) {
        scheduling.after(RootContext.longestPause) { [weak self, weak headStart] in
            guard let self, let headStart, headStart.isOpen else { return }
            let progress = headStart.progress
            if progress == seen || turnsLeft == 0 { return self.abandon(headStart) }
            self.watch(headStart, seen: progress, turnsLeft: turnsLeft - 1)
        }
    }

    /// Rolls back what was written ahead of a save that will not be made.
    func abandon(_ headStart: HeadStart) {
        headStart.end()
        headStartStore?.abandon(headStart)
    }

    /// Waits until the queue has done what was enqueued so far. For tests.
    package func waitForQueue() { queue.sync {} }
}
