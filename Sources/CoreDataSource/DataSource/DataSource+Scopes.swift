public import Foundation
internal import RowStore

/// Storing the answers of a server, together with what the next request needs.
extension DataSource {
    /// Stores the answer of a server, and what it says of the scope, in one save.
    ///
    /// For a list, this is a ``KeyedDataSource/sync(_:scope:deleting:operations:options:waitFor:progress:)`` of the scope. If
    /// the process ends during the call, the store has the objects with their entity tag, or neither. The answer `.notModified`
    /// writes one row.
    ///
    /// ```swift
    /// let (freshness, start) = (try contacts.freshness(of: all), Date())
    /// let answer = try await server.answer(unless: freshness.entityTag)
    /// try await contacts.apply(
    ///     answer, to: all, requestedAt: start, since: freshness)
    /// ```
    ///
    /// Pass the freshness that you have read before the request. If another answer was stored since, this answer may be older,
    /// and the call throws. Unlike a ``load(_:maxAge:whenStale:timeLimit:deleting:options:_:)``, the call makes no further
    /// request.
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
    ///     store was reset, the call throws. If only objects of the scope's entity were deleted since, only the answer
    ///     `.notModified` throws. With nil, the default, the answer is stored even if it is older than the stored answer.
    ///   - deleting: The limit of deletions, as for a sync.
    ///   - options: The options, as for a sync.
    /// - Throws: The errors of a sync; `storeReset` if the store was reset since the freshness; `scopeChanged` if another answer
    ///   was stored since the freshness, or if the answer is `.notModified`, but the objects no longer show the answer with the
    ///   entity tag; `valueTooLarge` if the entity tag, the cursor or the predicate has more than 64 KB, or the name more than
    ///   1 KB; `invalidRequest` if the time of the request is no number; `unsupportedQuery` if only Foundation can evaluate the
    ///   predicate; `scopeAlreadyUsed`; `entityNotOwned`; `validationFailed` for the character U+0000 in the name, the
    ///   predicate, the tag or the cursor; `scopesNotKept` for a custom store, and for a store on a server that an earlier
    ///   release has made and that its owner has not opened since. If the call throws, it changes nothing.
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
        // The store may keep no scopes.
        _ = try tier.stored(scope)
        switch answer {
        case .list(let values, let entityTag, let cursor):
            return try await write(values, writing, .whole(entityTag, cursor)).report
        case .page(let values, let next): return try await write(values, writing, .part(next)).report
        case .notModified:
            try await confirm(writing, since: freshness?.version)
            return SyncReport()
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
    /// **Isolation**: any actor. The call reads one row of the store. So a deletion that is not in the store yet has not
    /// dropped the entity tag. An answer `.notModified` to a request with that tag is refused all the same.
    ///
    /// - Throws: `scopeAlreadyUsed`; `entityNotOwned`; `valueTooLarge` if the name has more than 1 KB, or the predicate more
    ///   than 64 KB; `unsupportedQuery` if only Foundation can evaluate the predicate; `scopesNotKept` for a custom store, and
    ///   for a store on a server that an earlier release has made and that its owner has not opened since; `storeClosed`;
    ///   errors of the store.
    public nonisolated func freshness<Object: ManagedObject>(of scope: SyncScope<Object>) throws -> ScopeFreshness {
        try tier.claim(scope)
        return try tier.freshness(of: scope)
    }

    // MARK: Writing

    /// Saves the values, and their scope.
    nonisolated func write<Object: ManagedObject>(
        _ values: [Value], _ writing: ScopeWriting<Object>, _ part: ListPart
    ) async throws -> WrittenAnswer {
        try part.checkLengths(writing.scope.name)
        let change = writing.change(part.event)
        let scopes = tier.stack.root.scopes
        defer { scopes.endWriting(change.name, change.number) }
        return try await tier.perform(waitFor: .store, values: max(1, values.count), kind: .incoming) { context in
            try writing.basis?.check(tier, writing.scope)
            var (report, page) = try self.reconcile(values, writing, part, in: context)
            var change = change
            if case .loaded(_, _, isComplete: true) = change.event {
                report.evicted = try context.evict(writing.scope, at: writing.requestedAt)
                // The objects do not show the list of the tag.
                if report.evicted > 0 { change.event = .loaded(entityTag: nil, cursor: nil, isComplete: true) }
            }
            context.scopeChanges.append(change)
            scopes.beginWriting(change.name, change.number)
            return WrittenAnswer(report: report, page: page, number: change.number)
        }.result
    }

    private nonisolated func reconcile<Object: ManagedObject>(
        _ values: [Value], _ writing: ScopeWriting<Object>, _ part: ListPart, in context: PrivateContext
    ) throws -> (SyncReport, ListedPages) {
        var pages = part.earlierPages
        let isFirst = part.isOfPages && pages.candidates == nil
        var stored: [ManagedObject] = []
        if part.deletes || isFirst { stored = try context.scope(Object.self, writing.scope.predicate) }
        if isFirst { pages.candidates = Set(stored.lazy.map(\.key)) }
        if let candidates = pages.candidates { stored.removeAll { !candidates.contains($0.key) } }
        let rules = SyncRules(
            deletion: part.deletes ? writing.deletion : .none, operations: .all, options: writing.options,
            isScoped: writing.scope.predicate != nil)
        var sweep = try SyncSweep(Object.self, rules, in: context)
        sweep.earlierPages = pages
        try add(values, in: context) { try sweep.markObject($0, in: context) }
        let report = try sweep.end(part.deletes ? stored : [], in: context)
        context.listedObjects = sweep.markedObjects
        return (report, sweep.page)
    }

    /// Saves that the list has not changed.
    ///
    /// - Parameter version: The ``ScopeFreshness/version`` from which the request has taken its entity tag; nil for the current
    ///   version.
    nonisolated func confirm<Object: ManagedObject>(
        _ writing: ScopeWriting<Object>, since version: Int64?
    ) async throws {
        let name = writing.scope.name
        let scopes = tier.stack.root.scopes
        let number = try await tier.perform(waitFor: .store, values: 1) { context -> Int64 in
            try writing.basis?.check(tier, writing.scope)
            guard let stored = try tier.stored(writing.scope), stored.hasTag,
                version ?? stored.version == stored.version
            else { throw DataSourceError(tagGone: name) }
            let change = writing.change(.notModified(since: stored.version))
            context.scopeChanges.append(change)
            return change.number
        }.result
        scopes.forget(name)
        // The commit writes nothing if a save before it has dropped the tag, or has stored another answer.
        guard let stored = try tier.stored(writing.scope), stored.hasTag,
            stored.answer == number || stored.requestedAt.map({ $0 >= writing.requestedAt }) == true
        else { throw DataSourceError(tagGone: name) }
        guard writing.scope.eviction != nil else { return }
        _ = try await tier.perform(waitFor: .store, kind: .eviction) { context in
            _ = try context.evict(writing.scope, at: writing.requestedAt)
        }
    }
}

extension PrivateContext {
    /// Deletes the objects of a scope that are too old or too many.
    ///
    /// - Returns: The number of deleted objects.
    fileprivate func evict<Object: ManagedObject>(_ scope: SyncScope<Object>, at requestedAt: Date) throws -> Int {
        var count = 0
        for request in scope.eviction?.requests(in: scope.predicate, at: requestedAt) ?? [] {
            for (index, object) in try fetch(request).enumerated() {
                try checkCancellation(index)
                delete(object)
                count += 1
            }
        }
        return count
    }
}

/// An answer that was saved.
struct WrittenAnswer: Sendable {
    let report: SyncReport
    /// What the page had, for the later pages of the list.
    let page: ListedPages
    /// The number of the answer.
    let number: Int64
}

/// The arguments of a write of a scope.
struct ScopeWriting<Object: ManagedObject>: Sendable {
    let scope: SyncScope<Object>
    let requestedAt: Date
    let deletion: SyncDeletion
    var options: SyncOptions
    /// The state of the scope at the request; nil to write in any state.
    var basis: LoadBasis?

