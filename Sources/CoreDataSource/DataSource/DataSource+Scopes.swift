public import Foundation
internal import RowStore

/// Storing the answers of a server, together with what the next request needs.
extension DataSource {
    /// Stores the answer of a server in one save, together with the time of the request, the entity tag and the cursor of the
    /// scope.
    ///
    /// For a list, this is a ``KeyedDataSource/sync(_:scope:deleting:operations:options:waitFor:progress:)`` of the scope. If
    /// the process ends during the call, the store has either both the objects and their entity tag, or neither. The answer
    /// `.notModified` writes one row.
    ///
    /// ```swift
    /// let (freshness, start) = (try contacts.freshness(of: all), Date())
    /// let answer = try await server.answer(unless: freshness.entityTag)
    /// try await contacts.apply(
    ///     answer, to: all, requestedAt: start, since: freshness)
    /// ```
    ///
    /// Pass the freshness that you have read before the request. If another answer for the scope was stored since, this answer
    /// may be older, and the call throws. Unlike a ``load(_:maxAge:whenStale:timeLimit:deleting:options:_:)``, the call makes
    /// no further request, and does not know whether answers for other scopes are newer. It can also delete objects that came
    /// into scope after the request.
    ///
    /// **Isolation**: any actor. If the caller is on the main actor, the main context shows the objects when the call returns.
    ///
    /// **Complexity**: as for a sync. A page, and the answer `.notModified`, read no other objects of the scope.
    ///
    /// - Parameters:
    ///   - answer: The answer. A page deletes no objects.
    ///   - scope: The scope. The data source must own its entity.
    ///   - requestedAt: The time of the request.
    ///   - freshness: The freshness before the request, read with this container. If another answer was stored since, or if the
    ///     store was reset, the call throws. If objects of the scope's entity were deleted since, but no other answer was
    ///     stored, `.notModified` throws. A list with `deleting: .none` is then stored without its tag and its cursor, if the
    ///     freshness has a cursor. With nil, the default, the answer is stored even if it is older than the stored answer.
    ///   - deleting: The limit of deletions, as for a sync.
    ///   - options: The options, as for a sync.
    /// - Returns: The counts, as for a sync. For the answer `.notModified`, all are 0, except ``SyncReport/evicted``.
    /// - Throws: The errors of a sync; `storeReset` if the store was reset since the freshness; `scopeChanged` if another
    ///   answer was stored since the freshness, or if the answer is `.notModified`, but the store no longer has the entity tag
    ///   of the request; `valueTooLarge` if the entity tag, the cursor or the predicate has more than 64 KB, or the name more
    ///   than 1 KB; `invalidRequest` if the time of the request is not finite, or if the answer is `.notModified`, but the
    ///   freshness has neither an entity tag nor a cursor; `unsupportedQuery` if only Foundation can evaluate the predicate;
    ///   `scopeAlreadyUsed`; `entityNotOwned`; `validationFailed` for the character U+0000 in the name, the predicate, the tag
    ///   or the cursor; `scopesNotKept` for a custom store, and for a store on a server that an earlier release has made and
    ///   that its owner has not opened since. If the call throws, it changes nothing.
    @discardableResult
    public nonisolated func apply<Object: ManagedObject>(
        _ answer: ServerAnswer<Value>, to scope: SyncScope<Object>, requestedAt: Date,
        since freshness: ScopeFreshness? = nil, deleting: SyncDeletion = .guarded, options: SyncOptions = []
    ) async throws -> SyncReport {
        try tier.claim(scope)
        guard requestedAt.timeIntervalSinceReferenceDate.isFinite else {
            throw DataSourceError(
                .invalidRequest, "An answer for the scope \"\(scope.name)\" has no time of its request. Pass a date.")
        }
        var writing = ScopeWriting(scope, requestedAt: requestedAt, deletion: deleting, options: options)
        writing.basis = freshness.map(LoadBasis.init)
        // This read throws if the store keeps no scopes.
        _ = try await tier.readStored(scope)
        switch answer {
        case .list(let values, let entityTag, let cursor):
            return try await write(values, writing, .whole(entityTag, cursor)).report
        case .page(let values, let next): return try await write(values, writing, .part(next)).report
        case .notModified:
            let hadTag = freshness.map { $0.entityTag != nil || $0.cursor != nil }
            return try await confirm(writing, since: freshness?.version, hadTag: hadTag ?? true)
        case .gone: return try await write([], writing.deletingAll, .whole(nil, nil)).report
        }
    }

