internal import Foundation
internal import RowStore

/// Work that was done and saved.
struct SavedWork<Result: Sendable>: Sendable {
    let result: Result
    let report: SaveReport
    /// The number of the save; nil if there was nothing to save, or if it is in the store already.
    let uncommitted: Int64?
}

extension PrivateContext {
    /// Runs the work and saves what it edited; if it throws, nothing has happened.
    ///
    /// - Parameter isAwaited: Whether the caller waits for the store. If so, and if nobody waits for this context, the save is
    ///   committed here and now. Otherwise the root commits it soon, with all others that come in meanwhile.
    func save<Result: Sendable>(
        isAwaited: Bool, _ work: (isolated PrivateContext) throws -> Result
    ) throws -> SavedWork<Result> {
        let (result, changes, number) = try transaction(isAwaited, work)
        let report = SaveReport(changes)
        guard number > 0 else { return SavedWork(result: result, report: report, uncommitted: nil) }
        if !isAwaited || executor.hasWaitingJobs {
            stack.root.commitSoon()
            return SavedWork(result: result, report: report, uncommitted: number)
        }
        let isCommitted = try stack.root.commitInPlace(number)
        return SavedWork(result: result, report: report, uncommitted: isCommitted ? nil : number)
    }

    /// Runs the work, checks what it edited, and hands it to the tiers above; if it throws, nothing has happened.
    private func transaction<Result>(
        _ isAwaited: Bool, _ work: (isolated PrivateContext) throws -> Result
    ) throws -> (result: Result, changes: ChangeSet, number: Int64) {
        beginBatch()
        defer { objects.isInBatch = false }
        do {
            let result = try work(self)
            let (changes, number) =
                objects.sharesConstraints
                ? try stack.sharedConstraints.withLock { try handOver(isAwaited) } : try handOver(isAwaited)
            objects.didSave(number)
            return (result, changes, number)
        } catch {
            objects.rollback()
            throw error
        }
    }

    /// Checks what was edited, and gives it to the root.
    private func handOver(_ isAwaited: Bool) throws(DataSourceError) -> (changes: ChangeSet, number: Int64) {
        let changes = try objects.collectChanges()
        guard !changes.isEmpty else {
            // What was only read may be of a store that is gone.
            try stack.root.checkNotReset(since: objects.position)
            return (changes, 0)
        }
        let number = try stack.root.accept(changes, from: source, basis: objects.position, isAwaited: isAwaited)
        return (changes, number)
    }

    /// Runs the work, checks what a save of it would write, and takes everything back.
    func rehearse<Result: Sendable>(_ work: @Sendable (isolated PrivateContext) throws -> Result) throws -> Result {
        beginBatch()
        defer {
            objects.rollback()
            objects.isInBatch = false
        }
        let result = try work(self)
        _ = try objects.collectChanges()
        try stack.root.checkNotReset(since: objects.position)
        return result
    }

    /// Takes in what has happened to the context's rows since the last batch.
    private func beginBatch() {
        stack.root.noticeOutsideWrites()
        if let news = stack.root.news(since: objects.position) {
            for event in news.events { objects.take(event) }
            objects.position = news.position
        }
        objects.isInBatch = true
    }
}
