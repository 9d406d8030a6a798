/// Rows that exist as long as the store: for previews, tests, and data that must leave no trace.
///
/// It gives the same answers as the SQLite store. A reader works on the state at its beginning; a commit meanwhile copies the
/// tables that it changes.
package final class InMemoryStore: PersistentStore {
    private let rows: InMemoryRows

    package init(_ layout: ModelLayout) {
        rows = InMemoryRows(layout)
    }

    package var firstFreeKey: Int64 { rows.firstFreeKey }

    package func commit(_ group: [ChangeSet]) throws(DataSourceError) -> CommitOutcome {
        try rows.commit(group)
    }

    package func read<R>(_ isolation: ReadIsolation, _ body: (any StoreReader) throws(DataSourceError) -> R)
        throws(DataSourceError) -> R
    {
        try rows.read(isolation, body)
    }

    package func reset(didEmpty: () -> Void) throws(DataSourceError) -> StoreStartup {
        StoreStartup(reason: .requested, rowsDropped: try rows.removeAll(didEmpty: didEmpty))
    }

    package func close() { rows.close() }
}