    init(_ scope: SyncScope<Object>, requestedAt: Date, deletion: SyncDeletion, options: SyncOptions) {
        self.scope = scope
        self.requestedAt = requestedAt
        self.deletion = deletion
        self.options = options
    }

    private init(deletingAll other: Self) {
        self.init(
            other.scope, requestedAt: other.requestedAt, deletion: .all, options: other.options.union(.allowsEmpty))
        basis = other.basis
    }

    var deletingAll: Self { Self(deletingAll: self) }

    func change(_ event: ScopeChange.Event) -> ScopeChange {
        ScopeChange(
            name: scope.name, entity: Object.entityName, predicate: scope.format, requestedAt: requestedAt, event)
    }
}

/// The part of a list that an answer has.
enum ListPart: Sendable {
    /// The whole list, with its entity tag and cursor.
    case whole(String?, String?)
    /// A part of a list, with the cursor of the next part.
    case part(String?)
    /// A page of a load that requests all pages, with the cursor of the next page.
    case page(ListedPages, String?)

    var earlierPages: ListedPages { if case .page(let pages, _) = self { pages } else { ListedPages() } }

    var isOfPages: Bool { if case .page = self { true } else { false } }

    /// Whether objects that are not in the list are deleted.
    var deletes: Bool {
        switch self {
        case .whole: true
        case .part: false
        case .page(_, let next): next == nil
        }
    }

