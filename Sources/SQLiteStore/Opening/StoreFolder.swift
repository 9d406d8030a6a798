package import Foundation
package import RowStore

/// The folder of a store.
package enum StoreFolder {
    /// Makes a folder that is missing, and those above it, for their owner alone (`0o700`). One that is there stays as it is.
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
        // What is there and is no folder is an error of opening the store.
        if error != 0 && error != EEXIST {
            throw DataSourceError(systemError: error, path: path, while: "making")
        }
    }
}
