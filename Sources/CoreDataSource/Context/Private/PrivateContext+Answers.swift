internal import RowStore

/// Checks of the answers of a server to overlapping requests.
extension PrivateContext {
    /// Refuses an answer that the batch stores, if the answer would replace rows that another answer or another member has saved
    /// since the request. Otherwise records the rows of the answer, so that no answer to a running request replaces these rows.
    /// If the batch stores no answer, records the inserted and linked rows, because a sweep for an answer to a running request
    /// must not delete these rows.
    ///
    /// Rows that only hooks (``SaveCompleting``) have changed are recorded, but not compared: a hook edits the rows that are
    /// stored now, so the answer does not replace these rows.
    ///
    /// - Parameter changes: The changes of the whole batch.
    /// - Throws: `scopeChanged`; errors of the store.
    func checkAnswer(savedWith changes: ChangeSet) throws(DataSourceError) {
        let (root, layout) = (stack.root, stack.layout)
        guard let answered else { return root.requests.record(arrived: changes, layout) }
        let replaced = saved(since: answered) {
            AnswerRows(changes, answered.changedBeforeHooks, evicted: evicted(in: changes), layout)
        }
        if !replaced.isEmpty {
            // Another member may edit the rows again and again. So the last request of a load replaces rows of other members, unless
            // the store has a later answer. If this container has confirmed a list meanwhile, the store no longer says whether
            // another member had stored this list as a later answer.
            let isLastTry = !answered.canRequestAgain && replaced.allSatisfy { $0.origin == .otherMember }
            let entities = ownedEntities(changedBy: changes)
            guard isLastTry, !root.requests.hasConfirmedList(of: entities, since: answered),
                try root.requests.laterScopesOfOthers(than: answered, of: entities, in: root) == []
            else {
                throw DataSourceError(tooLate: answered)
            }
        }
        guard root.requests.hasOthers(than: answered) else { return }
        root.requests.record(savedRows(changes, of: answered), from: answered)
    }

    /// The rows that the batch saves as an answer.
    private func savedRows(_ changes: ChangeSet, of answered: AnsweredRequest) -> SavedRows {
        let deletedBefore = answered.deletedBeforeHooks
        let isDeletedByHook = { row in deletedBefore?.contains(row) == false }
        var rows = SavedRows(
            changes, listed: listedObjects.lazy.map { LinkEnd($0) }, links: links(of: answered), stack.layout,
            isDeletedByHook: isDeletedByHook)
        // If a hook deletes a listed object in the save that inserts the object, the changes have no row of the object.
        for object in listedObjects where object.state == .gone && isDeletedByHook(LinkEnd(object)) {
            rows.insert(deletedByHook: object.row, object.layout)
        }
        return rows
    }

    /// Returns the objects whose links in other rows belong to the answer. These are the objects whose links the work has
    /// read or set. The listed objects are included, because the work may have set their links from the other side.
    ///
    /// - Returns: The objects; nil if the used links were not recorded.
    private func links(of request: AnsweredRequest) -> Set<LinkOwner>? {
        guard let used = request.usedLinks else { return nil }
        let storages = Set(used.lazy.map(\.storage))
        if storages.isEmpty { return [] }
        return listedObjects.reduce(into: used) { links, object in
            for storage in object.layout.relationships.lazy.flatMap(\.linkStorages) where storages.contains(storage) {
                links.insert(LinkOwner(storage: storage, object: LinkEnd(object)))
            }
        }
    }

    /// The objects that evictions have deleted, directly or by delete rules.
    private func evicted(in changes: ChangeSet) -> Set<LinkEnd> {
        guard let deletedBeforeEviction else { return [] }
        return Set(changes.entities.lazy.flatMap(\.deletedEnds)).subtracting(deletedBeforeEviction)
    }

    /// Returns the saves since a request with rows that the answer may replace.
    private func saved(since request: AnsweredRequest, replacedBy rows: () -> AnswerRows) -> [RunningRequests.Saved] {
        let requests = stack.root.requests
        let saved = requests.saved(since: request)
        if saved.isEmpty { return [] }
        var rows = rows()
        defer { requests.didCompare(rows.comparisonCount) }
        return saved.filter { rows.mayReplaceAny(of: $0.rows, isLastTry: !request.canRequestAgain) }
    }

