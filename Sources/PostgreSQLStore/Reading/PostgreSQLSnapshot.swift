#if PostgreSQL
internal import RowStore

/// A state of the store that one connection keeps and that other connections read.
///
/// A failed statement ends a transaction. So the transaction that keeps the state runs no queries.
final class PostgreSQLSnapshot: StoreSnapshot {
    private let name: String
    private let keeper: Int
    private let readers: ReaderPool
    private let mainPatience: Duration

    init(name: String, keeper: Int, readers: ReaderPool, mainPatience: Duration) {
        self.name = name
        self.keeper = keeper
        self.readers = readers
        self.mainPatience = mainPatience
    }

    deinit { readers.endSnapshot(keeper) }

    var hasEnded: Bool { !readers.keeps(keeper) }

    func read<R>(_ body: (any StoreReader) throws(DataSourceError) -> R) throws(DataSourceError) -> R? {
        if hasEnded { return nil }
        var hasBegun = false
        do throws(DataSourceError) {
            return try MainWait.limited(to: mainPatience) { () throws(DataSourceError) in
                try readers.read(of: name) { reader throws(DataSourceError) in
                    hasBegun = true
                    return try body(reader)
                }
            }
        } catch {
            // If the connection that keeps the state has ended, the server no longer knows the state.
            let isLost = !hasBegun && (error.code == .storeUnreadable || error.code == .validationFailed)
            guard isLost else { throw error }
            readers.endSnapshot(keeper)
            return nil
        }
    }
}
#endif
