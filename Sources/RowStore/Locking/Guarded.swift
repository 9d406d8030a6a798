internal import Foundation

/// A value that only one thread at a time can reach.
///
/// It works like `Synchronization.Mutex`, except for its lock. The slow path of that lock is in a library that the thread
/// sanitizer cannot see, so it reports races where there are none; the lock here is known to the sanitizer. The value must have
/// a size: for a value without one, such as `Void`, the sanitizer uses another address and reports false races.
package final class Guarded<Value>: @unchecked Sendable {
    // Guarded by: lock.
    private var value: Value
    private let lock = NSLock()

    package init(_ value: consuming sending Value) {
        self.value = value
    }

    /// Calls the body with the value; other threads wait. The body must not call code that might call this again.
    package func withLock<R, E: Error>(_ body: (inout sending Value) throws(E) -> sending R) throws(E) -> sending R {
        lock.lock()
        defer { lock.unlock() }
        return try body(&value)
    }

    /// Like ``withLock(_:)``, but returns nil at once while another thread has the value.
    package func withLockIfAvailable<R, E: Error>(
        _ body: (inout sending Value) throws(E) -> sending R
    ) throws(E) -> sending R? {
        guard lock.try() else { return nil }
        defer { lock.unlock() }
        return try body(&value)
    }
}
