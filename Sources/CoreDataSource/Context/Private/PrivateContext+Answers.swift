internal import RowStore

/// A complete list of a scope.
struct CompleteList: Sendable {
    /// The objects on the earlier pages.
    let earlier: Set<LinkEnd>
    /// Returns which of the given objects are in scope now.
    let ends: @Sendable (PrivateContext, _ objects: [ManagedObject]) throws -> Set<LinkEnd>
}

/// Answers to overlapping requests.
extension PrivateContext {
    /// Refuses the batch if it stores an answer, and would replace rows of an answer that was stored since its request.
    /// Otherwise, records the rows of the answer, so that no answer to a running request replaces them.
    ///
    /// - Parameter changes: The changes of the whole batch.
    /// - Throws: `scopeChanged`; errors of the store.
    func checkAnswer(savedWith changes: ChangeSet) throws(DataSourceError) {
        guard let answered else { return }
        let (root, layout) = (stack.root, stack.layout)
        let replaced = root.requests.saved(since: answered).filter { $0.rows.areReplaced(by: changes, layout) }
        if !replaced.isEmpty {
            // Another member may edit the rows again and again, so the last try replaces what is no answer.
            let isLastTry = !answered.canRequestAgain && replaced.allSatisfy(\.isOfOtherMember)
            guard isLastTry, try !root.hasLaterRequest(than: answered, changing: changes) else {
                throw DataSourceError(replacing: answered)
            }
        }
        guard root.requests.hasOthers(than: answered) else { return }
        root.requests.record(
            SavedRows(changes, listed: listedObjects.lazy.map { ($0.layout.index, $0.key) }, layout), from: answered)
    }

    /// Refuses an answer that would add objects to a complete list that was stored since its request. Such an object was missing
    /// in that list, so the server may have deleted it.
    ///
    /// - Throws: `scopeChanged`; the errors of a fetch.
    func checkLists(storedSince request: AnsweredRequest) throws {
        let others = stack.root.requests.saved(since: request).filter { $0.list is CompleteList }
        if others.isEmpty { return }
        let changed = changed.filter { $0.isInserted || $0.isUpdated && $0.hasEdits }
        for saved in others {
            guard let list = saved.list as? CompleteList else { continue }
            let ends = try list.ends(self, changed)
            guard ends.allSatisfy({ saved.rows.contains(entity: $0.entity, key: $0.key) || list.earlier.contains($0) })
            else {
                throw DataSourceError(replacing: request)
            }
        }
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
