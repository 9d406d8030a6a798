package import Dispatch
internal import RowStore

/// Where large values are released, one after the other.
package let releaseQueue = DispatchQueue(label: "CoreDataSource.releases")

/// Holds a value that takes long to release, and lets go of it on ``releaseQueue``.
///
/// A reference that is handed to a queue as well is not enough: if the queue is quicker, the last reference is the one that was
/// kept here. Here the queue empties the box, so it does not matter who lets go of the box last.
package final class ReleasedElsewhere<Value: Sendable>: Sendable {
    private let held: Guarded<Value?>

    package init(_ value: Value) {
        held = Guarded(value)
    }

    /// Calls the body with the value, unless it was released. The body must not keep it.
    package func use(_ body: (Value) -> Void) {
        if let value = held.withLock({ $0 }) { body(value) }
    }

    /// Releases the value after those that came before it.
    package func release() {
        releaseQueue.async { self.held.withLock { $0 = nil } }
    }
}
