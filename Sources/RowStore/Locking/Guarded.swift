internal import Foundation

/// A value that one thread at a time can reach.
///
/// It is `Synchronization.Mutex` in all but its lock. That one's contended path is in a library which the thread sanitizer
/// cannot look into, so that it reports races where there are none; this one's lock it knows. The value must have a size: of
/// one without, such as `Void`, the sanitizer takes another address for its place, and reports races there.
package final class Guarded<Value>: @unchecked Sendable {
    // Guarded by: lock.
    private var value: Value
    private let lock = NSLock()

    package init(_ value: consuming sending Value) {
        self.value = value
    }

    /// Calls the body with the value; others wait meanwhile. Never call out of it into code that might come back.
    package func withLock<R, E: Error>(_ body: (inout sending Value) throws(E) -> sending R) throws(E) -> sending R {
        lock.lock()
        defer { lock.unlock() }
        return try body(&value)
    }

    /// As ``withLock(_:)``, but does nothing and returns nil while another thread has the value.
    package func withLockIfAvailable<R, E: Error>(
        _ body: (inout sending Value) throws(E) -> sending R
    ) throws(E) -> sending R? {
        guard lock.try() else { return nil }
        defer { lock.unlock() }
        return try body(&value)
    }
}
