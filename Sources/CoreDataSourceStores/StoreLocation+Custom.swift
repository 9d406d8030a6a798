public import CoreDataSource
public import RowStore

extension StoreLocation {
    /// A custom store: a file format, a web service, or anything else that keeps rows. <doc:WritingAStore> explains how to
    /// write a custom store.
    ///
    /// ```swift
    /// let location = StoreLocation.custom(folder.path) { options in
    ///     let store = try JSONFolderStore(folder, options)
    ///     return (store, store.startup)
    /// }
    /// ```
    ///
    /// Data sources, saves, queries, lists, syncs and resets work as with any other store. A changed model or key resets it by
    /// the same rules: ``StoreOptions/plan(for:)`` decides. Backups, migration, `Configuration.trace` and `model-reset` work
    /// with the library's own stores only.
    ///
    /// - Parameters:
    ///   - name: A name for the store, such as its path. Locations with the same name are equal, and
    ///     ``PersistentContainer/open(_:model:)`` opens only the first of them.
    ///   - open: Makes or opens the store, once for each container, on a thread that may wait. The store belongs to this
    ///     container alone: throw `storeInUse` if another process may have the store open and the store has no
    ///     ``PersistentStore/sharing``. If the closure throws, opening the container throws the same error. The closure must
    ///     change nothing before it throws.
    public static func custom(
        _ name: String,
        open:
            @escaping @Sendable (_ options: StoreOptions) throws -> (
                store: any PersistentStore, startup: StoreStartup
            )
    ) -> StoreLocation {
        .custom(CustomLocation(name: name, open: open))
    }
}
