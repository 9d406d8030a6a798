internal import Foundation
internal import RowStore

struct MainPin: Sendable {
    let rows: PinnedRows
    /// The value of ``SaveLog/unknownChangeCount`` when the context last read all its pinned rows; nil if these rows cannot
    /// contain any change that is counted later.
    var unknownChangeCount: Int?
    /// The time of the last call of `pin` or `advance`.
    var since: Date
    /// How long the pin lasts after each call of `pin` or `advance`.
    var limit: Duration
    var end: ContinuousClock.Instant
}

extension MainTier {
    /// Pins the context to the newest state. If the context is already pinned, only begins a new limit.
    func pin(for limit: Duration) throws(DataSourceError) {
        let limit = PinnedRows.limit(limit)
        if pin != nil, !endPinIfOver() {
            beginLimit(limit)
        } else {
            try move(limit)
            drainLists()
        }
    }

    /// Moves a pinned context to the newest state. If the context is not pinned, only merges saves.
    func advance() throws(DataSourceError) {
        guard let limit = pin?.limit, !endPinIfOver() else { return merge() }
        try move(limit)
        drainLists()
        stack.root.emptyLogSoon(beside: pin?.rows)
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

    /// The pinned rows. For tests.
    package var pinnedRows: PinnedRows? { pin?.rows }

    var pinState: PinState? {
        guard let pin, !pin.rows.hasEnded, !isExpired(pin) else { return nil }
        return PinState(
            since: pin.since, limit: pin.limit, waitingByteCount: stack.root.unmergedByteCount,
            logByteCount: stack.root.logByteCount)
    }

    /// Shows the newest rows, and pins them.
    private func move(_ limit: Duration) throws(DataSourceError) {
        if pin == nil { prepareToFetch() } else { stack.root.noticeOutsideWrites() }
        // The pinned rows include all changes that were noticed up to now. Changes that are noticed later may be missing, so
        // the next move, or the end of the pin, handles them.
        let staleness = stack.root.takeStaleness()
        let rows: PinnedRows
        do throws(DataSourceError) { rows = try stack.root.pinnedRows() } catch {
            stack.root.makeMainReload(staleness)
            throw error
        }
        let wasPinned = pin != nil
        let isComplete = stack.root.recordsAllUnknownChanges()
        var (taken, unknownChangeCount) = stack.root.takeForMain(through: rows.newestSave)
        let scheduling = stack.root.scheduling
        pin = MainPin(
            rows: rows, unknownChangeCount: isComplete ? nil : unknownChangeCount, since: scheduling.now(),
            limit: limit,
            end: scheduling.instant())
        beginLimit(limit)
        read(from: rows)
        taken.staleness = staleness ?? taken.staleness
        passOn(taken, makesOneReport: wasPinned)
    }

    private func beginLimit(_ limit: Duration) {
        let scheduling = stack.root.scheduling
        pin?.since = scheduling.now()
        pin?.limit = limit
        pin?.end = scheduling.instant() + limit
        scheduleCheck()
    }

    private func read(from rows: PinnedRows?) {
        context.source = rows.map { .pinned($0) } ?? stack.root.rows
        hub?.read(from: rows)
        for draft in drafts.values { draft.read(from: rows) }
        scopeHub?.reload()
    }

    /// Reads the pinned rows again after a change of unknown rows, if the change may have been in the store before the context was
    /// pinned. The pinned rows then contain the change. Later changes wait for the end of the pin.
    ///
    /// - Returns: Whether the rows were read again.
    func readPinnedRowsAgain() -> Bool {
        guard let known = pin?.unknownChangeCount, known != stack.root.unknownChangeCount else { return false }
        let isComplete = stack.root.recordsAllUnknownChanges()
        pin?.unknownChangeCount = isComplete ? nil : stack.root.unknownChangeCount
        passOn(([], knownReset, .outsideWrites))
        return true
    }

    // MARK: The end of a pin

    /// Ends the pin if the store was reset or closed, if the store has lost the snapshot, or if the limit has passed. The caller
    /// merges the saves.
    ///
    /// Timers stand still while the system sleeps, so each read and each merge calls this function.
    ///
    /// - Returns: Whether the pin has ended.
    func endPinIfOver() -> Bool {
        guard let pin else { return true }
        let (isLost, isExpired) = (pin.rows.isLost, isExpired(pin))
        guard pin.rows.hasEnded || isExpired else { return false }
        self.pin = nil
        read(from: nil)
        if isLost {
            report(
                "The store could not keep the rows of the pinned main context after an error: a read of the file has failed, or the connection to the server was lost. The context follows saves again. Pin it again if needed."
            )
        } else if !pin.rows.hasEnded {
            stack.root.noticeOutsideWrites()
            report(
                "The main context was pinned for \(pin.limit), so the pin has ended, and the context follows saves again. Call unpin() or advance() earlier, or pass a longer time to pin(for:)."
            )
        }
        return true
    }

    private func isExpired(_ pin: MainPin) -> Bool { stack.root.scheduling.instant() >= pin.end }

    /// Schedules a check at the end of the pin, unless an earlier check is scheduled.
    private func scheduleCheck() {
        guard let pin, pinCheck.map({ $0 > pin.end }) ?? true else { return }
        let time = pin.end
        pinCheck = time
        stack.root.scheduling.after(max(.zero, time - stack.root.scheduling.instant())) { [weak self] in
            Task { @MainActor in self?.checkPin(time) }
        }
    }

    private func checkPin(_ time: ContinuousClock.Instant) {
        if pinCheck == time { pinCheck = nil }
        guard let pin else { return }
        if isExpired(pin) { merge() } else { scheduleCheck() }
    }

    private func report(_ message: String) {
        let error = DataSourceError(.pinExpired, message)
        stack.root.failures.report(StoreFailure(.store, error, dataSourceName: nil))
    }
}
