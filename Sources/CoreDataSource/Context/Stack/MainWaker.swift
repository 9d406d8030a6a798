internal import RowStore

/// The tier that is woken: main.
@MainActor protocol WokenTier: AnyObject, Sendable {
    /// Brings the registered objects up to the newest save, then the lists.
    func merge()
    /// Brings the registered objects up to the newest save. Lists follow when main is free.
    func mergeObjects()
    /// Returns once all lists show what was merged.
    func settleLists() async
}

/// Wakes main when there are saves to merge: once for any number of saves, without waiting.
final class MainWaker: Sendable {
    private struct State {
        weak var main: (any WokenTier)?
        var isScheduled = false
        /// The calls to make on main, in their order.
        var callbacks: [Callback] = []
        var isCallingBack = false
    }

    private struct Callback {
        /// Whether main must show all saves first.
        let needsMerge: Bool
        let body: @MainActor @Sendable () -> Void
    }

    private let state = Guarded(State())

    func connect(_ main: any WokenTier) {
        state.withLock { $0.main = main }
    }

    func wake() {
        let isFirst = state.withLock { state in
            defer { state.isScheduled = true }
            return !state.isScheduled
        }
        if isFirst { Task { @MainActor in merge() } }
    }

    /// Merges what has been saved so far, and returns once all lists show it.
    @MainActor func mergeNow() async {
        await merge()?.settleLists()
    }

    /// Merges what has been saved so far.
    @discardableResult
    @MainActor func merge() -> (any WokenTier)? {
        let main = takeMain()
        main?.merge()
        return main
    }

    /// Merges what has been saved so far into the objects of main. Lists follow when main is free.
    @MainActor func mergeObjects() { takeMain()?.mergeObjects() }

    private func takeMain() -> (any WokenTier)? {
        state.withLock { state in
            state.isScheduled = false
            return state.main
        }
    }

    // MARK: Callbacks

    /// Calls the body on main, after those that came before it.
    ///
    /// - Parameter needsMerge: Whether main and its lists must show all saves first.
    func callBack(afterMerge needsMerge: Bool, _ body: @escaping @MainActor @Sendable () -> Void) {
        let isFirst = state.withLock { state in
            state.callbacks.append(Callback(needsMerge: needsMerge, body: body))
            defer { state.isCallingBack = true }
            return !state.isCallingBack
        }
        if isFirst { Task { @MainActor in await callBackAll() } }
    }

    @MainActor private func callBackAll() async {
        while let callbacks = takeCallbacks() {
            if callbacks.contains(where: \.needsMerge) { await mergeNow() }
            for callback in callbacks { callback.body() }
        }
    }

    private func takeCallbacks() -> [Callback]? {
        state.withLock { state in
            defer { state.callbacks = [] }
            state.isCallingBack = !state.callbacks.isEmpty
            return state.isCallingBack ? state.callbacks : nil
        }
    }
}
