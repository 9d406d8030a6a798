internal import RowStore

/// What this process knows of the scopes of its store, so that a load of a fresh scope reads nothing.
package final class ScopeCache: Sendable {
    /// The data source and the entity that use a name.
    private struct Use: Equatable {
        let source: String
        let entity: String
    }

    /// The result of the last read of a scope.
    private struct Known {
        let scope: StoredScope?
        /// The ``State/version`` at the time of the read; -1 if the scope has changed since, or may have.
        var version: Int
    }

    /// A failure that could not be stored.
    private struct Failure {
        let scope: StoredScope
        /// The number of resets of the store at the time of the request.
        let generation: Int
    }

    private struct State {
        /// What was read since the last call of ``didChange()``. A load needs no read if the entry of its scope is not outdated.
        var known: [ExactString: Known] = [:]
        var uses: [ExactString: Use] = [:]
        /// The last failures that could not be stored. Each counts until the store has another answer of the scope.
        var failed: [ExactString: Failure] = [:]
        /// For each scope, the numbers of the answers that might not be in the store yet.
        var writing: [ExactString: Set<Int64>] = [:]
        /// A number that changes whenever the results of earlier reads may be outdated.
        var version = 0
        /// Entries of earlier versions are outdated.
        var oldestVersion = 0
        var isClosed = false
        var pauses = LoadPauses()
        var longestTurn: Duration?
        /// Called when scopes may have changed; nil while no list shows a scope.
        var follower: (@Sendable () -> Void)?
        /// The names of the scopes that lists show. It can also have names that no list shows any longer.
        var shown: Set<ExactString> = []
        /// The calls that wait for a change.
        var waiting: [Int: CheckedContinuation<Void, Never>] = [:]
        var lastWait = 0
        /// Whether the follower was called, and has not begun to read the scopes since.
        var isFollowerCalled = false

        /// Records that a scope was read.
        ///
        /// - Parameter version: The version at the time of the read; -1 if the scope may have changed since.
        /// - Returns: Whether the scope has changed since it was last read, or may have, so that the follower must read it again.
        mutating func hasChanged(_ scope: StoredScope?, _ name: ExactString, _ version: Int) -> Bool {
            let isFull = known.count >= ScopeCache.limit && known[name] == nil
            if isFull { known.removeAll() }
            guard let last = known.updateValue(Known(scope: scope, version: version), forKey: name) else {
                // If all other scopes were just forgotten, later reads of these scopes cannot find a change. So report a
                // change now.
                return isFull
            }
            return last.scope != scope
        }

        /// Returns the result of the last read of a scope; nil if it may be outdated.
        func current(_ name: ExactString) -> Known? {
            guard let known = known[name], known.version >= oldestVersion else { return nil }
            return known
        }

        /// Returns a scope. If its last failure could not be stored and still counts, the result has this failure.
        ///
        /// - Parameter generation: The number of resets of the store.
        func withFailure(_ scope: StoredScope?, _ name: ExactString, generation: Int) -> StoredScope? {
            guard let failure = failed[name], failure.generation == generation,
                failure.scope.answer == scope?.answer ?? 0
            else { return scope }
            let failed = failure.scope
            guard var scope else { return failed }
            (scope.failureCount, scope.failure) = (failed.failureCount, failed.failure)
            (scope.failedAt, scope.retryAt) = (failed.failedAt, failed.retryAt)
            return scope
        }
    }

    private let state = Guarded(State())
    /// The largest number of known scopes. It limits the memory, because the entity tag of a scope may have 64 KB.
    private static let limit = 1000

    package init() {}

    /// The pauses after failed loads.
    package var pauses: LoadPauses {
        get { state.withLock(\.pauses) }
        set { state.withLock { $0.pauses = newValue } }
    }

    /// The longest wait for the load of another process; nil for the time limit of the waiting load. For tests.
    package var longestTurn: Duration? {
        get { state.withLock(\.longestTurn) }
        set { state.withLock { $0.longestTurn = newValue } }
    }

    /// Returns what is known of a scope, without a read of the store. Returns nil if nothing is known.
    func known(_ id: ScopeID, in source: String) -> StoredScope? {
        state.withLock { state in
            guard let scope = state.current(id.name)?.scope, scope.id == id,
                state.uses[id.name] == Use(source: source, entity: id.entity)
            else { return nil }
            return scope
        }
    }

    /// Returns what a read of a scope would find. The outer optional is nil if this is not known.
    func known(_ id: ScopeID, generation: Int) -> StoredScope?? {
        state.withLock { state -> StoredScope?? in
            guard let known = state.current(id.name) else { return nil }
            let scope = state.withFailure(known.scope, id.name, generation: generation)
            return .some(scope?.id == id ? scope : nil)
        }
    }

    /// Records which data source uses the name of a scope.
    ///
    /// - Throws: `scopeAlreadyUsed` if another data source or another entity uses the name; `storeClosed`.
    func claim(_ name: String, ofEntity entity: String, for source: String) throws(DataSourceError) {
        let use = Use(source: source, entity: entity)
        let key = ExactString(name)
        let other = try state.withLock { (state) throws(DataSourceError) -> Use? in
            if state.isClosed { throw RootTier.closed }
            if let known = state.uses[key] { return known == use ? nil : known }
            if state.uses.count >= StoredScope.limit { state.uses.removeAll() }
            state.uses[key] = use
            return nil
        }
        guard let other else { return }
        throw DataSourceError(
            .scopeAlreadyUsed,
            "\(source) uses the scope \"\(name)\" for \(entity), but \(other.source) already uses that name for \(other.entity). Give each scope a name of its own.",
            entityName: entity)
    }

    fileprivate var version: Int { state.withLock(\.version) }

    /// Records what the store knows of a scope, and returns the scope with its last failure. If the scope has changed since it
    /// was last read, this call makes the follower read the scope: another process may have changed the scope without having
    /// notified this process yet.
    ///
    /// - Parameter generation: The number of resets of the store.
    fileprivate func record(
        _ scope: StoredScope?, _ name: ExactString, asOf version: Int, generation: Int
    ) -> StoredScope? {
        let (result, hasChanged) = state.withLock { state -> (StoredScope?, Bool) in
            let isCurrent = state.version == version && !state.isClosed
            let answered = scope?.answer ?? 0
            if isCurrent, let failure = state.failed[name],
                failure.generation != generation || failure.scope.answer != answered
            {
                state.failed[name] = nil
            }
            let hasChanged = state.hasChanged(scope, name, isCurrent ? version : -1)
            return (state.withFailure(scope, name, generation: generation), hasChanged)
        }
        if hasChanged { callFollower() }
        return result
    }

    /// Returns a scope. If its last failure could not be stored and still counts, the result has this failure.
    ///
    /// - Parameter generation: The number of resets of the store.
    fileprivate func withFailure(_ scope: StoredScope?, _ name: ExactString, generation: Int) -> StoredScope? {
        state.withLock { $0.withFailure(scope, name, generation: generation) }
    }

    /// Forgets a scope, because the store may have changed it.
    ///
    /// - Parameter withFailure: Whether to forget a failure that could not be stored, too. If there is one, the follower reads
    ///   the scope again.
    func forget(_ name: String, withFailure: Bool = false) {
        let name = ExactString(name)
        let hadFailure = state.withLock { state in
            state.version += 1
            state.known[name]?.version = -1
            return withFailure && state.failed.removeValue(forKey: name) != nil
        }
        if hadFailure { callFollower() }
    }

    /// Records the failure of a scope, which could not be stored.
    ///
    /// - Parameter generation: The number of resets of the store at the time of the request. After another reset, the failure
    ///   no longer counts.
    func record(failed scope: StoredScope, generation: Int) {
        state.withLock { state in
            if state.failed.count >= StoredScope.limit { state.failed.removeAll() }
            state.failed[ExactString(scope.name)] = Failure(scope: scope, generation: generation)
        }
        didChange()
    }

    /// Forgets what is known of all scopes. Failures that could not be stored are not forgotten.
    func forgetKnown() {
        state.withLock { state in
            state.version += 1
            state.oldestVersion = state.version
        }
    }

    func forgetAll() {
        forgetKnown()
        state.withLock { $0.failed = [:] }
    }

    func close() {
        state.withLock { $0.isClosed = true }
        didChange()
    }

    /// Whether a batch is saving an answer for the scope. The answer may not be in the store yet.
    func isWriting(_ name: String) -> Bool { state.withLock { $0.writing[ExactString(name)] != nil } }

    /// Records that a batch is about to save an answer for the scope. The save may fail.
    func beginWriting(_ name: String, _ number: Int64) {
        state.withLock { _ = $0.writing[ExactString(name), default: []].insert(number) }
    }

    /// Records that the answer is in the store, or was refused. Forgets the scope, because the store may have
    /// changed it.
    func endWriting(_ name: String, _ number: Int64) {
        forget(name)
        let name = ExactString(name)
        state.withLock { state in
            state.writing[name]?.remove(number)
            if state.writing[name]?.isEmpty == true { state.writing[name] = nil }
        }
    }
}