    /// Returns how old the objects of a scope are, and what the next request needs.
    ///
    /// ```swift
    /// let freshness = try contacts.freshness(of: all)
    /// if freshness.isStale(after: .seconds(300)) {
    ///     print("Last updated", freshness.requestedAt as Any)
    ///     print("Last failure", freshness.lastFailure as Any)
    /// }
    /// ```
    ///
    /// **Isolation**: any actor. The call reads one row of the store. When a deletion of an object of the scope's entity is
    /// committed, the store drops the entity tag. Until then, the result can still have the tag. An answer `.notModified` to
    /// a request with this tag is refused.
    ///
    /// - Throws: `scopeAlreadyUsed`; `entityNotOwned`; `valueTooLarge` if the name has more than 1 KB, or the predicate more
    ///   than 64 KB; `unsupportedQuery` if only Foundation can evaluate the predicate; `scopesNotKept` for a custom store, and
    ///   for a store on a server that an earlier release has made and that its owner has not opened since; `storeClosed`;
    ///   errors of the store.
    public nonisolated func freshness<Object: ManagedObject>(of scope: SyncScope<Object>) throws -> ScopeFreshness {
        try tier.claim(scope)
        return try tier.freshness(of: scope)
    }

    /// Forgets the time of the last request of a scope, its entity tag, its cursor and its failures. So the next load requests
    /// the whole list, even if the list was fresh or a pause after a failure has not ended. The objects stay. If a load is
    /// running, and an answer had been stored before this load began, the load requests the list again.
    ///
    /// ```swift
    /// try await contacts.forget(all)
    /// ```
    ///
    /// **Isolation**: any actor. When the call returns, the store has forgotten the scope. If the caller is on the main actor,
    /// lists also show this.
    ///
    /// **Complexity**: O(1)
    ///
    /// - Parameter scope: The scope. The data source must own its entity. If the store knows only a scope with the same name and
    ///   another predicate, the call changes nothing.
    /// - Throws: The errors of ``freshness(of:)``; `storeReadOnly`; `validationFailed`; errors of the store. If the call throws,
    ///   it changes nothing.
    public nonisolated func forget<Object: ManagedObject>(_ scope: SyncScope<Object>) async throws {
        try tier.claim(scope)
        // This read throws if the store keeps no scopes.
        _ = try await tier.readStored(scope)
        let change = tier.change(scope, .forgotten)
        _ = try await tier.perform(waitFor: .store) { $0.scopeChanges.append(change) }
        tier.stack.root.scopes.forget(scope.name, withFailure: true)
        if isMainActor(#isolation) { await tier.stack.mainNotifier.mergeNow() }
    }

    // MARK: Writing

    /// Saves the values, together with the new state of their scope.
    nonisolated func write<Object: ManagedObject>(
        _ values: [Value], _ writing: ScopeWriting<Object>, _ part: ListPart
    ) async throws -> WrittenAnswer {
        try part.checkLengths(writing.scope.name)
        let change = tier.change(writing.scope, requestedAt: writing.requestedAt, part.event)
        let root = tier.stack.root
        defer { root.scopes.endWriting(change.name, change.number) }
        let saved = try await tier.store(writing.answered, as: change.number, values: max(1, values.count)) { context in
            try self.write(values, writing, part, with: change, in: context)
        }
        var written = saved.result
        written.report.totalDeleted = saved.report.deleted
        return written
    }

    private nonisolated func write<Object: ManagedObject>(
        _ values: [Value], _ writing: ScopeWriting<Object>, _ part: ListPart, with change: ScopeChange,
        in context: PrivateContext
    ) throws -> WrittenAnswer {
        try writing.basis?.check(tier, writing.scope)
        if part.deletes {
            context.answered?.list = try context.completeList(of: writing.scope, part.earlierPages.objects)
        }
        var (report, page, spared) = try reconcile(values, writing, part, in: context)
        try context.checkLists()
        try context.checkSpared(spared)
        var change = change
        if case .loaded(_, _, isComplete: true) = change.event {
            change.changesSince = writing.changesSince
            report.evicted = try context.evict(writing.scope, at: writing.requestedAt)
            // The answer to an earlier request may have an evicted object, so the list does not refuse such an answer.
            if report.evicted > 0 { context.answered?.list = nil }
            // In these cases, the objects in scope differ from the list that has the tag, so store no tag.
            if report.evicted > 0 || !spared.isEmpty {
                change.event = .loaded(entityTag: nil, cursor: nil, isComplete: true)
            }
        }
        context.scopeChanges.append(change)
        tier.stack.root.scopes.beginWriting(change.name, change.number)
        return WrittenAnswer(report: report, page: page, number: change.number)
    }

    /// Reads which objects are in scope before a request. The answer deletes only these objects, because it can lack objects
    /// that came into scope during the request.
    nonisolated func ends<Object: ManagedObject>(in scope: SyncScope<Object>) async throws -> Set<LinkEnd> {
        try await tier.perform(waitFor: .store, values: 0) { try $0.ends(in: scope) }.result
    }

    /// - Returns: The report, the page, and the spared objects. The list lacks the spared objects, but they came into scope
    ///   during the request, so they are not deleted.
    private nonisolated func reconcile<Object: ManagedObject>(
        _ values: [Value], _ writing: ScopeWriting<Object>, _ part: ListPart, in context: PrivateContext
    ) throws -> (SyncReport, ListedPages, spared: [ManagedObject]) {
        let inScope = part.deletes ? try context.scope(Object.self, writing.scope.predicate) : []
        let stored = inScope.filter { writing.candidates?.contains(LinkEnd($0)) ?? true }
        let rules = SyncRules(
            deletion: part.deletes ? writing.deletion : .none, operations: .all, options: writing.options,
            isScoped: writing.scope.predicate != nil)
        var sweep = try SyncSweep(Object.self, rules, in: context)
        sweep.earlierPages = part.earlierPages
        try add(values, in: context) { try sweep.markObject($0, in: context) }
        let report = try sweep.end(stored, in: context)
        context.listedObjects = sweep.markedObjects
        let spared = stored.count == inScope.count || !rules.deletes ? [] : sweep.missing(among: inScope)
        return (report, sweep.page, spared.filter { writing.candidates?.contains(LinkEnd($0)) == false })
    }

    /// Saves the answer `.notModified`.
    ///
    /// - Parameters:
    ///   - version: The ``ScopeFreshness/version`` from which the request has taken its entity tag; nil for the current version.
    ///   - hadTag: Whether the request had an entity tag or a cursor. If not, the answer is invalid.
    /// - Throws: `invalidRequest` if the request had neither, because a new request would get the same answer; `scopeChanged` if
    ///   the tag is gone; errors of the store.
    @discardableResult
    nonisolated func confirm<Object: ManagedObject>(
        _ writing: ScopeWriting<Object>, since version: Int64?, hadTag: Bool
    ) async throws -> SyncReport {
        let (scope, root) = (writing.scope, tier.stack.root)
        if !hadTag { throw DataSourceError(notModifiedWithoutTag: scope.name) }
        let change = tier.change(scope, requestedAt: writing.requestedAt, .notModified(since: 0))
        defer { root.scopes.endWriting(change.name, change.number) }
        let kind: HistoryKind = scope.eviction == nil ? .local : .eviction
        let saved = try await tier.store(writing.answered, as: change.number, kind: kind) { [tier] context in
            try writing.basis?.check(tier, scope)
            // Look for pending deletions before the read. In the other order, a deletion that is written in between would be
            // missed.
            let hasPendingDeletions = root.hasPendingDeletions(of: Object.entityName)
            guard let stored = try tier.stored(scope), stored.hasTag, version ?? stored.version == stored.version
            else { throw DataSourceError(tagGone: scope.name) }
            // The list is unchanged at the time of this request, so no answer to an older request may change it.
            if stored.isComplete {
                context.answered?.list = try context.completeList(of: scope, [])
                context.answered?.list?.isConfirmed = true
            }
            var (report, change) = (SyncReport(), change)
            // Unlike a list with objects, the list stays complete: the evicted objects were stored, so they are recorded as deleted.
            report.evicted = try context.evict(scope, at: writing.requestedAt)
            change.event = .notModified(since: stored.version)
            if report.evicted > 0 {
                // A commit can leave out the answer, but not the evictions of the same save. So if a pending deletion may
                // drop the tag, refuse the whole save now.
                if hasPendingDeletions { throw DataSourceError(tagGone: scope.name) }
                change.event = .loaded(entityTag: nil, cursor: nil, isComplete: stored.isComplete)
                root.scopes.beginWriting(change.name, change.number)
            }
            context.scopeChanges.append(change)
            return report
        }
        let report = saved.syncReport
        if report.evicted > 0 { return report }
        root.scopes.forget(scope.name)
        // An earlier save may have dropped the tag, or stored another answer. In this case, the commit has not written this
        // answer.
        guard let stored = try await tier.readStored(scope), stored.hasTag,
            stored.answer == change.number || stored.requestedAt.map({ $0 >= writing.requestedAt }) == true
        else { throw DataSourceError(tagGone: scope.name) }
        return report
    }
}

extension PrivateContext {
    /// Returns which objects are in scope.
    fileprivate func ends<Object: ManagedObject>(in scope: SyncScope<Object>) throws -> Set<LinkEnd> {
        let ids = try ids(ObjectRequest(Object.self, where: scope.predicate))
        return Set(
            ids.lazy.compactMap { [stack] id in
                id.layout(in: stack.layout).map { LinkEnd(entity: $0.index, key: id.key) }
            })
    }