    var event: ScopeChange.Event {
        switch self {
        case .whole(let entityTag, let cursor): .loaded(entityTag: entityTag, cursor: cursor, isComplete: true)
        case .part(let next): .loaded(entityTag: nil, cursor: next, isComplete: next == nil)
        // The next load begins with the first page.
        case .page(_, let next): .loaded(entityTag: nil, cursor: nil, isComplete: next == nil)
        }
    }

    /// The greatest length of an entity tag or a cursor, in bytes.
    static let longestTag = 64 << 10

    /// - Throws: `valueTooLarge` if the entity tag or the cursor is too long.
    func checkLengths(_ name: String) throws(DataSourceError) {
        let texts: [String?] =
            switch self {
            case .whole(let entityTag, let cursor): [entityTag, cursor]
            case .part(let next), .page(_, let next): [next]
            }
        guard let length = texts.compactMap({ $0?.utf8.count }).first(where: { $0 > ListPart.longestTag }) else {
            return
        }
        throw DataSourceError(
            .valueTooLarge,
            "The server gave the scope \"\(name)\" an entity tag or a cursor of \(length) bytes. At most \(ListPart.longestTag) bytes are kept. Pass nil instead."
        )
    }
}

/// The state of a scope at the time of a request.
struct LoadBasis: Sendable {
    private let generation: Int
    /// The number of the answer that was stored.
    var answer: Int64

    init(_ freshness: ScopeFreshness) {
        generation = freshness.generation
        answer = freshness.answer
    }

    /// - Throws: `storeReset` if the store was reset since the request; `scopeChanged` if another answer was stored since.
    func check<Object: ManagedObject>(_ tier: PrivateTier, _ scope: SyncScope<Object>) throws(DataSourceError) {
        let root = tier.stack.root
        if root.generation != generation { throw RootTier.storeReset }
        guard !root.scopes.isWriting(scope.name), try tier.stored(scope)?.answer ?? 0 == answer else {
            throw DataSourceError(
                .scopeChanged,
                "Another answer for the scope \"\(scope.name)\" was stored since the request, so this answer may be older. Request the list again."
            )
        }
    }
}

extension StoredScope {
    var hasTag: Bool { entityTag != nil || cursor != nil }
}

extension DataSourceError {
    fileprivate init(tagGone name: String) {
        self.init(
            .scopeChanged,
            "The server has answered that the list of the scope \"\(name)\" is not modified, but its objects no longer show the list with the entity tag. Request the list without an entity tag."
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

    /// Returns what is known of the scope without a read; nil if nothing is known.
    nonisolated func known<Object: ManagedObject>(_ scope: SyncScope<Object>) -> StoredScope? {
        stack.root.scopes.known(scope.id, in: owner)
    }

    /// Reads what the store knows of the scope; nil if it knows nothing, or only of another predicate.
    nonisolated func stored<Object: ManagedObject>(
        _ scope: SyncScope<Object>
    ) throws(DataSourceError) -> StoredScope? {
        try stack.root.stored(scope.id)
    }

    /// Reads how old the objects of the scope are.
    nonisolated func freshness<Object: ManagedObject>(
        of scope: SyncScope<Object>
    ) throws(DataSourceError) -> ScopeFreshness {
        try stack.root.freshness(of: scope.id)
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