/// Following the scopes that lists show.
extension ScopeCache {
    /// From now on, calls the follower when scopes may have changed. After the follower was called, it is called again only after
    /// ``beginReading()``.
    ///
    /// - Parameter follower: The follower; nil to call none.
    func follow(_ follower: (@Sendable () -> Void)?) {
        state.withLock { state in
            state.follower = follower
            if follower == nil { (state.isFollowerCalled, state.shown) = (false, []) }
        }
    }

    /// Records that a list shows a scope.
    func show(_ id: ScopeID) { state.withLock { _ = $0.shown.insert(id.name) } }

    /// Records that lists show these scopes, and no others.
    func showOnly(_ ids: Set<ScopeID>) { state.withLock { $0.shown = Set(ids.map(\.name)) } }

    /// Records that a load of a scope has begun or ended. Calls the follower if a list shows the scope.
    func loadsDidChange(of id: ScopeID) {
        if state.withLock({ $0.shown.contains(id.name) }) { callFollower() }
    }

    /// The number of names in the scopes that lists show. For tests.
    package var shownCount: Int { state.withLock(\.shown.count) }

    /// Whether any list follows scopes. For tests.
    package var isFollowed: Bool { state.withLock { $0.follower != nil } }

    /// Records that the follower reads the scopes from now on.
    func beginReading() { state.withLock { $0.isFollowerCalled = false } }

