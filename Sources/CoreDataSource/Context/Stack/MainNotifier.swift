internal import RowStore

/// Schedules the merge of new saves into the main context, once for any number of saves. Callers do not wait.
final class MainNotifier: Sendable {
    /// The functions of the main context that the notifier calls.
    struct MergeFunctions {
        /// Updates the registered objects and then the lists to the newest save.
        let merge: @MainActor @Sendable () -> Void
        /// Updates the registered objects to the newest save. Lists are updated later, when the main actor is free.
        let mergeObjects: @MainActor @Sendable () -> Void
        /// Returns after all lists show the merged saves.
        let waitForLists: @MainActor @Sendable () async -> Void
    }

    private struct State {
        var main: MergeFunctions?
        var isScheduled = false
        /// The calls to make on the main actor, in the order of their arrival.
        var callbacks: [Callback] = []
        var isCallingBack = false
    }

    private struct Callback {
        /// Whether the main context must show all saves first.
        let needsMerge: Bool
        let body: @MainActor @Sendable () -> Void
    }

    private let state = Guarded(State())

    func connect(_ main: MergeFunctions) {
        state.withLock { $0.main = main }
    }

    func notify() {
        let isFirst = state.withLock { state in
            defer { state.isScheduled = true }
            return !state.isScheduled
        }
        if isFirst { Task { @MainActor in merge() } }
    }

    /// Merges all saves so far, and returns after all lists show these saves.
    @MainActor func mergeNow() async {
        merge()
        await state.withLock(\.main)?.waitForLists()
    }

    /// Merges all saves so far.
    @MainActor func merge() { takeMain()?.merge() }

    /// Merges all saves so far into the objects of the main context. Lists are updated later, when the main actor is
    /// free.
    @MainActor func mergeObjects() { takeMain()?.mergeObjects() }

    private func takeMain() -> MergeFunctions? {
        state.withLock { state in
            state.isScheduled = false
            return state.main
        }
    }

    // MARK: Callbacks

    /// Calls the body on the main actor, after all earlier bodies.
    ///
    /// - Parameter needsMerge: Whether the main context and its lists must show all saves first.
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
