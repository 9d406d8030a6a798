public import RowStore

/// A failure that no call can throw, reported by a container.
///
/// ```swift
/// for await failure in container.failures { print(failure) }
/// ```
public struct StoreFailure: Sendable {
    /// The kind of a failure. A release may add new kinds, so a switch over kinds needs a default branch.
    public struct Kind: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
        public let rawValue: String

        /// Creates the kind with the given raw value, for example from a log.
        ///
        /// ```swift
        /// let kind = StoreFailure.Kind(rawValue: "saveDelayed")
        /// ```
        public init(rawValue: String) {
            self.rawValue = rawValue
        }

        public var description: String { rawValue }

        /// A save with `waitFor: .main` could not be written yet. The main context shows the save, and the container
        /// tries again.
        public static let saveDelayed = Kind(rawValue: "saveDelayed")
        /// A save with `waitFor: .main` was refused. The save was rolled back in all contexts.
        public static let saveRefused = Kind(rawValue: "saveRefused")
        /// A call of `writeAsync` without a callback failed. The call saved nothing.
        public static let writeFailed = Kind(rawValue: "writeFailed")
        /// The store itself has a problem, such as a checkpoint that keeps failing or a value that cannot be read.
        public static let store = Kind(rawValue: "store")
        /// A batch takes long while another process waits for a lease that the batch uses. Each batch is reported once.
        public static let batchHoldsLease = Kind(rawValue: "batchHoldsLease")
    }

    /// The kind of the failure.
    public let kind: Kind
    /// The error. Its message says what happened and what to do.
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
            "A batch of \(batch.source) has run for \((seconds * 10).rounded() / 10) s, and another process waits for a lease of this batch. Keep "
                + "batches short in shared stores: a call that waits too long throws leaseUnavailable.")
        self.init(.batchHoldsLease, error, dataSourceName: batch.source)
    }

    /// The failure of a save, and the data source that made the save.
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
        return subject + (kind == .saveDelayed ? " (the container tries the save again): " : ": ") + "\(error)"
    }
}

/// Notifies listeners of failures. The notifications run on a separate queue, because a listener may use the container.
package final class FailureReporter: Sendable {
    private let queue: any WorkQueue
    private let state = Guarded(State())

    private struct State {
        var listeners: [Int: AsyncStream<StoreFailure>.Continuation] = [:]
        var lastID = 0
        var isFinished = false
        /// The attributes for which a damaged value was already reported.
        var damaged: Set<String> = []
    }

    /// The largest number of failures that wait for one listener. Beyond the limit, the oldest failures are dropped.
    private static let limit = 128

    init(_ queue: any WorkQueue) {
        self.queue = queue
    }

    /// Returns a stream of all failures from now on.
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

    /// Reports the failure of a save to the listeners, and to the data source that made the save.
    func report(_ report: StoreFailure.Report) {
        self.report(report.failure)
        queue.async { report.source.handle(report.failure) }
    }

    /// Reports a stored value that does not have the type of its attribute. Reports each attribute only once.
    func report(damage column: Int, _ layout: EntityLayout) {
        let name = "\(layout.name).\(layout.columns[column].name)"
        guard state.withLock({ $0.damaged.insert(name).inserted }) else { return }
        report(StoreFailure(.store, DataSourceError(damagedColumn: column, layout), dataSourceName: nil))
    }

    func finish() {
        let listeners = state.withLock { state in
            state.isFinished = true
            defer { state.listeners = [:] }
            return Array(state.listeners.values)
        }
        for listener in listeners { listener.finish() }
    }
}

/// A batch that uses leases for which other members wait.
struct LongBatch: Equatable {
    /// The class name of the data source.
    let source: String
    let begin: ContinuousClock.Instant
}

/// Identifies the data source of a save, and passes failures of the save to that data source.
package final class SaveSource: Sendable {
    /// The class name of the data source.
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

    /// The origin of the data source's saves. Saves with the same origin depend on each other; see ``ChangeSet/origin``.
    package var origin: Int {
        get { state.withLock { $0.origin } }
        set { state.withLock { $0.origin = newValue } }
    }

    /// Sets the handler for failures of saves that no call awaits.
    func setHandler(_ handler: @escaping @Sendable (StoreFailure) -> Void) {
        state.withLock { $0.handler = handler }
    }

    func handle(_ failure: StoreFailure) {
        state.withLock { $0.handler }?(failure)
    }
}
