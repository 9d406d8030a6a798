internal import RowStore

/// One queue for reads.
actor ReadTier {
    private nonisolated let stack: PersistentStack
    private nonisolated let executor: QueueExecutor

    init(_ stack: PersistentStack, number: Int) {
        self.stack = stack
        executor = QueueExecutor(stack.root.scheduling.makeQueue("CoreDataSource.read.\(number)", true))
    }

    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    func read<Result: Sendable>(
        _ body: @Sendable (ReadContext) throws -> Result
    ) -> Swift.Result<Result, any Error> {
        Swift.Result { try readSnapshot(body) }
    }

    private func readSnapshot<Result: Sendable>(
        _ body: @Sendable (ReadContext) throws -> Result
    ) throws -> Result {
        let outcome = try stack.root.withSnapshot { snapshot throws(DataSourceError) in
            Swift.Result {
                let context = ReadContext(stack, .snapshot(snapshot))
                let result = try body(context)
                // A relationship that could not be read was nil in the body.
                if let refusal = context.refusal {
                    throw refusal.code == .cancelled ? CancellationError() : refusal
                }
                return result
            }
        }
        return try outcome.get()
    }
}

/// The queues for reads that belong to no data source: each is given to one read at a time, in the order of asking.
package final class ReadQueue: Sendable {
    /// The most reads at once, so that readers of the store are left for private contexts.
    static let limit = 6

    private struct State {
        var idle: [ReadTier] = []
        var made = 0
        var waiting: [(number: Int, continuation: CheckedContinuation<ReadTier?, Never>)] = []
        var lastNumber = 0
        /// Calls that were cancelled before they began to wait.
        var cancelled: Set<Int> = []
        var isClosed = false
        /// Calls that wait for the last read to end.
        var closing: [CheckedContinuation<Void, Never>] = []

        var isIdle: Bool { waiting.isEmpty && idle.count == made }

        /// The calls to notify that the last read has ended, if it has.
        mutating func takeClosing() -> [CheckedContinuation<Void, Never>] {
            guard isIdle else { return [] }
            defer { closing = [] }
            return closing
        }
    }

    private let stack: PersistentStack
    private let state = Guarded(State())

    init(_ stack: PersistentStack) {
        self.stack = stack
    }

    /// A queue for the caller alone, until it is returned.
    ///
    /// - Throws: `CancellationError` if the task is cancelled before; `storeClosed`.
    func take() async throws -> ReadTier {
        try Task.checkCancellation()
        let number = try state.withLock { (state) throws(DataSourceError) in
            if state.isClosed { throw RootTier.closed }
            state.lastNumber += 1
            return state.lastNumber
        }
        let tier = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                if let answer = enter(number, continuation) { continuation.resume(returning: answer.tier) }
            }
        } onCancel: {
            cancel(number)
        }
        state.withLock { _ = $0.cancelled.remove(number) }
        guard let tier else { throw CancellationError() }
        return tier
    }

    /// - Returns: What to resume with; nil if the call must wait.
    private func enter(
        _ number: Int, _ continuation: CheckedContinuation<ReadTier?, Never>
    ) -> (tier: ReadTier?, Void)? {
        state.withLock { state in
            if state.cancelled.contains(number) { return (nil, ()) }
            if let tier = state.idle.popLast() { return (tier, ()) }
            if state.made < ReadQueue.limit {
                state.made += 1
                return (ReadTier(stack, number: state.made), ())
            }
            state.waiting.append((number, continuation))
            return nil
        }
    }

    private func cancel(_ number: Int) {
        let waiting = state.withLock { state -> CheckedContinuation<ReadTier?, Never>? in
            guard let place = state.waiting.firstIndex(where: { $0.number == number }) else {
                state.cancelled.insert(number)
                return nil
            }
            return state.waiting.remove(at: place).continuation
        }
        waiting?.resume(returning: nil)
    }

    func give(back tier: ReadTier) {
        let next = state.withLock { state -> CheckedContinuation<ReadTier?, Never>? in
            if !state.waiting.isEmpty { return state.waiting.removeFirst().continuation }
            state.idle.append(tier)
            return nil
        }
        if let next { return next.resume(returning: tier) }
        for continuation in state.withLock({ $0.takeClosing() }) { continuation.resume() }
    }

    /// How many reads wait for their turn. For tests.
    package var waitingCount: Int { state.withLock { $0.waiting.count } }

    /// Whether no more reads begin.
    package var isClosed: Bool { state.withLock { $0.isClosed } }

    /// Returns once all earlier reads have ended. Later ones throw `storeClosed`.
    func close() async {
        await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
            let isIdle = state.withLock { state in
                state.isClosed = true
                if !state.isIdle { state.closing.append(continuation) }
                return state.isIdle
            }
            if isIdle { continuation.resume() }
        }
    }
}

/// The context of ``PersistentContainer/read(_:)``: one state of all rows, which no later save changes.
///
/// ```swift
/// let (count, names) = try await container.read { context in
///     (try context.count(ContactEntity.self), try context.values(ObjectRequest<ContactEntity>(), \.name))
/// }
/// ```
///
/// **Isolation**: the call that gets it.
public final class ReadContext: ManagedObjectContext {
    /// - Parameter defersValues: False if all values are needed.
    init(_ stack: PersistentStack, _ source: RowSource, defersValues: Bool = true) {
        super.init(stack, source)
        self.defersValues = defersValues
    }

    deinit {
        // The homes of objects refer to tables of objects, so nothing else would free them.
        for binding in bindings { binding.objects.removeAll() }
    }
}