    /// Returns a function that says whether an object was inserted or linked during the request whose answer the batch stores. The
    /// server may not have known such an object, so a sweep does not delete it.
    func arrivalsDuringRequest() -> (ManagedObject) -> Bool {
        guard let answered = batchContexts.lazy.compactMap(\.answered).first else {
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
        return batchContexts.flatMap { context in
            let owned = context.bindings.filter(\.isOwned).map(\.layout.index)
            return changed.isDisjoint(with: owned) ? [] : owned
        }
    }

    /// Refuses an answer if its edits contradict the complete list of a later request. There are two cases:
    /// - The answer adds an object that the list lacks. The server may have deleted this object.
    /// - The list has an object with its stored values, and the answer changes the values or the links of this object.
    ///
    /// ``checkDeletions()`` compares the deletions. Call this function after the work of the answer, and before evictions and hooks,
    /// because edits of evictions and hooks do not belong to the answer. If the predicate of a list follows relationships, only the
    /// objects that match the predicate after the edits count.
    ///
    /// - Complexity: For each list, at most two evaluations of its predicate for each changed object of its entity. If the predicate
    ///   requires values in a column, it is evaluated only for objects with these values. If the predicate follows relationships,
    ///   the changed objects are fetched once. In a shared store, the later scopes are read once. If there are later lists, the
    ///   objects whose links have changed are read.
    /// - Throws: `scopeChanged`; the errors of a fetch.
    func checkLists() throws {
        guard let answered else { return }
        let edited = changed.filter { $0.isInserted || $0.isUpdated && $0.hasEdits }
        try compare(
            answered, after: edited.map { EditedRow($0, $0.row) },
            before: edited.lazy.filter { $0.isUpdated }.map { EditedRow($0, $0.savedRow) },
            linked: linkOwners { _, _ in true })
    }

    /// Checks an answer before the first hook, and remembers which objects the answer has changed.
    ///
    /// - Throws: The errors of ``checkDeletions()``.
    func checkBeforeHooks() throws {
        if answered == nil { return }
        try checkDeletions()
        answered?.deletedBeforeHooks = deletedObjects
        answered?.changedBeforeHooks = batchContexts.reduce(into: []) { changed, context in
            changed.formUnion(context.changed.lazy.map { LinkEnd($0) })
            for rows in context.bulkChanges {
                changed.formUnion(rows.insertedEnds)
                changed.formUnion(rows.updatedEnds)
                changed.formUnion(rows.deletedEnds)
            }
        }
    }

    /// The objects that the batch has deleted so far, in all its contexts.
    var deletedObjects: Set<LinkEnd> {
        batchContexts.reduce(into: []) { deleted, context in
            deleted.formUnion(context.changed.lazy.filter(\.isDeleted).map { LinkEnd($0) })
            deleted.formUnion(context.bulkChanges.lazy.flatMap(\.deletedEnds))
        }
    }

    /// Refuses the answer of the batch if its deletions contradict the complete list of a later request. There are two cases:
    /// - The answer, or a delete rule because of the answer, deletes an object of the list.
    /// - The list has an object with its stored values, and a delete rule removes a link of this object.
    ///
    /// Deletions by evictions and by hooks do not count, because they drop the entity tags of the lists.
    ///
    /// Must be called on the context of the answer, after the delete rules, and before the hooks.
    ///
    /// - Throws: The errors of ``checkLists()``.
    func checkDeletions() throws {
        guard let answered else { return }
        let contexts = batchContexts
        let deleted = contexts.flatMap(\.deletedRows).filter { deletedBeforeEviction?.contains($0.end) ?? true }
        if deleted.isEmpty { return }
        let ends = Set(deleted.map(\.end))
        let unlinked = contexts.flatMap(\.changed).filter { $0.isUpdated && hasLost(linkTo: ends, $0) }
        try compare(
            answered, after: unlinked.map { EditedRow($0, $0.row) },
            before: deleted + unlinked.map { EditedRow($0, $0.savedRow) },
            linked: linkOwners { row, lost in ends.contains(row) || !ends.isDisjoint(with: lost) }.subtracting(ends))
    }

    /// Returns the objects whose links the batch has changed so far, in pair rows or in the rows of other objects.
    ///
    /// - Parameter isCounted: As in ``LinkOwners/owners(of:where:)``. The first argument is the row that stores the link.
    private func linkOwners(
        where isCounted: (_ row: LinkEnd, _ lost: [LinkEnd]) -> Bool
    ) -> Set<LinkEnd> {
        let contexts = batchContexts
        var found: Set<LinkEnd> = []
        func add(_ owners: LinkOwners, _ changes: EntityChanges) {
            let owners = owners.owners(of: changes) { isCounted(LinkEnd(entity: changes.entity, key: $0), $1) }
            found.formUnion(owners.lazy.map(\.object))
        }
        for (entity, objects) in Dictionary(grouping: contexts.lazy.flatMap(\.changed), by: \.layout.index) {
            guard let owners = LinkOwners(entity, stack.layout) else { continue }
            var changes = EntityChanges(entity: entity)
            for object in objects { changes.append(object) }
            add(owners, changes)
        }
        for changes in contexts.lazy.flatMap(\.bulkChanges) {
            if let owners = LinkOwners(changes.entity, stack.layout) { add(owners, changes) }
        }
        return found
    }

    /// Whether an edit of an object has removed its link to any of the ends.
    private func hasLost(linkTo ends: Set<LinkEnd>, _ object: ManagedObject) -> Bool {
        object.layout.relationships.contains { relationship in
            guard let end = object.savedRow.end(of: relationship) else { return false }
            return ends.contains(end) && object.row.end(of: relationship) != end
        }
    }

    /// The rows that the batch has deleted in this context.
    private var deletedRows: [EditedRow] {
        changed.filter { $0.state == .deleted }.map { EditedRow($0, $0.savedRow) }
            + bulkChanges.flatMap { rows in
                rows.deleted.map { EditedRow(layout: stack.layout.entities[rows.entity], key: $0.key, row: $0.row) }
            }
    }

    /// - Parameters:
    ///   - after: The inserted and the edited rows.
    ///   - before: The rows that were edited or deleted, before the edits.
    ///   - linked: The objects whose links were changed.
    private func compare(
        _ request: AnsweredRequest, after: [EditedRow], before: [EditedRow], linked: @autoclosure () -> Set<LinkEnd>
    ) throws {
        let all = stack.root.requests.saved(since: request)
        let saved = all.filter { $0.list != nil }
        if request.number == nil || saved.isEmpty && stack.root.store.sharing == nil { return }
        let linked = linked()
        let entities = Set((after + before).lazy.map(\.layout.index)).union(linked.lazy.map(\.entity))
        if entities.isEmpty { return }
        // The feed of another member has only the rows that the member has changed. It is unknown which unchanged objects its
        // list has, so compare with the predicate of the list.
        let root = stack.root
        let scopes = try root.requests.laterScopesOfOthers(than: request, of: Array(entities), in: root) ?? []
        if saved.isEmpty && scopes.isEmpty { return }
        // `storedObjects` leaves out inserted objects, because `after` already has their rows.
        let objects = try storedObjects(linked)
        var check = ListCheck(
            after + objects.map { EditedRow($0, $0.row, hasOnlyLinks: true) },
            before + objects.map { EditedRow($0, $0.savedRow) },
            keepsMembership: !request.canRequestAgain
        ) { [self] in
            try keys(of: $0, matching: $1)
        }
        defer { stack.root.requests.didCompare(check.comparisonCount) }
        let deletions = request.canRequestAgain ? [] : all.filter(\.rows.hasDeletionsByHooks)
        for one in saved {
            guard let list = one.list else { continue }
            let changesList =
                try list.isConfirmed
                ? check.changes(list)
                : check.adds(to: list, of: one, unlessIn: deletions.filter { $0.isOfSameRequest(as: one) })
            if changesList { throw DataSourceError(tooLate: request) }
        }
        for scope in scopes {
            guard let list = CompleteList(scope, in: stack.layout) else { continue }
            if try check.changes(list) { throw DataSourceError(tooLate: request) }
        }
    }

    /// Returns the objects at the given ends that were stored before the batch, and that the batch has not deleted.
    private func storedObjects(_ ends: Set<LinkEnd>) throws -> [ManagedObject] {
        if ends.isEmpty { return [] }
        try reading { () throws(DataSourceError) in try readObjects(ends) }
        return ends.compactMap { registeredObject($0) }.filter { !$0.isInserted }
    }

    /// Returns the objects that match the predicate of a list after the edits.
    private func keys(of rows: [EditedRow], matching list: CompleteList) throws -> Set<LinkEnd> {
        if rows.isEmpty { return [] }
        var plan = FetchPlan(list.query)
        plan.family = list.family
        plan.query.budget = QueryBudget(isCancellable: isCancellable)
        let keys = ValueList(rows.map { .integer($0.key) }, .natural)
        plan.query.predicate = .and([list.query.predicate, .isMember(.key, keys)])
        let found = try reading { () throws(DataSourceError) in try unsortedObjects(plan) }
        return Set(found.lazy.map { LinkEnd($0) }).intersection(rows.lazy.map(\.end))
    }

    /// Refuses a list if it lacks an object that another answer of this container has brought into scope since the request.
    /// It is unknown which of the two answers is newer. If the list is newer, the object must be deleted. If the other answer
    /// is newer, the object must stay.
    ///
    /// - Parameter objects: The objects that came into scope during the request, and are not in the list.
    /// - Throws: `scopeChanged`
    func checkSpared(_ objects: [ManagedObject]) throws(DataSourceError) {
        guard let answered, !objects.isEmpty else { return }
        let saved = saved(since: answered, replacedBy: { AnswerRows(changed: Set(objects.lazy.map { LinkEnd($0) })) })
        if saved.contains(where: \.origin.isAnswer) { throw DataSourceError(tooLate: answered) }
    }
}

/// Answers that cannot be stored.
extension PrivateContext {
    /// Throws `scopeChanged` if the batch stores an answer, and if another answer that was stored since the request may have caused
    /// the error. For example, a delete rule refuses a deletion by an older list, an older list leads to too many deletions, a hook
    /// does not find an object that was deleted meanwhile, or an older object has a unique value of a newer one. The load then
    /// makes its request again. If the error occurs again, the last request throws the error.
    ///
    /// It is unknown which rows the answer would have changed. So another answer counts if it has any object that the batch may
    /// change, or to which the batch may link.
    ///
    /// - Parameter error: The error of the work, or of the rules for the edits of the work. The edits of the batch are already
    ///   discarded.
    func checkIsNotTooLate(after error: any Error) throws(DataSourceError) {
        guard let answered, answered.canRequestAgain, answered.number != nil, !(error is CancellationError) else {
            return
        }
        let final: [DataSourceError.Code] = [.cancelled, .scopeChanged, .storeClosed, .storeReadOnly, .storeReset]
        if let error = error as? DataSourceError, final.contains(error.code) { return }
        let entities = usedEntities
        for one in stack.root.requests.saved(since: answered) where one.origin != .save {
            let isListed = one.list.map { !entities.isDisjoint(with: $0.family) } ?? false
            if isListed || one.rows.mayHaveRows(of: entities, stack.layout) { throw DataSourceError(tooLate: answered) }
        }
        // The feed of another member has no entry for the answer `.notModified`, so look at the scopes, too. If the scopes cannot
        // be read, throw the first error.
        let root = stack.root
        let scopes = try? root.requests.laterScopesOfOthers(than: answered, of: Array(entities), in: root)
        if scopes?.isEmpty == false { throw DataSourceError(tooLate: answered) }
    }

