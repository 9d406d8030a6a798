#if PostgreSQL
internal import Synchronization

/// What a store has done so far. It can be read on any thread.
package final class PostgreSQLCounters: Sendable {
    private let statements = Atomic(0)
    private let rows = Atomic(0)
    private let answers = Atomic(0)

    /// How many statements read rows.
    package var statementsRun: Int { statements.load(ordering: .relaxed) }
    /// How many rows were inserted, updated or deleted, in transactions that were committed.
    package var rowsWritten: Int { rows.load(ordering: .relaxed) }

    /// How often a connection has waited for an answer of the server, except the one that listens.
    package var roundTrips: Int { answers.load(ordering: .relaxed) }

    func count(statements: Int = 0, rows: Int = 0, roundTrips: Int = 0) {
        self.statements.wrappingAdd(statements, ordering: .relaxed)
        self.rows.wrappingAdd(rows, ordering: .relaxed)
        answers.wrappingAdd(roundTrips, ordering: .relaxed)
    }
}
#endif
