internal import Foundation
internal import RowStore

/// The pin of the main context.
struct MainPin: Sendable {
    let rows: PinnedRows
    /// The time of the last call of `pin` or `advance`.
    let since: Date
    /// How long the pin lasts after each of these calls.
    let limit: Duration
    let end: ContinuousClock.Instant
}

/// Pinning.
extension MainTier {
    /// The longest time for which the context can be pinned at once.
    private static let longestLimit = Duration.seconds(86_400)

    /// Pins the context to its state, or gives a pinned context a new limit.
    func pin(for limit: Duration) throws(DataSourceError) {
        let limit = max(.zero, min(limit, MainTier.longestLimit))
        if let pin, !endLostPin() {
            show(pin.rows, limit)
        } else {
            try move(limit)
            drainLists()
        }
    }

    /// Pins the context to the newest state. Does nothing but merge saves if the context is not pinned.
    func advance() throws(DataSourceError) {
        guard let pin, !endLostPin() else { return merge() }
        try move(pin.limit)
        drainLists()
    }

    /// Makes the context follow saves again.
    func unpin() {
        guard pin != nil else { return }
        pin = nil
        read(from: nil)
        stack.root.noticeOutsideWrites()
        passOn(stack.root.takeForMain(), makesOneReport: true)
        drainLists()
    }

    var pinState: PinState? {
        guard let pin, !pin.rows.hasEnded else { return nil }
        return PinState(
            since: pin.since, limit: pin.limit, waitingByteCount: stack.root.unmergedByteCount,
            logByteCount: stack.root.logByteCount)
    }

    /// Shows the newest rows, and pins them.
    private func move(_ limit: Duration) throws(DataSourceError) {
        if pin == nil { prepareToFetch() } else { stack.root.noticeOutsideWrites() }
        // The rows include everything that was noticed up to now. What is noticed later may be missing in the rows, so the
        // next move or the end of the pin takes it.
        let staleness = stack.root.takeStaleness()
        let rows: PinnedRows
        do throws(DataSourceError) { rows = try stack.root.pinnedRows() } catch {
            stack.root.makeMainReload(staleness)
            throw error
        }
        let wasPinned = pin != nil
        show(rows, limit)
        var taken = stack.root.takeForMain(through: rows.newestSave)
        taken.staleness = staleness ?? taken.staleness
        passOn(taken, makesOneReport: wasPinned)
    }

    private func show(_ rows: PinnedRows, _ limit: Duration) {
        pin = MainPin(rows: rows, since: stack.root.scheduling.now(), limit: limit, end: .now + limit)
        read(from: rows)
        scheduleCheck()
    }

    private func read(from rows: PinnedRows?) {
        context.source = rows.map { .pinned($0) } ?? stack.root.rows
        hub?.read(from: rows)
        for draft in drafts.values { draft.read(from: rows) }
    }

    // MARK: The end of a pin

    /// Ends the pin if the store was reset or closed, or has lost the snapshot. The caller merges the saves.
    ///
    /// - Returns: Whether the pin has ended.
    func endLostPin() -> Bool {
        guard let pin, pin.rows.hasEnded else { return pin == nil }
        self.pin = nil
        read(from: nil)
        if pin.rows.isLost {
            report(
                "The server has ended the connection that kept the rows of the pinned main context, so the context follows saves again. Pin it again if needed."
            )
        }
        return true
    }

    /// Schedules a check at the end of the pin, unless an earlier check is scheduled.
    private func scheduleCheck() {
        guard let pin, pinCheck.map({ $0 > pin.end }) ?? true else { return }
        let time = pin.end
        pinCheck = time
        stack.root.scheduling.after(max(.zero, time - .now)) { [weak self] in
            Task { @MainActor in self?.checkPin(time) }
        }
    }

    private func checkPin(_ time: ContinuousClock.Instant) {
        if pinCheck == time { pinCheck = nil }
        guard let pin else { return }
        guard .now >= pin.end else { return scheduleCheck() }
        unpin()
        report(
            "The main context was pinned for \(pin.limit), so the pin has ended, and the context follows saves again. Call unpin() or advance() earlier, or pass a longer time to pin(for:)."
        )
    }

    private func report(_ message: String) {
        let error = DataSourceError(.pinExpired, message)
        stack.root.failures.report(StoreFailure(.store, error, dataSourceName: nil))
    }
}
