internal import RowStore

/// The data source that made a save, in the form that its saves refer to.
package final class SaveSource: Sendable {
    /// The name of the data source's class.
    package let name: String
    private let state = Guarded(State())

    private struct State {
        var origin = 0
        var handler: (@Sendable (StoreFailure) -> Void)?
    }

    package init(_ name: String, origin: Int = 0) {
        self.name = name
        state.withLock { $0.origin = origin }
    }

    /// Which saves depend on each other; see ``ChangeSet/origin``.
    package var origin: Int {
        get { state.withLock { $0.origin } }
        set { state.withLock { $0.origin = newValue } }
    }

    /// Sets who is notified of the outcome of saves that no call awaits.
    func setHandler(_ handler: @escaping @Sendable (StoreFailure) -> Void) {
        state.withLock { $0.handler = handler }
    }

    func handle(_ failure: StoreFailure) {
        state.withLock { $0.handler }?(failure)
    }
}
