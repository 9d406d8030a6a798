import RowStore

/// A value that a test and what it started both reach.
final class Shared: Sendable {
    private let state: Guarded<Int>

    init(_ value: Int) { state = Guarded(value) }

    var value: Int {
        get { state.withLock { $0 } }
        set { state.withLock { $0 = newValue } }
    }
}
