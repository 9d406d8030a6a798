internal import RowStore

/// Checks of the answers of a server to overlapping requests.
extension PrivateContext {
    /// Refuses a batch that stores the answer to a request, if it would replace rows that another answer or another member has
    /// saved since the request. Otherwise records the rows of the answer, so that no answer to a running request replaces them.
    /// For a batch that stores no answer, records the inserted and linked rows, because a sweep for an answer to a running
    /// request must not delete them.
    ///
    /// - Parameter changes: The changes of the whole batch.
    /// - Throws: `scopeChanged`; errors of the store.
    func checkAnswer(savedWith changes: ChangeSet) throws(DataSourceError) {
        let (root, layout) = (stack.root, stack.layout)
        guard let answered else { return root.requests.record(arrived: changes, layout) }
        let replaced = saved(since: answered, replacedBy: { AnswerRows(changes, layout) })
        if !replaced.isEmpty {
            // Another member may edit the rows again and again, so the last try replaces rows of other members, unless the store has a
            // later answer.
            let isLastTry = !answered.canRequestAgain && replaced.allSatisfy { $0.origin == .otherMember }
            guard isLastTry, try root.laterScopesOfOthers(than: answered, of: ownedEntities(changedBy: changes)) == []
            else {
                throw DataSourceError(replacing: answered)
            }
        }
        guard root.requests.hasOthers(than: answered) else { return }
        root.requests.record(
            SavedRows(changes, listed: listedObjects.lazy.map { LinkEnd($0) }, layout), from: answered)
    }

    /// Returns those saves since a request that have rows which the answer may replace.
    private func saved(since request: AnsweredRequest, replacedBy rows: () -> AnswerRows) -> [RunningRequests.Saved] {
        let requests = stack.root.requests
        let saved = requests.saved(since: request)
        if saved.isEmpty { return [] }
        var rows = rows()
        defer { requests.didCompare(rows.comparisonCount) }
        return saved.filter { rows.mayReplaceAny(of: $0.rows) }
    }

    /// Returns a function that says whether an object was inserted or linked during the request whose answer the batch stores. The
    /// server may not have known such an object, so a sweep does not delete it.
    func arrivalsDuringRequest() -> (ManagedObject) -> Bool {
        guard let answered = ([self] + otherBatchContexts).lazy.compactMap(\.answered).first else {
            return { _ in false }
        }
        let saved = stack.root.requests.saved(since: answered)
        let arrived = saved.reduce(into: RowSet()) { $0.formUnion($1.rows.arrived) }
        return { arrived.mayContain(LinkEnd($0)) }
    }

    /// The entities of the data sources whose objects the batch changes. An answer for one of the entities can change objects of the
    /// others.
    private func ownedEntities(changedBy changes: ChangeSet) -> [Int] {
        let changed = Set(changes.entities.lazy.map(\.entity))
        return ([self] + otherBatchContexts).flatMap { context in
            let owned = context.bindings.filter(\.isOwned).map(\.layout.index)
            return changed.isDisjoint(with: owned) ? [] : owned
        }
    }

    /// Refuses the answer that the batch stores if it would change what the complete list of a later request shows. Such an answer
    /// adds an object that is missing in that list, so the server may have deleted the object. Or it changes or deletes an object
    /// that the list has with the stored values.
    ///
    /// Must be called after the hooks and the delete rules, while reads show the edits of all contexts of the batch. Evictions do
    /// not count, because they drop the entity tags of the lists. If the predicate of a list follows relationships, only the objects
    /// that match it after the edits count.
    ///
    /// - Complexity: at most two evaluations of a predicate for each changed object and each list of its entity. If the predicate
    ///   requires values in a column, only for the objects with these values. A list whose predicate follows relationships makes one
    ///   fetch of the changed objects. In a shared store, also one read of the later scopes.
    /// - Throws: `scopeChanged`; the errors of a fetch.
    func checkLists() throws {
        let contexts = [self] + otherBatchContexts
        guard let answering = contexts.first(where: { $0.answered != nil }), let request = answering.answered,
            request.number != nil
        else { return }
        let edited = answering.editedByAnswer(contexts)
        if edited.isEmpty { return }
        var check = ListCheck(edited, keepsMembership: !request.canRequestAgain) { [self] in
            try keys(of: $0, matching: $1)
        }
        defer { stack.root.requests.didCompare(check.comparisonCount) }
        for saved in stack.root.requests.saved(since: request) {
            guard let list = saved.list else { continue }
            let changesList =
                try list.isConfirmed
                ? check.changes(list)
                : check.adds(to: list) { !saved.rows.stored.keys.contains($0) && !list.earlier.contains($0) }
            if changesList { throw DataSourceError(replacing: request) }
        }
        // The feed of another member has only the rows that the other member has changed. It does not say which unchanged objects
        // are in a list, and which are not, so the predicate of the list must decide.
        guard stack.root.store.sharing != nil else { return }
        let entities = Array(Set(edited.lazy.map(\.layout.index)))
        for scope in try stack.root.laterScopesOfOthers(than: request, of: entities) ?? [] where scope.isComplete {
            guard let list = CompleteList(scope, in: stack.layout) else { continue }
            if try check.changes(list) { throw DataSourceError(replacing: request) }
        }
    }

