/// A watch of a store for writes of other programs. Ends when this object is released.
package final class StoreWatch: Sendable {
    private let ending: Guarded<(@Sendable () -> Void)?>

    /// - Parameter stop: Stops the watch. Called once, on any thread.
    package init(_ stop: @escaping @Sendable () -> Void) {
        ending = Guarded(stop)
    }

    deinit { end() }

    /// Ends the watch. A running call of the handler may still finish.
    package func end() {
        let stop = ending.withLock { ending in
            defer { ending = nil }
            return ending
        }
        stop?()
    }
}
