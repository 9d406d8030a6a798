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
    /// - Parameter inPlace: Whether to commit here and now if nobody waits for this context. Otherwise the root commits the
    ///   save soon, with all others that come in meanwhile.
    func save<Result: Sendable>(
        inPlace: Bool, _ work: (isolated PrivateContext) throws -> Result
    ) throws -> SavedWork<Result> {
        let (result, changes, number) = try transaction(work)
        let report = SaveReport(changes)
        guard number > 0 else { return SavedWork(result: result, report: report, uncommitted: nil) }
        if !inPlace || executor.hasWaitingJobs {
            stack.root.commitSoon()
            return SavedWork(result: result, report: report, uncommitted: number)
        }
        let isCommitted = try stack.root.commitInPlace(number)
        return SavedWork(result: result, report: report, uncommitted: isCommitted ? nil : number)
    }

    /// Runs the work, checks what it edited, and hands it to the tiers above; if it throws, nothing has happened.
    private func transaction<Result>(
        _ work: (isolated PrivateContext) throws -> Result
    ) throws -> (result: Result, changes: ChangeSet, number: Int64) {
        beginBatch()
        defer { objects.isInBatch = false }
        do {
            let result = try work(self)
            let (changes, number) =
                objects.sharesConstraints
                ? try stack.sharedConstraints.withLock { try handOver() } : try handOver()
            objects.didSave(number)
            return (result, changes, number)
        } catch {
            objects.rollback()
            throw error
        }
    }

    /// Checks what was edited, and gives it to the root.
    private func handOver() throws(DataSourceError) -> (changes: ChangeSet, number: Int64) {
        let changes = try objects.collectChanges()
        guard !changes.isEmpty else {
            // What was only read may be of a store that is gone.
            try stack.root.checkNotReset(since: objects.generation)
            return (changes, 0)
        }
        return (changes, try stack.root.accept(changes, generation: objects.generation))
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
        try stack.root.checkNotReset(since: objects.generation)
        return result
    }

    private func beginBatch() {
        objects.isInBatch = true
        let generation = stack.root.generation
        if objects.generation != generation {
            objects.forgetAll()
            objects.generation = generation
        }
    }
}
