public import Foundation

/// Where a container keeps its rows.
public struct StoreLocation: Sendable, Hashable {
    package let url: URL?
    /// A store that the app brings.
    package var custom: CustomLocation?
    #if PostgreSQL
    package var server: ServerLocation?
    #endif
    /// Who may have the store open.
    package var sharing = StoreSharingMode.exclusive

    /// An SQLite file. Its folder must exist. Beside it are a write-ahead log (`-wal`), its index (`-shm`) and a `.lock`. If the
    /// file is a symbolic link, the store is what it leads to, and the others are beside that.
    ///
    /// - Parameters:
    ///   - url: The file.
    ///   - sharing: Who may have it open; by default this container alone. With ``StoreSharingMode/processes`` there are also
    ///     a `.gate`, a `.write` and a `.bell` beside the file. Nobody may remove them.
    public static func sqlite(_ url: URL, sharing: StoreSharingMode = .exclusive) -> StoreLocation {
        StoreLocation(url: url, sharing: sharing)
    }

    /// Memory. Each container has a store of its own, which ends with it.
    public static let inMemory = StoreLocation(url: nil)
}

/// Who may have a store open.
public enum StoreSharingMode: Sendable, Hashable {
    /// One container of one process. The default.
    case exclusive
    /// Any number of processes of one machine, with any number of containers each. All of them have to say so.
    ///
    /// Each adds, syncs, deletes, reads and follows the others; <doc:SharingAStore> says how. The file has to be on a local
    /// disk. The first container to open it may make, reset or migrate it; later ones throw `storeInUse` if they would have
    /// to.
    case processes
}
