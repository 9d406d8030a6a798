import Synchronization

/// Set until somebody clears it.
final class Flag: Sendable {
    private let state = Atomic(true)

    var isSet: Bool { state.load(ordering: .acquiring) }

    func clear() { state.store(false, ordering: .releasing) }
}