    /// The entities that the batch may use: entities of objects that the batch may change, entities to which these objects
    /// may link, and entities of links.
    private var usedEntities: Set<Int> {
        let owned = batchContexts.flatMap { $0.bindings.filter(\.isOwned).map(\.layout) }
        let indexes = Set(owned.map(\.index))
        return owned.reduce(into: indexes.union(stack.graph.reach(of: indexes))) { entities, layout in
            for relationship in layout.relationships {
                entities.formUnion(relationship.destinationFamily)
                if case .pairs(let pairs) = relationship.storage { entities.insert(pairs.layout) }
            }
        }
    }
}

extension PrivateTier {
    /// Runs the work, and saves its edits as the answer to a request. If the save fails, no other answer is refused
    /// because of this answer.
    ///
    /// - Parameter answer: The number of the answer, which differs from the numbers of all other answers.
    /// - Throws: `scopeChanged` if the save would replace another answer; the errors of the work and of a save.
    nonisolated func store<Result: Sendable>(
        _ request: AnsweredRequest, as answer: Int64 = ScopeChange.newNumber(), values: Int = 1, deletes: Bool = true,
        kind: HistoryKind = .incoming, _ work: @Sendable (PrivateContext) throws -> Result
    ) async throws -> SavedWork<Result> {
        let requests = stack.root.requests
        var request = request
        request.answer = answer
        if requests.hasOthers(than: request) { request.usedLinks = [] }
        requests.beginStoring(answer)
        defer { requests.endStoring() }
        do {
            return try await perform(waitFor: .store, values: values, deletes: deletes, kind: kind) { [request] in
                $0.answered = request
                let result = try work($0)
                $0.answered?.isWorkDone = true
                return result
            }
        } catch {
            requests.forget(request.answer, after: error)
            throw error
        }
    }
}

extension EntityChanges {
    /// Adds the edits of an object.
    fileprivate mutating func append(_ object: ManagedObject) {
        switch object.state {
        case .inserted: inserted.append(StoredRow(key: object.key, row: object.row))
        case .edited:
            guard let saved = object.saved else { return }
            let columns = object.row.columnsChanged(since: saved, object.layout)
            if columns.isEmpty { return }
            updated.append(UpdatedRow(key: object.key, row: object.row, previous: saved, columns: columns))
        case .deleted: deleted.append(StoredRow(key: object.key, row: object.savedRow))
        case .saved, .gone: return
        }
    }
}

extension DataSourceError {
    fileprivate init(tooLate request: AnsweredRequest) {
        let subject = request.scope.isEmpty ? "an object" : "the scope \"\(request.scope)\""
        self.init(
            .scopeChanged,
            "The answer for \(subject) contradicts another answer that was stored since the request, and may be older. Request it again."
        )
    }
}
