package import RowStore

extension PersistentStore {
    /// Commits change sets, none of which may be refused.
    ///
    /// - Throws: What the commit throws, or why the first one was refused.
    package func write(_ group: [ChangeSet]) throws(DataSourceError) {
        let refused = try commit(group).refused
        if let first = refused.keys.min(), let error = refused[first] { throw error }
    }
}
