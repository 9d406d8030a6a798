#if PostgreSQL
internal import RowStore

extension DataSourceError {
    init(damagedSharing name: String) {
        self.init(
            .storeCorrupt,
            "The tables by which processes share the store \(name) differ from those that this library made. Close the store "
                + "everywhere, and open it with the reset policy .discard.")
    }
}
#endif
