internal import RowStore

/// Tells main that there are saves to merge: once for any number of them, without waiting for it.
final class MainWaker: Sendable {
    private struct State {
        weak var main: MainContext?
        var isScheduled = false
    }

    private let state = Guarded(State())

    func connect(_ main: MainContext) {
        state.withLock { $0.main = main }
    }

    func wake() {
        let isFirst = state.withLock { state in
            defer { state.isScheduled = true }
            return !state.isScheduled
        }
        if isFirst { Task { @MainActor in merge() } }
    }

    /// Merges what was saved up to now, and returns once all lists show it.
    @MainActor func mergeNow() async {
        await merge()?.lists.settle()
    }

    /// Merges what was saved up to now.
    @discardableResult
    @MainActor func merge() -> MainContext? {
        let main = state.withLock { state in
            state.isScheduled = false
            return state.main
        }
        main?.merge()
        return main
    }
}
