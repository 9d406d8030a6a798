public import CoreDataSource
public import RowStore

extension StoreLocation {
    /// The location of a custom store, such as a file format, a web service, or anything else that keeps rows.
    /// <doc:WritingAStore> explains how to write a custom store. In the module `CoreDataSourceStores`.
    ///
    /// ```swift
    /// let location = StoreLocation.custom(folder.path) { options in
    ///     let store = try JSONFolderStore(folder, options)
    ///     return (store, store.startup)
    /// }
    /// ```
    ///
    /// Data sources, saves, queries, lists, syncs and resets work as with any other store. ``StoreOptions/plan(for:)`` decides
    /// whether a changed model or database key resets the store. Backups, migration, `Configuration.trace` and `model-reset`
    /// work only with the library's own stores.
    ///
    /// - Parameters:
    ///   - name: A name for the store, such as its path. Locations with the same name are equal, and
    ///     ``PersistentContainer/open(_:model:)`` opens only the first of them.
    ///   - open: Opens the store, or makes it if it is missing. Called once for each container, on a thread that can be
    ///     blocked. Only this container uses the returned store. If the store has no ``PersistentStore/sharing``, throw
    ///     `storeInUse` if another process might have the store open. Opening the container then throws the same error.
    ///     If the closure throws, it must leave the store unchanged.
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