    /// The objects that the batch inserts, edits or deletes, without evictions.
    private func editedByAnswer(_ contexts: [PrivateContext]) -> [ManagedObject] {
        contexts.flatMap { context in
            context.changed.filter { object in
                object.isInserted || object.isUpdated && object.hasEdits
                    || object.isDeleted && deletedBeforeEviction?.contains(LinkEnd(object)) ?? true
            }
        }
    }

    /// Returns those of the objects that the predicate of a list matches, with their edits.
    private func keys(of objects: [ManagedObject], matching list: CompleteList) throws -> Set<LinkEnd> {
        if objects.isEmpty { return [] }
        var plan = FetchPlan(list.query)
        plan.family = list.family
        plan.query.budget = QueryBudget(isCancellable: isCancellable)
        let keys = ValueList(objects.map { .integer($0.key) }, .natural)
        plan.query.predicate = .and([list.query.predicate, .isMember(.key, keys)])
        let found = try reading { () throws(DataSourceError) in try unsortedObjects(plan) }
        return Set(found.lazy.map { LinkEnd($0) }).intersection(objects.lazy.map { LinkEnd($0) })
    }

    /// Refuses a list that lacks an object which another answer of this container has brought into scope since the
    /// request. If that answer is older than the list, the object must not stay. If it is newer, the object must not be
    /// deleted. It is not known which of the two is the case.
    ///
    /// - Parameter objects: The objects that came into scope during the request, and are not in the list.
    /// - Throws: `scopeChanged`
    func checkSpared(_ objects: [ManagedObject], storedSince request: AnsweredRequest) throws(DataSourceError) {
        if objects.isEmpty { return }
        let saved = saved(since: request, replacedBy: { AnswerRows(changed: Set(objects.lazy.map { LinkEnd($0) })) })
        if saved.contains(where: \.origin.isAnswer) { throw DataSourceError(replacing: request) }
    }
}

extension PrivateTier {
    /// Runs the work, and saves its edits as the answer to a request. If the save fails, no other answer is refused
    /// because of this answer.
    ///
    /// - Throws: `scopeChanged` if the save would replace another answer; the errors of the work and of a save.
    nonisolated func store<Result: Sendable>(
        _ request: AnsweredRequest, values: Int = 1, deletes: Bool = true, kind: HistoryKind = .incoming,
        _ work: @Sendable (PrivateContext) throws -> Result
    ) async throws -> Result {
        let requests = stack.root.requests
        var request = request
        request.answer = requests.newAnswer()
        do {
            return try await perform(waitFor: .store, values: values, deletes: deletes, kind: kind) { [request] in
                $0.answered = request
                return try work($0)
            }.result
        } catch {
            requests.forget(request.answer, after: error)
            throw error
        }
    }
}

/// Compares the objects that an answer changes with complete lists.
private struct ListCheck {
    private var after: EditedObjects
    private var before: EditedObjects
    /// Whether an object of a list may be edited if it stays in the list. This is so for the last request of a load, because a
    /// server may confirm the list again and again.
    private let keepsMembership: Bool
    /// Returns the objects that match a predicate that follows relationships.
    private let fetch: ([ManagedObject], CompleteList) throws -> Set<LinkEnd>
    private let budget = QueryBudget(isCancellable: false)
    private(set) var comparisonCount = 0

