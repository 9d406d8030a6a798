internal import RowStore

/// The open snapshots of the loops over pages of a container.
///
/// The number of snapshots has a limit, because each snapshot needs a connection to a file or a server. Each snapshot
/// ends at its time limit, because a file cannot empty its log during a snapshot.
package final class PageSnapshots: Sendable {
    private static let countLimit = 8

    fileprivate struct Open {
        let rows: PinnedRows
        let limit: Duration
        let end: ContinuousClock.Instant
    }

    private struct State {
        /// The number of snapshots that are being opened.
        var opening = 0
        var lastNumber = 0
        var open: [Int: Open] = [:]
        /// The time of the next check of the limits; nil if no check is scheduled.
        var check: ContinuousClock.Instant?
    }

    private let root: RootTier
    private let state = Guarded(State())

    init(_ root: RootTier) {
        self.root = root
    }

    /// The number of open snapshots. For tests.
    package var openCount: Int { state.withLock { $0.open.count } }

    /// Opens a snapshot of all rows.
    ///
    /// - Throws: `storeBusy` if too many snapshots are open; the errors of ``RootTier/pinnedRows(for:)``.
    func open(for limit: Duration) throws(DataSourceError) -> PageSnapshot {
        endExpired()
        let isFull = state.withLock { state in
            let isFull = state.open.count + state.opening >= PageSnapshots.countLimit
            if !isFull { state.opening += 1 }
            return isFull
        }
        if isFull {
            throw DataSourceError(
                .storeBusy,
                "\(PageSnapshots.countLimit) loops over pages of this container are open, and each keeps a snapshot of the store. Begin another loop after one of them has ended."
            )
        }
        let rows: PinnedRows
        do throws(DataSourceError) { rows = try root.pinnedRows(for: .pages) } catch {
            state.withLock { $0.opening -= 1 }
            throw error
        }
        let limit = PinnedRows.limit(limit)
        let end = root.scheduling.instant() + limit
        let number = state.withLock { state in
            state.opening -= 1
            state.lastNumber += 1
            state.open[state.lastNumber] = Open(rows: rows, limit: limit, end: end)
            return state.lastNumber
        }
        scheduleCheck()
        return PageSnapshot(rows, number, of: self, limit: limit)
    }

    /// Ends the snapshots whose time is over, and reports them.
    ///
    /// Timers stand still while the system sleeps, so each read and each new loop call this function.
    fileprivate func endExpired() {
        let now = root.scheduling.instant()
        let expired = state.withLock { state in
            let expired = state.open.filter { $0.value.end <= now }
            for number in expired.keys { state.open[number] = nil }
            return expired.values.map { ($0.rows, $0.limit) }
        }
        for (rows, limit) in expired {
            rows.end()
            root.failures.report(StoreFailure(.store, DataSourceError(pagesExpiredAfter: limit), dataSourceName: nil))
        }
    }

    fileprivate func isOpen(_ number: Int) -> Bool { state.withLock { $0.open[number] != nil } }

    /// Ends a snapshot that no loop uses any more.
    fileprivate func close(_ number: Int) {
        state.withLock { $0.open.removeValue(forKey: number)?.rows }?.end()
    }

    /// Schedules a check at the earliest end, unless a check is scheduled for then or earlier. Most loops end long
    /// before their limits, so there are few checks.
    private func scheduleCheck() {
        let time = state.withLock { state -> ContinuousClock.Instant? in
            guard let end = state.open.values.map(\.end).min(), state.check.map({ $0 > end }) ?? true else {
                return nil
            }
            state.check = end
            return end
        }
        guard let time else { return }
        root.scheduling.after(max(.zero, time - root.scheduling.instant())) { [weak self] in
            guard let self else { return }
            state.withLock { if $0.check == time { $0.check = nil } }
            endExpired()
            scheduleCheck()
        }
    }
}

/// The snapshot of one loop over pages. The snapshot ends when this object is released.
final class PageSnapshot: Sendable {
    private enum End {
        case expired, lost, reset, closed
    }

    let rows: PinnedRows
    private let owner: PageSnapshots
    private let number: Int
    private let limit: Duration

    fileprivate init(_ rows: PinnedRows, _ number: Int, of owner: PageSnapshots, limit: Duration) {
        (self.rows, self.owner, self.number, self.limit) = (rows, owner, number, limit)
    }

    deinit { owner.close(number) }

    /// Reads from the snapshot.
    ///
    /// - Throws: The errors of the body; `pagesExpired`, `storeReset` or `storeClosed` if the snapshot ended before or during the
    ///   body. After the snapshot has ended, reads return the newest rows of the store. So this method drops the result of
    ///   such a read.
    func read<Result>(_ body: () throws -> Result) throws -> Result {
        if let end { throw error(of: end) }
        let result: Result
        do { result = try body() } catch {
            // The end of the snapshot explains the error, unless the error has caused the end.
            if let end, end != .lost { throw self.error(of: end) }
            throw error
        }
        if let end { throw error(of: end) }
        return result
    }

    /// How the snapshot has ended; nil if it is open.
    private var end: End? {
        owner.endExpired()
        // At the limit, the owner removes the snapshot first, and then ends `rows`. So read these two flags before `isOpen`. In
        // the other order, a snapshot that expires between the two reads would look lost or reset.
        let (hasEnded, isLost) = (rows.hasEnded, rows.isLost)
        guard owner.isOpen(number) else { return .expired }
        guard hasEnded else { return nil }
        if isLost { return .lost }
        return rows.root.isClosed ? .closed : .reset
    }

    private func error(of end: End) -> DataSourceError {
        switch end {
        case .expired: DataSourceError(pagesExpiredAfter: limit)
        case .lost:
            DataSourceError(
                .pagesExpired,
                "The store could not keep the rows of a loop over pages after an error: a read of the file has failed, or the connection to the server was lost. Begin the loop again."
            )
        case .reset:
            DataSourceError(.storeReset, "The store was reset during a loop over pages. Begin the loop again.")
        case .closed: RootTier.closed
        }
    }
}

extension DataSourceError {
    fileprivate init(pagesExpiredAfter limit: Duration) {
        self.init(
            .pagesExpired,
            "A loop over pages did not end within \(limit), so its snapshot of the store was released. Do less work for each page, or pass a longer time to pages(as:_:size:for:)."
        )
    }
}
