internal import Foundation
internal import RowStore

/// The stores that this process is closing. Opening one of them waits until it is closed.
///
/// The last reference to a container may be released on any thread, so its store is often closed a little later, on a queue.
final class ClosingStores: Sendable {
    static let shared = ClosingStores()

    private let condition = NSCondition()
    private let closing = Guarded<[String: Set<ObjectIdentifier>]>([:])
    /// The longest wait for a store that is being closed, in seconds.
    private static let patience: TimeInterval = 10

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

    /// Waits until this process has closed the store, and locks the store's lock file.
    ///
    /// - Parameter isShared: Whether the lock is shared instead of exclusive.
    /// - Throws: `storeInUse` if another process has the lock, or a container of this process that is not being closed.
    func lock(_ files: StoreFiles, isShared: Bool = false) throws(DataSourceError) -> LockFile {
        let end = Date(timeIntervalSinceNow: Self.patience)
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
