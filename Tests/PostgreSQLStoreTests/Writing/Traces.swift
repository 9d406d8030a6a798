#if PostgreSQL
import RowStore
import Synchronization

/// The statements that a store reports.
final class Traces: Sendable {
    private let reported = Mutex<[StatementTrace]>([])

    var tracing: StatementTracing {
        StatementTracing(showsValues: false) { [self] trace in reported.withLock { $0.append(trace) } }
    }

    func forget() { reported.withLock { $0 = [] } }

    /// Those that begin so, in their order.
    func all(_ start: String) -> [StatementTrace] {
        reported.withLock { $0.filter { $0.sql.hasPrefix(start) } }
    }
}
#endif
