public import Foundation

/// Where a container keeps its rows.
public struct StoreLocation: Sendable, Hashable {
    package let url: URL?

    /// An SQLite file. Its folder must exist. Beside it are a write-ahead log (`-wal`), its index (`-shm`) and a `.lock`. If the
    /// file is a symbolic link, the store is what it leads to, and the others are beside that.
    public static func sqlite(_ url: URL) -> StoreLocation { StoreLocation(url: url) }

    /// Memory: each container has its own, and it is gone with it.
    public static let inMemory = StoreLocation(url: nil)
}