    /// Whether the scopes may have changed since the follower began to read them.
    var isFollowerCalled: Bool { state.withLock(\.isFollowerCalled) }

    /// Records that any scope may have changed in the store. Forgets what was read before.
    func didChange() {
        let waiting = state.withLock { state in
            state.version += 1
            state.known = [:]
            defer { state.waiting = [:] }
            return state.waiting
        }
        callFollower()
        for waiter in waiting.values { waiter.resume() }
    }

    private func callFollower() {
        let follower = state.withLock { state -> (@Sendable () -> Void)? in
            guard let follower = state.follower, !state.isFollowerCalled else { return nil }
            state.isFollowerCalled = true
            return follower
        }
        follower?()
    }

    /// Waits until scopes may have changed, or until the time has passed.
    ///
    /// - Throws: `CancellationError`.
    func waitForChange(_ time: Duration, _ scheduling: WorkScheduling) async throws {
        let number = state.withLock { state in
            state.lastWait += 1
            return state.lastWait
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { waiter in
                let isWaiting = state.withLock { state in
                    if state.isClosed || Task.isCancelled { return false }
                    state.waiting[number] = waiter
                    return true
                }
                guard isWaiting else { return waiter.resume() }
                scheduling.after(time) { [weak self] in self?.endWait(number) }
            }
        } onCancel: {
            endWait(number)
        }
        try Task.checkCancellation()
    }

    /// The number of calls that wait for a change. For tests.
    package var waiterCount: Int { state.withLock(\.waiting.count) }

    private func endWait(_ number: Int) {
        state.withLock { $0.waiting.removeValue(forKey: number) }?.resume()
    }

    /// Records that saves were committed.
    func didCommit(_ saves: [ChangeSet]) {
        if saves.contains(where: \.mayChangeScopes) { didChange() }
    }
}

extension ChangeSet {
    /// Whether the save may have changed scopes, or dropped their tags.
    fileprivate var mayChangeScopes: Bool {
        !scopes.isEmpty || facts?.reversal != nil || entities.contains { !$0.deleted.isEmpty }
    }
}

extension RootTier {
    /// Reads what the store knows of a scope; nil if it does not know the scope, or knows it with another entity or predicate.
    ///
    /// - Throws: `scopesNotKept` if the store keeps no scopes; errors of the store.
    func stored(_ id: ScopeID) throws(DataSourceError) -> StoredScope? {
        guard let stored = try storedScope(id.name.string), stored.id == id else { return nil }
        return stored
    }

    /// Reads what pinned rows know of a scope. The outer optional is nil if the snapshot has ended.
    func scope(_ id: ScopeID, in pinned: PinnedRows) throws(DataSourceError) -> StoredScope?? {
        try checkKeepsScopes()
        guard let found = try pinned.scope(named: id.name.string) else { return nil }
        let scope = scopes.withFailure(found, id.name, generation: generation)
        return .some(scope?.id == id ? scope : nil)
    }

    /// - Throws: `scopesNotKept` if the store keeps no scopes.
    func checkKeepsScopes() throws(DataSourceError) {
        if store is any ScopeStore { return }
        throw DataSourceError(
            .scopesNotKept,
            "The custom store keeps no scopes, because it does not declare ScopeStore. Declare ScopeStore (see the article Writing a store), use one of the stores of this library, or store the list with sync."
        )
    }

    /// Reads what the store knows of a scope.
    ///
    /// - Throws: `scopesNotKept` if the store keeps no scopes; errors of the store.
    private func storedScope(_ name: String) throws(DataSourceError) -> StoredScope? {
        try checkKeepsScopes()
        let (version, generation) = (scopes.version, self.generation)
        let found = try store.read(.statement) { reader throws(DataSourceError) -> StoredScope? in
            try (reader as? any ScopeReader)?.scope(named: name)
        }
        return scopes.record(found, ExactString(name), asOf: version, generation: generation)
    }
}
