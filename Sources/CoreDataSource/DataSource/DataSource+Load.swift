internal import Foundation
internal import RowStore

/// Loading lists of a server.
extension DataSource {
    /// Loads the list of a scope, unless its objects are fresh enough.
    ///
    /// ```swift
    /// try await contacts.load(all, maxAge: .seconds(300)) { request in
    ///     let (list, tag) = try await server.list(unless: request.entityTag)
    ///     guard let list else { return .notModified }
    ///     return .list(list, entityTag: tag)
    /// }
    /// ```
    ///
    /// If the objects are fresh, the call returns at once. Otherwise it calls the closure, and stores the answer. Callers
    /// that load the scope at the same time wait for the same load, and only the closure of the first caller runs. An answer
    /// is as old as its request. If a caller joins a load whose request was already older than the `maxAge` of the caller,
    /// the caller loads again after this load. A caller with the `maxAge` zero takes the answer of any running load. If a
    /// caller is canceled, the load continues for the others. If all callers are canceled, the load is canceled.
    ///
    /// The first caller decides how the answer is stored. The options, the limits of deletions, the evictions and the authors
    /// of the other callers have no effect. So a caller that needs other deletions must load again afterwards. But each caller
    /// has its own time limit: it waits at most that long for each request of the load, and then throws `loadTimedOut`, while
    /// the load continues for the others.
    ///
    /// Processes that share the store wait for each other, too. A process that waits for another one throws `loadPostponed` if
    /// the other load fails. The waiting process calls its own closure if the other process ends, or if that process stores
    /// nothing during the time limit. If several processes wait, only one of them calls its closure, and the others wait for
    /// that one.
    ///
    /// An answer never replaces the answer to a later request. In four cases, the load begins again, at most twice:
    /// - Another process, or ``apply(_:to:requestedAt:since:deleting:options:)``, has stored an answer for the scope during the
    ///   request.
    /// - During the request, another answer was stored, for another scope or for a single object. The answer of this load
    ///   would change or delete an object of the other answer, insert an object that the other answer has deleted, or add an
    ///   object that the list of the other answer lacks. The answer `.notModified` counts as the stored list.
    /// - The answer cannot be stored, for example because a delete rule or the limit of deletions refuses it, or because a hook
    ///   throws. During the request, another answer was stored for objects of the data source, or for objects to which they
    ///   link. The error may only be a consequence of the other answer. If the third answer cannot be stored either, the load
    ///   throws the error.
    /// - The answer is `.notModified`, but the entity tag of the request was dropped or replaced in the meantime.
    ///
    /// If a load fails, the objects stay as they are, and the store notes the failure. Until ``ScopeFreshness/retryAt``, loads
    /// throw `loadPostponed`. This pause lasts 1 to 2 seconds after the first failure, and twice as long after each further
    /// failure, up to 5 minutes. ``PersistentContainer/Configuration/loadPauses`` changes these times. If the error is a
    /// ``RetryAfterError``, loads throw for at least as long as the error says, but at most for a day. A load with the `maxAge`
    /// zero tries at once.
    ///
    /// **Isolation**: any actor. The call reads the store on other threads. If the caller is on the main actor, the main context
    /// shows the objects when the call returns, and lists show the freshness of the scope when the call returns or throws.
    ///
    /// A list deletes only objects that were in scope before its request, or before the request for its first page. So an
    /// object that is inserted during the request, or that comes into scope by an edit, stays at first. If the list lacks such
    /// an object, the store keeps neither the entity tag nor the cursor of the list, so the next load gets the whole list. If
    /// that list also lacks the object, the load deletes the object. In the same way,
    /// ``PrivateContext/sweep(_:of:keeping:deleting:options:)`` does not delete a child that was inserted during the request,
    /// or linked to an object.
    ///
    /// **Complexity**: O(1) if the objects are fresh; otherwise as for a sync. Before each request, a load reads the keys of
    /// all objects in scope, and keeps them in memory. This is necessary even if the load deletes nothing or the answer is
    /// `.notModified`, because the answer to any request can be `.gone`. In a shared store, a load also reads which answers other
    /// processes have stored during its request, at most three times for each answer or page.
    ///
    /// - Parameters:
    ///   - scope: The scope. The data source must own its entity.
    ///   - maxAge: The age from which the objects are stale, counted from the request. With zero, the list is always loaded,
    ///     unless a load of the list is running.
    ///   - whenStale: Whether to wait for the server; `.wait` by default. With `.serveStale`, stale objects are returned at
    ///     once, and no error of the server is thrown. If no answer was ever stored, the call waits, and throws any error. During a
    ///     pause after a failure, nothing is loaded.
    ///   - timeLimit: The longest time for each call of the closure, at most a week; a minute by default. Also the longest wait
    ///     for each request of a load that another caller has begun.
    ///   - deleting: The limit of deletions, as for a sync.
    ///   - options: The options, as for a sync. An empty list deletes objects only with ``SyncOptions/allowsEmpty``.
    ///   - request: Requests a list or a page from the server. It runs outside the main actor.
    /// - Returns: The freshness of the scope when the call returns. With `.serveStale`, its ``ScopeFreshness/isLoading`` says
    ///   whether the objects are being loaded.
    /// - Throws: Any error of the closure; `loadTimedOut`; `loadPostponed`; `cursorRepeated` if a page has the cursor of an
    ///   earlier page; `invalidRequest` if the answer is `.notModified`, but the request has neither an entity tag nor a cursor,
    ///   or if a request for a later page is not answered with a page; `storeReset` if the store was reset meanwhile;
    ///   `CancellationError`; the errors of ``apply(_:to:requestedAt:since:deleting:options:)``. Pages that were stored before
    ///   the error stay.
    @discardableResult
    public nonisolated func load<Object: ManagedObject>(
        _ scope: SyncScope<Object>, maxAge: Duration, whenStale: StalePolicy = .wait,
        timeLimit: Duration = .seconds(60), deleting: SyncDeletion = .guarded, options: SyncOptions = [],
        _ request: @escaping @Sendable (ScopeRequest) async throws -> ServerAnswer<Value>
    ) async throws -> ScopeFreshness {
        let root = tier.stack.root
        let (generation, askedAt) = (root.generation, root.scheduling.now())
        if let fresh = tier.knownFreshness(of: scope, maxAge: maxAge, at: askedAt, generation: generation) {
            // Another caller may have stored the list just now.
            if isMainActor(#isolation) { await tier.stack.mainNotifier.mergeNow() }
            return fresh
        }
        let load = ScopeLoad(
            source: self, scope: scope, maxAge: maxAge, timeLimit: timeLimit, deletion: deleting, options: options,
            request: request, generation: generation, askedAt: askedAt)
        let found: ScopeFreshness
        do {
            if let served = try await wait(for: load, whenStale) {
                found = served
            } else {
                found = try await tier.readFreshness(of: scope)
            }
        } catch {
            // Lists show the failure, even if the load of another caller has failed.
            if isMainActor(#isolation) { await tier.stack.mainNotifier.mergeNow() }
            throw error
        }
        if isMainActor(#isolation) { await tier.stack.mainNotifier.mergeNow() }
        return found
    }

    /// If an object of the store is stale, loads the object in the background.
    ///
    /// - Parameter generation: The number of resets of the store when the caller asked.
    nonisolated func refresh<Object: ManagedObject>(
        _ scope: SyncScope<Object>, maxAge: Duration, timeLimit: Duration, deleting: SyncDeletion, generation: Int,
        _ request: @escaping @Sendable (ScopeRequest) async throws -> ServerAnswer<Value>
    ) async throws {
        let askedAt = tier.stack.root.scheduling.now()
        if tier.knownFreshness(of: scope, maxAge: maxAge, at: askedAt, generation: generation) != nil { return }
        var load = ScopeLoad(
            source: self, scope: scope, maxAge: maxAge, timeLimit: timeLimit, deletion: deleting, options: [],
            request: request, generation: generation, askedAt: askedAt)
        load.hasObject = true
        _ = try await wait(for: load, .serveStale)
    }

    /// Waits for a load, unless the objects are fresh or are served stale.
    ///
    /// - Returns: The freshness of the stored objects, if the call did not wait for a load; nil after a load.
    private nonisolated func wait<Object: ManagedObject>(
        for load: ScopeLoad<Value, Object>, _ whenStale: StalePolicy
    ) async throws -> ScopeFreshness? {
        let (scope, loads) = (load.scope, tier.loads)
        try tier.claim(scope)
        var found = try await load.readFreshness()
        let key = load.key
        let now = tier.stack.root.scheduling.now()
        if !found.isStale(after: load.maxAge, at: now) { return found }
        let isPostponed = load.maxAge > .zero && found.isPostponed(at: now) && !loads.isRunning(key)
        if whenStale == .serveStale, load.hasObject || found.requestedAt != nil {
            // This call does not wait for the load. If a load is already running, it now goes on even if all its callers are
            // canceled.
            if !isPostponed { loads.start(key) { try await load.run() } }
            found.isLoading = !isPostponed
            return found
        }
        if isPostponed { throw DataSourceError(postponed: scope.name, found) }
        let patience = CoalescedLoads.Patience(
            load.timeLimit, tier.stack.root.scheduling, "the scope \"\(scope.name)\"", of: Object.entityName)
        while try await !loads.run(key, patience, load.run) {
            // Another caller began this load, and its request may be too old for this caller. The load may also have made no
            // request, because the last answer was fresh enough for the other caller.
            let loaded = try await load.readFreshness()
            if load.isEnough(loaded, after: found.answer) { return nil }
            if !loaded.isStale(after: load.maxAge, at: tier.stack.root.scheduling.now()) { return nil }
        }
        return nil
    }
}

extension PrivateTier {
    /// Returns the freshness of a scope whose objects are fresh, if it is known without a read of the store. Most loads end here, so this
    /// is done before a load is made.
    ///
    /// - Parameters:
    ///   - time: The time at which the caller asked.
    ///   - generation: The number of resets of the store when the caller asked.
    fileprivate nonisolated func knownFreshness<Object: ManagedObject>(
        of scope: SyncScope<Object>, maxAge: Duration, at time: Date, generation: Int
    ) -> ScopeFreshness? {
        guard let stored = known(scope) else { return nil }
        var found = ScopeFreshness(stored, generation: generation)
        if found.isStale(after: maxAge, at: time) { return nil }
        found.isLoading = loads.isRunning(.scope(scope.id, generation: generation))
        return found
    }
}

/// One load of a scope, for all its callers.
private struct ScopeLoad<Value: Sendable, Object: ManagedObject>: Sendable {
    let source: DataSource<Value>
    let scope: SyncScope<Object>
    let maxAge: Duration
    let timeLimit: Duration
    let deletion: SyncDeletion
    let options: SyncOptions
    let request: @Sendable (ScopeRequest) async throws -> ServerAnswer<Value>
    /// The number of resets of the store when the caller asked. After another reset, the load throws `storeReset`.
    let generation: Int
    /// The time at which the caller asked.
    let askedAt: Date
    /// For a scope of one object, whether the caller has found the object in the store. Then the object can be served before
    /// the first answer for the scope, for example because a list contained it.
    var hasObject = false

    /// Identifies the load among the running loads.
    var key: CoalescedLoads.Key { .scope(scope.id, generation: generation) }

    private var tier: PrivateTier { source.tier }
    private var scheduling: WorkScheduling { tier.stack.root.scheduling }

    /// The greatest number of pages of a list.
    private static var longestList: Int { 10_000 }

    /// Loads the list. If another process is loading it, waits for that process first.
    func run() async throws {
        let root = tier.stack.root
        let turn = ScopeTurn(
            root: root, id: tier.id(of: scope), source: tier.owner, timeLimit: root.scopes.longestTurn ?? timeLimit)
        try await turn.run(isEnough: isEnough, didProgress: { tier.loads.willRequest(key) }, runInTurn)
    }

    /// Reads how old the objects are, off the caller's actor.
    ///
    /// - Throws: `storeReset` if the store was reset since the caller asked; errors of the store.
    func readFreshness() async throws(DataSourceError) -> ScopeFreshness {
        let found = try await tier.readFreshness(of: scope)
        try checkNotReset()
        return found
    }

    private func checkNotReset() throws(DataSourceError) {
        if tier.stack.root.generation != generation { throw RootTier.storeReset }
    }

    /// Whether a complete list was stored after the given answer, and the list was requested recently enough for the caller.
    func isEnough(_ found: ScopeFreshness, after answer: Int64) -> Bool {
        guard found.isComplete, found.answer != answer, let requestedAt = found.requestedAt else { return false }
        return maxAge <= .zero || askedAt.timeIntervalSince(requestedAt) < maxAge / .seconds(1)
    }

    /// Whether another process has stored a recent enough list since this process began to wait.
    ///
    /// - Throws: `loadPostponed` if the other process has failed; `storeReset`.
    private func isEnough(_ before: StoredScope?, _ now: StoredScope?) throws -> Bool {
        try checkNotReset()
        let found = ScopeFreshness(now, generation: generation)
        if isEnough(found, after: before?.answer ?? 0) { return true }
        if found.isPostponed(at: scheduling.now()), found.failedAt != before?.failedAt {
            throw DataSourceError(postponed: scope.name, found)
        }
        return false
    }

    private func runInTurn() async throws {
        do {
            try await AnsweredRequest.repeating(runOnce)
        } catch {
            try await note(error)
            throw error
        }
    }

    private func runOnce(_ canRequestAgain: Bool) async throws {
        let requestedAt = scheduling.now()
        let before = try await readFreshness()
        // Another load may have stored an answer since the caller read the freshness.
        if !before.isStale(after: maxAge, at: requestedAt) { return }
        var writing = try await arguments(requestedAt, before)
        // Begin the request after `arguments` has read the objects in scope. So the saves of other members that this read finds
        // count as made before the request.
        let requests = tier.stack.root.requests
        writing.answered = requests.begin(at: requestedAt, scope: scope.name, canRequestAgain: canRequestAgain)
        defer { requests.end(writing.answered) }
        try requests.recordLastAnswer(&writing.answered, in: tier.stack.root.store)
        var (pages, cursors): (ListedPages, Set<String>) = (ListedPages(), [])
        var next = firstRequest(before)
        while true {
            let answer = try await limited(next)
            switch answer {
            case .gone:
                // The objects of the earlier pages are gone, too. Some of them came into scope during the load, so they are not
                // candidates yet.
                writing.candidates?.formUnion(pages.objects)
                _ = try await source.write([], writing.deletingAll, .whole(nil, nil))
                return
            case .list(let values, let entityTag, let cursor) where next.page == 0:
                _ = try await source.write(values, writing, .whole(entityTag, cursor))
                return
            case .notModified where next.page == 0:
                let hadTag = next.entityTag != nil || next.cursor != nil
                try await source.confirm(writing, since: before.version, hadTag: hadTag)
                return
            case .page(let values, let cursor):
                if let cursor { try check(cursors.insert(cursor).inserted, next.page) }
                let written = try await source.write(values, writing, .page(pages, cursor))
                guard let cursor else { return }
                pages.add(written.page)
                writing.basis?.answer = written.number
                next = ScopeRequest(entityTag: nil, cursor: cursor, page: next.page + 1)
            case .list, .notModified:
                throw noPage(next.page)
            }
        }
    }

    private func firstRequest(_ before: ScopeFreshness) -> ScopeRequest {
        // If only a part of the list was stored, the stored cursor is for the next part. A new request begins with the first
        // part, and does not use this cursor.
        ScopeRequest(entityTag: before.entityTag, cursor: before.isComplete ? before.cursor : nil, page: 0)
    }

    /// Makes the arguments for the writes of one request.
    private func arguments(_ requestedAt: Date, _ before: ScopeFreshness) async throws -> ScopeWriting<Object> {
        var writing = ScopeWriting(scope, requestedAt: requestedAt, deletion: deletion, options: options)
        writing.basis = LoadBasis(before)
        writing.candidates = try await source.ends(in: scope)
        return writing
    }

    private func noPage(_ page: Int) -> DataSourceError {
        DataSourceError(
            .invalidRequest,
            "The request for page \(page) of the scope \"\(scope.name)\" was not answered with a page. Return .page or .gone.",
            entityName: Object.entityName)
    }

    /// Checks that there may be a further page.
    ///
    /// - Parameter isNew: Whether no earlier page has the cursor of the page.
    /// - Throws: `cursorRepeated`.
    private func check(_ isNew: Bool, _ page: Int) throws(DataSourceError) {
        let problem: String
        if !isNew {
            problem =
                "Page \(page) of the scope \"\(scope.name)\" has the cursor of an earlier page. No further page was requested. Check how the server makes its cursors."
        } else if page + 1 >= Self.longestList {
            problem =
                "The list of the scope \"\(scope.name)\" has more than \(Self.longestList) pages. No further page was requested. Request larger pages, or check whether the cursors of the server come to an end."
        } else {
            return
        }
        throw DataSourceError(.cursorRepeated, problem, entityName: Object.entityName)
    }

    /// Sends a request with the app's closure, and waits at most `timeLimit` for the answer.
    private func limited(_ next: ScopeRequest) async throws -> ServerAnswer<Value> {
        tier.loads.willRequest(key)
        return try await AnsweredRequest.asking {
            try await LoadRace.limited(
                to: timeLimit, "a request for the scope \"\(scope.name)\"", of: Object.entityName, scheduling
            ) { [request] in
                try await request(next)
            }
        }
    }

    /// Stores a failure, and when to try again.
    private func note(_ error: any Error) async throws {
        if error is CancellationError || Task.isCancelled { return }
        let code = (error as? DataSourceError)?.code ?? .writeFailed
        if [.storeClosed, .storeReset, .storeReadOnly, .cancelled].contains(code) { return }
        let root = tier.stack.root
        let now = scheduling.now()
        let stored = try? tier.stored(scope)
        let pause = root.scopes.pauses.pause(
            afterFailures: (stored?.failureCount ?? 0) &+ 1, asked: (error as? any RetryAfterError)?.retryAfter)
        let change = tier.change(scope, .failed(Self.kind(of: error), at: now, retryAt: now + pause))
        do {
            _ = try await tier.perform(waitFor: .store) { context in
                try checkNotReset()
                context.scopeChanges.append(change)
            }
            root.scopes.forget(scope.name, withFailure: true)
        } catch {
            // The failure could not be stored, for example because the disk is full. This process remembers the failure until
            // the next answer or reset.
            if let scope = change.result(after: stored) { root.scopes.record(failed: scope, generation: generation) }
        }
    }

    /// The kind of an error. Errors of servers may contain addresses and values, which must not be stored.
    private static func kind(of error: any Error) -> String {
        if let error = error as? DataSourceError { return error.code.rawValue }
        guard let coded = error as? any CustomNSError else { return "\(type(of: error))" }
        return "\(type(of: error)) \(coded.errorCode)"
    }
}

extension DataSourceError {
    fileprivate init(postponed name: String, _ freshness: ScopeFreshness) {
        let end = freshness.postponedUntil.map { "before \($0.formatted(.iso8601))" } ?? "for some time"
        let count = freshness.failureCount == 1 ? "has failed" : "has failed \(freshness.failureCount) times"
        self.init(
            .loadPostponed,
            "Loading the scope \"\(name)\" \(count), so no further load is made \(end). The stored objects can still be read. Load again at that time, which is retryAt of the scope's freshness. To load at once, pass the maxAge zero.",
            cause: freshness.lastFailure)
    }
}