    /// Describes a complete list, so that answers to overlapping requests can be compared with it.
    ///
    /// - Parameter earlier: The objects on the earlier pages.
    fileprivate func completeList<Object: ManagedObject>(
        of scope: SyncScope<Object>, _ earlier: Set<LinkEnd>
    ) throws(DataSourceError) -> CompleteList {
        // The plan must not depend on the deletions of this batch, because other batches use the plan.
        let plan = try FetchPlan(
            ObjectRequest(Object.self, where: scope.predicate), entity: bindings[entity(of: Object.self)].layout,
            in: stack.layout)
        return CompleteList(family: plan.family, query: plan.query, earlier: earlier)
    }

    /// Deletes the objects of a scope that are too old or too many.
    ///
    /// - Returns: The number of deleted objects.
    fileprivate func evict<Object: ManagedObject>(_ scope: SyncScope<Object>, at requestedAt: Date) throws -> Int {
        guard let eviction = scope.eviction else { return 0 }
        var count = 0
        if let request = eviction.oldObjects(in: scope.predicate, at: requestedAt) { count += try deleteAll(request) }
        if let limit = eviction.maxCount {
            var request = eviction.countedObjects(in: scope.predicate)
            request.limit = max(0, try self.count(request) - limit)
            count += try deleteAll(request)
        }
        return count
    }

