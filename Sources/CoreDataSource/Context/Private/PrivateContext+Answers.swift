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
            guard isLastTry, try root.laterScopes(than: answered, of: ownedEntities(changedBy: changes)) == [] else {
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

    /// Refuses an answer that would add an object to a complete list, if the list was stored since the request of the
    /// answer. The object was missing in the list, so the server may have deleted it.
    ///
    /// - Complexity: at most one evaluation of a predicate for each changed object and each list of its entity. If the predicate
    ///   requires values in a column, only for the objects with these values. A list whose predicate follows relationships makes one
    ///   fetch of the changed objects. In a shared store, also one read of the later scopes.
    /// - Throws: `scopeChanged`; the errors of a fetch.
    func checkLists(storedSince request: AnsweredRequest) throws {
        let others = stack.root.requests.saved(since: request).filter { $0.list != nil }
        if !others.isEmpty {
            var stored = StoredObjects(changed.lazy.filter { $0.isInserted || $0.isUpdated && $0.hasEdits })
            for saved in others {
                guard let list = saved.list else { continue }
                let objects = stored.candidates(of: list).filter {
                    let end = LinkEnd($0)
                    return !saved.rows.stored.keys.contains(end) && !list.earlier.contains(end)
                }
                try check(objects, areNotIn: list, request)
            }
        }
        if stack.root.store.sharing != nil { try checkListsOfOthers(storedSince: request) }
    }

    /// Refuses an answer that would change, add or delete objects of a complete list that another member has stored since the request.
    /// The feed has only the rows that the other member has changed. It does not say which unchanged objects are in the list and
    /// which are not, so the predicate of the list must decide.
    private func checkListsOfOthers(storedSince request: AnsweredRequest) throws {
        if request.number == nil { return }
        let edited = changed.filter { $0.isInserted || $0.isDeleted || $0.isUpdated && $0.hasEdits }
        if edited.isEmpty { return }
        let scopes = try stack.root.laterScopes(than: request, of: Array(Set(edited.lazy.map(\.layout.index)))) ?? []
        for scope in scopes where scope.isComplete && scope.answer != request.laterAnswers[scope.name] {
            guard let list = CompleteList(scope, in: stack.layout) else { continue }
            let objects = edited.filter { list.family.contains($0.layout.index) }
            try check(objects.filter { !$0.isDeleted }, areNotIn: list, request)
            if list.query.joined.isEmpty {
                try check(objects.filter { !$0.isInserted }, areNotIn: list, request, \.savedRow)
            }
        }
    }

    /// - Throws: `scopeChanged` if the predicate of a list matches any of the objects.
    private func check(
        _ objects: [ManagedObject], areNotIn list: CompleteList, _ request: AnsweredRequest,
        _ row: (ManagedObject) -> RowSnapshot = \.row
    ) throws {
        stack.root.requests.didCompare(objects.count)
        if try contains(any: objects, list, row) { throw DataSourceError(replacing: request) }
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

    /// Whether the predicate of a list matches any of the objects.
    ///
    /// - Parameter row: Returns the row of an object. Not used if the predicate follows relationships.
    private func contains(
        any objects: [ManagedObject], _ list: CompleteList, _ row: (ManagedObject) -> RowSnapshot
    ) throws -> Bool {
        if objects.isEmpty { return false }
        let budget = QueryBudget(isCancellable: isCancellable)
        if list.query.joined.isEmpty {
            return try objects.contains { object in
                try list.query.predicate.evaluate(row(object), key: object.key, object.layout, budget)
            }
        }
        var plan = FetchPlan(list.query)
        plan.family = list.family
        plan.query.budget = budget
        let keys = ValueList(objects.map { .integer($0.key) }, .natural)
        plan.query.predicate = .and([list.query.predicate, .isMember(.key, keys)])
        let wanted = Set(objects.lazy.map { LinkEnd($0) })
        return try reading { () throws(DataSourceError) in try unsortedObjects(plan) }
            .contains { wanted.contains(LinkEnd($0)) }
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

/// The objects that an answer inserts or changes, found by the values that predicates require.
private struct StoredObjects {
    private struct Column: Hashable {
        let entity: Int
        let column: Int
    }

    private let objects: [Int: [ManagedObject]]
    private var indexes: [Column: [RowValue: [ManagedObject]]] = [:]

    init(_ objects: some Sequence<ManagedObject>) {
        self.objects = Dictionary(grouping: objects, by: \.layout.index)
    }

    /// Returns at least the objects that match the predicate of a list.
    mutating func candidates(of list: CompleteList) -> [ManagedObject] {
        list.family.flatMap { entity -> [ManagedObject] in
            guard let objects = objects[entity] else { return [] }
            let layout = objects[0].layout
            guard let (column, values) = list.query.predicate.wantedValues(layout) else { return objects }
            let place = Column(entity: entity, column: column)
            let storage = layout.columns[column].storage
            let index = indexes[place] ?? Dictionary(grouping: objects) { $0.row.value(column, storage) }
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
