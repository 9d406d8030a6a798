public import Foundation

/// Where a container keeps its rows.
///
/// ```swift
/// let file = StoreLocation.sqlite(url)
/// let shared = StoreLocation.sqlite(url, sharing: .processes)
/// let memory = StoreLocation.inMemory
/// ```
public struct StoreLocation: Sendable, Hashable {
    package let url: URL?
    /// A custom store.
    package var custom: CustomLocation?
    #if PostgreSQL
    package var server: ServerLocation?
    #endif
    /// Who may have the store open.
    package var sharing = StoreSharingMode.exclusive

    /// An SQLite file. Its folder must exist. Beside the file are a write-ahead log (`-wal`), its index (`-shm`) and a `.lock`
    /// file. If the file is a symbolic link, the store is the file that it leads to, and the other files are beside that.
    ///
    /// - Parameters:
    ///   - url: The file.
    ///   - sharing: Who may have the store open; by default this container alone. With ``StoreSharingMode/processes`` there are
    ///     also a `.gate`, a `.write` and a `.bell` file beside it. Do not remove them.
    public static func sqlite(_ url: URL, sharing: StoreSharingMode = .exclusive) -> StoreLocation {
        StoreLocation(url: url, sharing: sharing)
    }

    /// Memory. Each container has a store of its own, which is gone when the container is.
    public static let inMemory = StoreLocation(url: nil)
}
