public import RowStore

/// A store that the app brings.
package struct CustomLocation: Sendable, Hashable {
    package let name: String
    package let open: @Sendable (StoreOptions) throws -> (store: any PersistentStore, startup: StoreStartup)

    package static func == (one: CustomLocation, other: CustomLocation) -> Bool { one.name == other.name }

    package func hash(into hasher: inout Hasher) { hasher.combine(name) }
}

extension StoreLocation {
    /// A store of the app's own: a file format, a web service, whatever keeps rows. <doc:WritingAStore> says how to write one.
    ///
    /// ```swift
    /// let location = StoreLocation.custom(folder.path) { options in
    ///     let store = try JSONFolderStore(folder, options)
    ///     return (store, store.startup)
    /// }
    /// let container = try await PersistentContainer(model: .contacts, store: location)
    /// ```
    ///
    /// Data sources, saves, queries, lists, syncs and resets are as over any other store. A changed model or key resets it by
    /// the same rules: ``StoreOptions/plan(for:)`` decides. Backups, migration, `Configuration.trace` and `model-reset` are for
    /// the library's own stores.
    ///
    /// - Parameters:
    ///   - name: What the store is, such as its path. Locations of the same name are equal, and
    ///     ``PersistentContainer/open(_:model:)`` opens one of them only.
    ///   - open: Makes or opens the store, once for each container, on a thread that may wait. The store is this container's
    ///     alone; if somebody else may have it open, and it has no ``PersistentStore/sharing``, throw `storeInUse`. What the
    ///     function throws, opening the container throws, and the store has to be as it was.
    public static func custom(
        _ name: String,
        open:
            @escaping @Sendable (_ options: StoreOptions) throws -> (
                store: any PersistentStore, startup: StoreStartup
            )
    ) -> StoreLocation {
        var location = StoreLocation(url: nil)
        location.custom = CustomLocation(name: name, open: open)
        return location
    }
}
