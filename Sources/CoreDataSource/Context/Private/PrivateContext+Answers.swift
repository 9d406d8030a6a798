internal import RowStore

/// Answers to overlapping requests.
extension PrivateContext {
    /// Refuses the batch if it stores an answer, and would replace rows of an answer that was stored since its request.
    /// Otherwise, records the rows of the answer, so that no answer to a running request replaces them. For any other batch,
    /// records the rows that a sweep for an answer to a running request must not delete.
    ///
    /// - Parameter changes: The changes of the whole batch.
    /// - Throws: `scopeChanged`; errors of the store.
    func checkAnswer(savedWith changes: ChangeSet) throws(DataSourceError) {
        let (root, layout) = (stack.root, stack.layout)
        guard let answered else { return root.requests.record(arrived: changes, layout) }
        let replaced = root.requests.saved(since: answered).filter { $0.rows.areReplaced(by: changes, layout) }
        if !replaced.isEmpty {
            // Another member may edit the rows again and again, so the last try replaces rows of other members, unless the store has a
            // later answer.
            let isLastTry = !answered.canRequestAgain && replaced.allSatisfy(\.isOfOtherMember)
            guard isLastTry, try !root.hasLaterRequest(than: answered, of: ownedEntities(changedBy: changes)) else {
                throw DataSourceError(replacing: answered)
            }
        }
        guard root.requests.hasOthers(than: answered) else { return }
        root.requests.record(
            SavedRows(changes, listed: listedObjects.lazy.map { ($0.layout.index, $0.key) }, layout), from: answered)
    }

    /// Returns a function that says whether an object was inserted or linked during the request whose answer the batch stores. The
    /// server may not have known such an object, so a sweep does not delete it.
    func arrivalsDuringRequest() -> (ManagedObject) -> Bool {
        guard let answered = ([self] + otherBatchContexts).lazy.compactMap(\.answered).first else {
            return { _ in false }
        }
        let saved = stack.root.requests.saved(since: answered)
        let arrived = saved.reduce(into: SavedRows()) { $0.formUnion(arrivedIn: $1.rows) }
        return { arrived.mayHaveArrived(entity: $0.layout.index, key: $0.key) }
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

    /// Refuses an answer that would add objects to a complete list that was stored since its request. Such an object was missing
    /// in that list, so the server may have deleted it.
    ///
    /// - Complexity: at most one evaluation of a predicate for each changed object and each list of its entity. A list whose
    ///   predicate follows relationships makes one fetch of the changed objects.
    /// - Throws: `scopeChanged`; the errors of a fetch.
    func checkLists(storedSince request: AnsweredRequest) throws {
        let others = stack.root.requests.saved(since: request).filter { $0.list != nil }
        if others.isEmpty { return }
        let changed = Dictionary(
            grouping: changed.lazy.filter { $0.isInserted || $0.isUpdated && $0.hasEdits }, by: \.layout.index)
        for saved in others {
            guard let list = saved.list else { continue }
            let objects = list.family.flatMap { entity in
                (changed[entity] ?? []).filter {
                    !saved.rows.contains(entity: entity, key: $0.key)
                        && !list.hasOnEarlierPage(entity: entity, key: $0.key)
                }
            }
            if try contains(any: objects, list) { throw DataSourceError(replacing: request) }
        }
    }

    /// Refuses a list that lacks an object which another answer of this container has brought into scope since the request. The
    /// object may be older than the list, so it must not stay; or newer, so it must not be deleted.
    ///
    /// - Parameter objects: The objects that came into scope during the request, and are not in the list.
    /// - Throws: `scopeChanged`
    func checkSpared(_ objects: [ManagedObject], storedSince request: AnsweredRequest) throws(DataSourceError) {
        if objects.isEmpty { return }
        let answers = stack.root.requests.saved(since: request).filter { $0.answer != nil }
        let isOfAnswer = objects.contains { object in
            answers.contains { $0.rows.mayContain(entity: object.layout.index, key: object.key) }
        }
        if isOfAnswer { throw DataSourceError(replacing: request) }
    }

    /// Whether the predicate of a list matches any of the objects, including their edits.
    private func contains(any objects: [ManagedObject], _ list: CompleteList) throws -> Bool {
        if objects.isEmpty { return false }
        let budget = QueryBudget(isCancellable: isCancellable)
        if list.query.joined.isEmpty {
            return try objects.contains { object in
                try list.query.predicate.evaluate(object.row, key: object.key, object.layout, budget)
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

extension DataSourceError {
    fileprivate init(replacing request: AnsweredRequest) {
        self.init(
            .scopeChanged,
            "The answer for the scope \"\(request.scope)\" would replace objects of another answer that was stored since the request, so it may be older. Request the list again."
        )
    }
}
