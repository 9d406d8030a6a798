package import Foundation
package import RowStore

/// The folder of a store.
package enum StoreFolder {
    /// Makes a missing folder, and its missing parents, for their owner alone (`0o700`). An existing folder stays unchanged.
    ///
    /// - Throws: `permissionDenied`, `diskFull`, `notAFile`, `storeUnreadable`.
    package static func make(_ url: URL) throws(DataSourceError) {
        let path = url.path
        if mkdir(path, 0o700) == 0 { return }
        var error = errno
        if error == ENOENT, url.pathComponents.count > 1 {
            try make(url.deletingLastPathComponent())
            error = mkdir(path, 0o700) == 0 ? 0 : errno
        }
        // If it exists and is not a folder, opening the store throws an error.
        if error != 0 && error != EEXIST {
            throw DataSourceError(systemError: error, path: path, while: "making")
        }
    }
}