    private func deleteAll<Object: ManagedObject>(_ request: ObjectRequest<Object>) throws -> Int {
        // The fetch first applies the cascades of all earlier deletions, so the deleted objects below include them.
        let objects = try fetch(request)
        if !objects.isEmpty, deletedBeforeEviction == nil { deletedBeforeEviction = deletedObjects }
        return try deleteEach(objects)
    }
}

extension DataSourceError {
    fileprivate init(tagGone name: String) {
        self.init(
            .scopeChanged,
            "The server has answered that the list of the scope \"\(name)\" is not modified, but the store no longer has the entity tag of the request: the tag was dropped, for example by a deletion, or replaced. Request the list without an entity tag."
        )
    }

    fileprivate init(notModifiedWithoutTag name: String) {
        self.init(
            .invalidRequest,
            "The server has answered that the list of the scope \"\(name)\" is not modified, but the request had no entity tag and no cursor. Answer such a request with the list."
        )
    }
}

extension PrivateTier {
    /// Records that this data source uses the scope.
    ///
    /// - Throws: `entityNotOwned`, `unknownEntity`, `scopeAlreadyUsed`, `valueTooLarge`, `unsupportedQuery`, `scopesNotKept`,
    ///   `storeClosed`.
    nonisolated func claim<Object: ManagedObject>(_ scope: SyncScope<Object>) throws(DataSourceError) {
        let entity = Object.entityName
        guard let layout = stack.layout.entity(named: entity) else {
            throw DataSourceError(
                .unknownEntity,
                "The scope \"\(scope.name)\" is for \(entity), but the model \(stack.layout.model.name) has no such entity.",
                entityName: entity)
        }
        guard layout.concreteFamily.allSatisfy({ stack.owner(ofEntity: $0) == owner }) else {
            throw DataSourceError(
                .entityNotOwned,
                "\(owner) uses the scope \"\(scope.name)\" for \(entity), which it does not own. Use the scope with the data source that owns \(entity).",
                entityName: entity)
        }
        try scope.check()
        try stack.root.checkKeepsScopes()
        try stack.root.scopes.claim(scope.name, ofEntity: entity, for: owner)
    }