    init(
        _ edited: [ManagedObject], keepsMembership: Bool,
        _ fetch: @escaping ([ManagedObject], CompleteList) throws -> Set<LinkEnd>
    ) {
        after = EditedObjects(edited.filter { !$0.isDeleted }) { $0.row }
        before = EditedObjects(edited.filter { !$0.isInserted }) { $0.savedRow }
        self.keepsMembership = keepsMembership
        self.fetch = fetch
    }

    /// Whether any of the inserted and edited objects matches the predicate of a list, and is missing in the list.
    mutating func adds(to list: CompleteList, _ isMissing: (LinkEnd) -> Bool) throws -> Bool {
        try !matches(after.candidates(of: list).filter { isMissing(LinkEnd($0)) }, list, after.row).isEmpty
    }

    /// Whether any of the objects matches the predicate of a list, before or after the edits.
    mutating func changes(_ list: CompleteList) throws -> Bool {
        let new = try matches(after.candidates(of: list), list, after.row)
        let old = list.query.joined.isEmpty ? try matches(before.candidates(of: list), list, before.row) : []
        return keepsMembership ? new != old : !new.isEmpty || !old.isEmpty
    }

    private mutating func matches(
        _ objects: [ManagedObject], _ list: CompleteList, _ row: (ManagedObject) -> RowSnapshot
    ) throws -> Set<LinkEnd> {
        comparisonCount += objects.count
        if !list.query.joined.isEmpty { return try fetch(objects, list) }
        var found: Set<LinkEnd> = []
        for object in objects
        where try list.query.predicate.evaluate(row(object), key: object.key, object.layout, budget) {
            found.insert(LinkEnd(object))
        }
        return found
    }
}

/// The objects that an answer edits, before or after the edits. They are found by the values that predicates require.
private struct EditedObjects {
    private struct Column: Hashable {
        let entity: Int
        let column: Int
    }

    /// Returns the row of an object.
    let row: (ManagedObject) -> RowSnapshot
    private let objects: [Int: [ManagedObject]]
    private var indexes: [Column: [RowValue: [ManagedObject]]] = [:]

    init(_ objects: [ManagedObject], _ row: @escaping (ManagedObject) -> RowSnapshot) {
        self.objects = Dictionary(grouping: objects, by: \.layout.index)
        self.row = row
    }

    /// Returns at least the objects that match the predicate of a list.
    mutating func candidates(of list: CompleteList) -> [ManagedObject] {
        list.family.flatMap { entity -> [ManagedObject] in
            guard let objects = objects[entity] else { return [] }
            let layout = objects[0].layout
            guard let (column, values) = list.query.predicate.wantedValues(layout) else { return objects }
            let place = Column(entity: entity, column: column)
            let storage = layout.columns[column].storage
            let index = indexes[place] ?? Dictionary(grouping: objects) { row($0).value(column, storage) }
            indexes[place] = index
            return values.flatMap { index[$0] ?? [] }
        }
    }
}

extension CompleteList {
    /// - Parameter scope: A scope whose whole list the store has.
    /// - Returns: The list; nil if the model does not have its entity.
    fileprivate init?(_ scope: StoredScope, in model: ModelLayout) {
        guard let layout = model.entity(named: scope.entity) else { return nil }
        let predicate = scope.format.isEmpty ? nil : try? FetchPredicate<ManagedObject>(format: scope.format)
        let request = ObjectRequest(ManagedObject.self, where: predicate)
        // Another version of the app may use a predicate that this version cannot read. Then each object may be in scope.
        let query = (try? FetchPlan(request, entity: layout, in: model))?.query ?? RowQuery(entity: layout.index)
        self.init(family: layout.concreteFamily, query: query, earlier: [])
    }
}

extension DataSourceError {
    fileprivate init(replacing request: AnsweredRequest) {
        self.init(
            .scopeChanged,
            "The answer for the scope \"\(request.scope)\" would replace objects of another answer that was stored since the request. The answer for the scope may be the older one. Request the list again."
        )
    }
}
