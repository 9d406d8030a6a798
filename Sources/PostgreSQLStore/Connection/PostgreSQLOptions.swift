#if PostgreSQL
internal import Foundation
package import RowStore

/// How a store on a server is opened.
package struct PostgreSQLOptions: Sendable {
    /// A URI or keywords, as libpq reads them.
    package var connection: String
    /// The store's name in the database.
    package var name: String
    package var layout: ModelLayout
    package var identity: StoreIdentity
    package var synchronous: SynchronousLevel
    package var resetPolicy: ResetPolicy
    /// Whether nothing is made or changed.
    var isReadOnly = false
    /// The settings that lead to one of several servers; empty for whichever answers.
    var server: [String: String] = [:]
    /// The listener for the statements that run once the store is open.
    package var tracing: StatementTracing?
    /// Called while rows are carried over to another model.
    package var migrationProgress: (@Sendable (MigrationProgress) -> Void)?
    /// How long leases are kept and waited for.
    package var leaseTimes = LeaseTimes()
    /// Whether the server is asked for notifications; false for tests of servers that have none.
    package var isNotified = true
    /// How long an answer of the server may take while no bytes come or go, and the server works on it.
    package var patience = Duration.seconds(60)
    /// After how much of that time the server is asked whether it works on the answer at all.
    package var silence = Duration.seconds(10)
    /// How long a connection that reads is kept while nobody reads with it.
    package var idleReaderTime = Duration.seconds(30)
    /// How long main waits for the server.
    package var mainPatience = Duration.seconds(10)
    /// How long to ask for the outcome of a transaction whose answer was lost.
    package var settlingPatience = Duration.seconds(30)
    /// How long a transaction of any program may be open until it is reported, because it makes tables grow.
    package var oldTransactionAge = Duration.seconds(600)
    /// Waits before something is tried again.
    package var wait: @Sendable (Duration) -> Void = { Thread.sleep(forTimeInterval: $0 / .seconds(1)) }

    /// The longest value that a store on a server takes, in bytes.
    static let longestValue = min(RowSnapshot.longestValue, 256 << 20)

    package init(
        connection: String, name: String, layout: ModelLayout, identity: StoreIdentity,
        synchronous: SynchronousLevel = .full, resetPolicy: ResetPolicy = .standard
    ) {
        self.connection = connection
        self.name = name
        self.layout = layout
        self.identity = identity
        self.synchronous = synchronous
        self.resetPolicy = resetPolicy
    }

    var target: ConnectionTarget {
        ConnectionTarget(
            connection: connection, isReadOnly: isReadOnly, server: server, patience: patience, silence: silence)
    }
}
#endif