    /// What identifies the scope in the store.
    nonisolated func id<Object: ManagedObject>(of scope: SyncScope<Object>) -> ScopeID {
        stack.mapped(scope.id)
    }

    nonisolated func change<Object: ManagedObject>(
        _ scope: SyncScope<Object>, requestedAt: Date? = nil, _ event: ScopeChange.Event
    ) -> ScopeChange {
        ScopeChange(
            name: scope.name, entity: Object.entityName, predicate: id(of: scope).predicate.string,
            requestedAt: requestedAt, event)
    }

    /// Returns what is known of the scope without a read; nil if nothing is known.
    nonisolated func known<Object: ManagedObject>(_ scope: SyncScope<Object>) -> StoredScope? {
        stack.root.scopes.known(id(of: scope), in: owner)
    }

    /// Reads what the store knows of the scope; nil if it does not know the scope, or knows it with another predicate or
    /// another version of the mapping.
    nonisolated func stored<Object: ManagedObject>(
        _ scope: SyncScope<Object>
    ) throws(DataSourceError) -> StoredScope? {
        try stack.root.stored(id(of: scope))
    }

    /// Reads how old the objects of the scope are.
    nonisolated func freshness<Object: ManagedObject>(
        of scope: SyncScope<Object>
    ) throws(DataSourceError) -> ScopeFreshness {
        // Look for a running load before the read: if a load has just ended, the read finds its answer.
        let isLoading = loads.isRunning(.scope(scope.id, generation: stack.root.generation))
        var found = try stack.root.freshness(of: id(of: scope))
        found.isLoading = isLoading
        return found
    }

    /// Like ``freshness(of:)``, but reads off the caller's actor, because the main actor must not wait for the store.
    @concurrent
    nonisolated func readFreshness<Object: ManagedObject>(
        of scope: SyncScope<Object>
    ) async throws(DataSourceError) -> ScopeFreshness {
        try freshness(of: scope)
    }

    /// Like ``stored(_:)``, but reads off the caller's actor.
    @concurrent
    fileprivate nonisolated func readStored<Object: ManagedObject>(
        _ scope: SyncScope<Object>
    ) async throws(DataSourceError) -> StoredScope? {
        try stored(scope)
    }
}

extension PrivateTier {
    // MARK: For tests

    /// Forgets what is known of scopes, so that it is read from the store.
    package nonisolated func forgetScopes() { stack.root.scopes.forgetAll() }
    /// Waits until no lease of a scope is being released.
    package nonisolated func waitForScopeLeases() async {
        await withCheckedContinuation { continuation in
            guard let leases = stack.root.leases else { return continuation.resume() }
            leases.scopeQueue.async { continuation.resume() }
        }
    }
    package nonisolated func noticeOutsideWrites() { stack.root.noticeOutsideWrites() }
}
