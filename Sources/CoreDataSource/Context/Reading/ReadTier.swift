internal import RowStore

/// A queue for reads.
actor ReadTier {
    private nonisolated let executor: QueueExecutor

    init(_ stack: PersistentStack, number: Int) {
        executor = QueueExecutor(stack.root.scheduling.makeQueue("CoreDataSource.read.\(number)", true))
    }

    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    /// Runs the body on the queue of the tier.
    func run<Result: Sendable>(_ body: @Sendable () throws -> Result) -> Swift.Result<Result, any Error> {
        Swift.Result { try body() }
    }
}

extension PersistentStack {
    /// Runs the body on a snapshot of all rows, on the current queue.
    func read<Result>(_ body: (ReadContext) throws -> Result) throws -> Result {
        let outcome = try root.withSnapshot { snapshot throws(DataSourceError) in
            Swift.Result {
                let context = ReadContext(self, .snapshot(snapshot))
                let result = try body(context)
                // If a relationship could not be read, its value was nil in the body, so throw the error now.
                try context.checkRefusal()
                return result
            }
        }
        return try outcome.get()
    }
}

/// The queues for reads outside of data sources. Each queue runs one read at a time. Waiting reads run in the order of their
/// calls.
package final class ReadQueue: Sendable {
    /// The largest number of simultaneous reads. The store has more readers than this number, so that some readers remain for
    /// private contexts.
    static let limit = 6

    private struct State {
        var idle: [ReadTier] = []
        var made = 0
        var waiting: [(number: Int, continuation: CheckedContinuation<ReadTier?, Never>)] = []
        var lastNumber = 0
        /// Calls that were canceled before they began to wait.
        var cancelled: Set<Int> = []
        var isClosed = false
        /// Calls of ``ReadQueue/close()`` that wait for the last read.
        var closing: [CheckedContinuation<Void, Never>] = []

        var isIdle: Bool { waiting.isEmpty && idle.count == made }

        /// Removes and returns the calls that wait for the last read, if that read has ended.
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

    /// Waits for a queue. Return the queue with ``give(back:)``.
    ///
    /// - Throws: `CancellationError` if the task is canceled during the wait; `storeClosed`.
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

    /// - Returns: The answer to resume with; nil if the call must wait. The answer has no tier if the call was canceled.
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
            guard let index = state.waiting.firstIndex(where: { $0.number == number }) else {
                state.cancelled.insert(number)
                return nil
            }
            return state.waiting.remove(at: index).continuation
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

    /// The number of waiting reads. For tests.
    package var waitingCount: Int { state.withLock { $0.waiting.count } }

    /// Whether new reads are refused.
    package var isClosed: Bool { state.withLock { $0.isClosed } }

    /// Makes later reads throw `storeClosed`, and returns after all earlier reads have ended.
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

/// The context of ``PersistentContainer/read(_:)``: a consistent snapshot of all rows. Later saves do not change the snapshot.
///
/// ```swift
/// let (count, names) = try await container.read { context in
///     (
///         try context.count(ContactEntity.self),
///         try context.values(ObjectRequest<ContactEntity>(), \.name)
///     )
/// }
/// ```
///
/// **Isolation**: the body of the read, which runs on a separate queue.
public final class ReadContext: ManagedObjectContext {
    /// - Parameter defersValues: False if fetched rows must have all values.
    init(_ stack: PersistentStack, _ source: RowSource, defersValues: Bool = true) {
        super.init(stack, source)
        self.defersValues = defersValues
    }

    deinit {
        // Break a reference cycle: the table of each binding retains its objects, each object retains its `ObjectHome`, and
        // each home retains the tables with the destinations of its relationships.
        for binding in bindings { binding.objects.removeAll() }
    }
}
