public import RowStore

/// A failure that no call can throw.
///
/// ```swift
/// for await failure in container.failures { logger.error("\(failure)") }
/// ```
public struct StoreFailure: Sendable {
    /// The kind of a failure. New kinds may be added in any release: keep a default branch.
    public struct Kind: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
        public let rawValue: String

        public init(rawValue: String) {
            self.rawValue = rawValue
        }

        public var description: String { rawValue }

        /// A save with `waitFor: .main` could not be written yet. Main shows it, and it will be tried again.
        public static let saveDelayed = Kind(rawValue: "saveDelayed")
        /// A save with `waitFor: .main` can never be written. It was taken back from all contexts.
        public static let saveRefused = Kind(rawValue: "saveRefused")
        /// A write by `writeAsync` without a callback failed. Nothing of it was saved.
        public static let writeFailed = Kind(rawValue: "writeFailed")
        /// Something is wrong in the store itself, such as a checkpoint that keeps failing or a value that cannot be read.
        public static let store = Kind(rawValue: "store")
        /// A batch runs for long while another process waits for the lease of its data source. It is reported once per batch.
        public static let batchHoldsLease = Kind(rawValue: "batchHoldsLease")
    }

    /// The kind of the failure.
    public let kind: Kind
    /// What happened, and what to do.
    public let error: DataSourceError
    /// The class name of the data source that made the save or runs the batch; nil if there is none.
    public let dataSourceName: String?

    init(_ kind: Kind, _ error: DataSourceError, dataSourceName: String?) {
        self.kind = kind
        self.error = error
        self.dataSourceName = dataSourceName
    }

    init(_ batch: LongBatch) {
        let seconds = (ContinuousClock.now - batch.begin) / .seconds(1)
        let error = DataSourceError(
            .batchHoldsLease,
            "A batch of \(batch.source) has run for \((seconds * 10).rounded() / 10) s, and another process waits for its lease. Keep "
                + "batches short in shared stores: a call that waits too long throws ownedElsewhere.")
        self.init(.batchHoldsLease, error, dataSourceName: batch.source)
    }

    /// A failure, with the data source that made the save.
    struct Report: Sendable {
        let failure: StoreFailure
        let source: SaveSource

        init(_ kind: Kind, _ error: DataSourceError, _ source: SaveSource) {
            failure = StoreFailure(kind, error, dataSourceName: source.name)
            self.source = source
        }
    }
}

extension StoreFailure: CustomStringConvertible {
    public var description: String {
        let subject = [kind.description, dataSourceName].compactMap { $0 }.joined(separator: " of ")
        return subject + (kind == .saveDelayed ? ", which is tried again: " : ": ") + "\(error)"
    }
}

/// Notifies listeners of failures, on a queue of its own, because a listener may use the container.
package final class FailureReporter: Sendable {
    private let queue: any WorkQueue
    private let state = Guarded(State())

    private struct State {
        var listeners: [Int: AsyncStream<StoreFailure>.Continuation] = [:]
        var lastID = 0
        var isFinished = false
        /// The attributes of which a value was found that reads as another.
        var damaged: Set<String> = []
    }

    /// The most failures that wait for one listener; the oldest ones beyond that are dropped.
    private static let limit = 128

    init(_ queue: any WorkQueue) {
        self.queue = queue
    }

    /// The failures from now on.
    func stream() -> AsyncStream<StoreFailure> {
        AsyncStream(bufferingPolicy: .bufferingNewest(FailureReporter.limit)) { continuation in
            let id = state.withLock { state -> Int? in
                if state.isFinished { return nil }
                state.lastID += 1
                state.listeners[state.lastID] = continuation
                return state.lastID
            }
            guard let id else { return continuation.finish() }
            continuation.onTermination = { [weak self] _ in self?.state.withLock { $0.listeners[id] = nil } }
        }
    }

    func report(_ failure: StoreFailure) {
        for listener in state.withLock({ Array($0.listeners.values) }) { listener.yield(failure) }
    }

    /// Also notifies the data source that made the save.
    func report(_ report: StoreFailure.Report) {
        self.report(report.failure)
        queue.async { report.source.handle(report.failure) }
    }

    /// Reports a stored value that reads as another, once for each attribute. It is found by whoever reads it, in any kind of store.
    func report(damage column: Int, _ layout: EntityLayout) {
        let name = "\(layout.name).\(layout.columns[column].name)"
        guard state.withLock({ $0.damaged.insert(name).inserted }) else { return }
        report(StoreFailure(.store, DataSourceError(damagedColumn: column, layout), dataSourceName: nil))
    }

    /// Ends all streams.
    func finish() {
        let listeners = state.withLock { state in
            state.isFinished = true
            defer { state.listeners = [:] }
            return Array(state.listeners.values)
        }
        for listener in listeners { listener.finish() }
    }
}

/// A batch that uses leases for which others wait.
struct LongBatch: Equatable {
    /// The name of its data source.
    let source: String
    let begin: ContinuousClock.Instant
}

/// The data source that made a save, in the form that its saves refer to.
package final class SaveSource: Sendable {
    /// The name of the data source's class.
    package let name: String
    private let state = Guarded(State())

    private struct State {
        var origin = 0
        var handler: (@Sendable (StoreFailure) -> Void)?
    }

    package init(_ name: String, origin: Int = 0) {
        self.name = name
        state.withLock { $0.origin = origin }
    }

    /// Which saves depend on each other; see ``ChangeSet/origin``.
    package var origin: Int {
        get { state.withLock { $0.origin } }
        set { state.withLock { $0.origin = newValue } }
    }

    /// Sets who is notified of the outcome of saves that no call awaits.
    func setHandler(_ handler: @escaping @Sendable (StoreFailure) -> Void) {
        state.withLock { $0.handler = handler }
    }

    func handle(_ failure: StoreFailure) {
        state.withLock { $0.handler }?(failure)
    }
}
