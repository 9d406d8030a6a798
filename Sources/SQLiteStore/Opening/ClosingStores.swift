internal import Foundation
internal import RowStore

/// The stores that this process is closing. Opening such a store waits until the closing is finished.
///
/// The last reference to a container may be released on any thread. A queue therefore often closes the store a little later.
final class ClosingStores: Sendable {
    static let shared = ClosingStores()

    private let condition = NSCondition()
    private let closing = Guarded<[String: Set<ObjectIdentifier>]>([:])
    /// The longest time to wait until a store is closed, in seconds.
    private static let closeTimeout: TimeInterval = 10

    func add(_ path: String, _ store: AnyObject) {
        _ = closing.withLock { $0[path, default: []].insert(ObjectIdentifier(store)) }
    }

    func remove(_ path: String, _ store: AnyObject) {
        let id = ObjectIdentifier(store)
        let isRemoved = closing.withLock { closing -> Bool in
            guard closing[path]?.remove(id) != nil else { return false }
            if closing[path]?.isEmpty == true { closing[path] = nil }
            return true
        }
        guard isRemoved else { return }
        condition.lock()
        condition.broadcast()
        condition.unlock()
    }

    /// Waits until this process has closed the store, then locks the store's lock file.
    ///
    /// - Parameter isShared: True for a shared lock, false for an exclusive lock.
    /// - Throws: `storeInUse` if another process has the lock, or if a container of this process has the lock and does
    ///   not close in time.
    func lock(_ files: StoreFiles, isShared: Bool = false) throws(DataSourceError) -> LockFile {
        let end = Date(timeIntervalSinceNow: Self.closeTimeout)
        while true {
            let wasClosing = isClosing(files.main)
            do throws(DataSourceError) { return try LockFile(files, isShared: isShared) } catch {
                guard error.code == .storeInUse, wasClosing, wait(files.main, until: end) else { throw error }
            }
        }
    }

    private func isClosing(_ path: String) -> Bool { closing.withLock { $0[path] != nil } }

    /// - Returns: Whether the store was closed in time.
    private func wait(_ path: String, until end: Date) -> Bool {
        condition.lock()
        defer { condition.unlock() }
        while isClosing(path) {
            if !condition.wait(until: end) { return false }
        }
        return true
    }
}
