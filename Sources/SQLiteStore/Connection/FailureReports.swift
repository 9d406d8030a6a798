internal import Dispatch
internal import RowStore

/// Passes on errors that no call can throw.
///
/// The handler is called on a queue of its own, because the reporting code may hold locks.
final class FailureReports: Sendable {
    typealias Handler = @Sendable (DataSourceError) -> Void

    private struct State {
        var handler: Handler?
        /// Reports from before there was a handler.
        var kept: [DataSourceError] = []
        /// Earlier reports, for those that are made only once.
        var reported: Set<String> = []
    }

    /// The most reports that are kept for a handler.
    private static let keptLimit = 16
    /// The most different reports that are made once each; a model has fewer attributes than that.
    private static let reportedLimit = 10_000

    private let state = Guarded(State())
    private let queue = DispatchQueue(label: "CoreDataSource.failures", qos: .utility)

    func report(to handler: @escaping Handler) {
        let kept = state.withLock { state in
            state.handler = handler
            defer { state.kept = [] }
            return state.kept
        }
        for error in kept { queue.async { handler(error) } }
    }

    /// - Parameter once: A name under which a report is made only once.
    func report(_ error: DataSourceError, once: String? = nil) {
        let handler = state.withLock { state -> Handler? in
            if let once {
                guard state.reported.count < FailureReports.reportedLimit, state.reported.insert(once).inserted
                else { return nil }
            }
            if state.handler == nil, state.kept.count < FailureReports.keptLimit { state.kept.append(error) }
            return state.handler
        }
        if let handler { queue.async { handler(error) } }
    }
}
