package import Foundation
internal import RowStore
package import SQLiteStore

extension FileCalls {
    /// The usual calls, for an opening that finds the store locked.
    ///
    /// - Parameters:
    ///   - url: The store's main file.
    ///   - body: Called once, after the first try to lock the store and before the next call.
    package static func system(afterFirstLockOf url: URL, _ body: @escaping @Sendable () -> Void) -> FileCalls {
        let name = url.lastPathComponent + ".lock"
        // The first call opens the lock file, the second call locks it.
        let count = Guarded(0)
        return FileCalls { call, path in
            let isNext = count.withLock { count in
                let isNext = count == 2
                if isNext || call == .lock && path.hasSuffix(name) { count += 1 }
                return isNext
            }
            if isNext { body() }
            return 0
        }
    }
}
