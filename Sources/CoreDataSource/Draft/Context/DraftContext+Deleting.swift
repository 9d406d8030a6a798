internal import RowStore

/// Applies the delete rules of the model in a draft.
///
/// Deleting an object also deletes the objects that its cascades reach, so that the save can compare all of them with other
/// saves. The save applies all other rules. ``withDeleteRulesApplied(_:)`` applies the other rules for a check.
extension DraftContext {
    func recordDeletion(of object: ManagedObject, wasInserted: Bool) throws(DataSourceError) {
        if object.layout.links != nil { return }
        if isApplyingRules {
            cascaded.insert(LinkEnd(object))
            if stack.graph.hasEffects[object.layout.index] { deletions.append(object) }
            if wasInserted { deletedNewObjects.append(object) }
            return
        }
        cascaded.remove(LinkEnd(object))
        deletedNewObjects = wasInserted ? [object] : []
        defer { deletedNewObjects = [] }
        try cascade(from: object)
        // Unlink after the cascades, because the cascades follow the links.
        for object in deletedNewObjects { unlink(object) }
    }

    private func cascade(from object: ManagedObject) throws(DataSourceError) {
        guard stack.graph.hasEffects[object.layout.index] else { return }
        do {
            try applyRules(to: [object], onlyCascades: true)
        } catch {
            throw unreadable(error)
        }
    }

    /// Applies the delete rules of objects, and of the objects that these rules delete.
    private func applyRules(to objects: [ManagedObject], onlyCascades: Bool = false) throws {
        isApplyingRules = true
        deletions = objects
        defer {
            isApplyingRules = false
            deletions = []
        }
        var rules = DeleteRules([self], onlyCascades: onlyCascades)
        try rules.apply()
    }

    /// Applies all delete rules, as the checks of a save do, runs the body, and then undoes the effects of the rules.
    ///
    /// - Throws: `deletionDenied`, and errors of the body.
    func withDeleteRulesApplied<R>(_ body: () throws -> R) throws -> R {
        try withRulesApplied(to: changed.filter { $0.state == .deleted } + deletedObjectsWithDenyRule, body)
    }

    /// Checks the Deny rules of new objects that were deleted. A save cannot check these rules, because it does not get
    /// the objects.
    ///
    /// - Throws: `deletionDenied` if a rule denies a deletion.
    func checkDenials() throws {
        try withRulesApplied(to: deletedObjectsWithDenyRule) {}
    }

    private func withRulesApplied<R>(to deleted: [ManagedObject], _ body: () throws -> R) throws -> R {
        if deleted.isEmpty { return try body() }
        let known = cascaded
        journal.beginGroup()
        defer {
            rollBack(journal.abandonGroup())
            cascaded = known
        }
        try applyRules(to: deleted)
        return try body()
    }

    /// The new objects that were deleted and have a relationship with the Deny rule.
    private var deletedObjectsWithDenyRule: [ManagedObject] { objectsWithDenyRule.filter { $0.state == .gone } }

    // MARK: Links

    /// Removes the links to a deleted new object, because a saved row must not link to an object that was never saved.
    /// A link that denies the deletion is kept, because the app can still remove it.
    private func unlink(_ object: ManagedObject) {
        let denying = Set(
            object.layout.relationships.filter { $0.description.deleteRule == .deny }.map(\.name))
        if !denying.isEmpty, !objectsWithDenyRule.contains(where: { $0 === object }) {
            objectsWithDenyRule.append(object)
        }
        for other in changed where other !== object && other.hasChanges && !other.isDeleted {
            if other.layout.links == nil {
                unlink(other, from: object, denying)
            } else if isLink(other, of: object, denying) {
                deleteLink(other)
            }
        }
    }

    private func unlink(_ other: ManagedObject, from object: ManagedObject, _ denying: Set<String>) {
        for relationship in other.layout.relationships {
            guard case .column(let column) = relationship.storage,
                other.row.end(column, relationship.destinationFamily) == LinkEnd(object),
                !(relationship.inverse.map { denying.contains($0.name) } ?? false)
            else { continue }
            other.setLink(column, nil)
        }
    }

    /// Whether a link with a row of its own leads to or from the object, and does not deny the deletion.
    private func isLink(_ link: ManagedObject, of object: ManagedObject, _ denying: Set<String>) -> Bool {
        guard let pair = LinkedPair(link, stack.layout) else { return false }
        if pair.source == LinkEnd(object) { return !denying.contains(pair.name) }
        guard pair.destination == LinkEnd(object) else { return false }
        return !(pair.inverseName.map(denying.contains) ?? false)
    }

    /// Deletes the row of a link. This normally throws no error, because the row of a link has no delete rules, and a
    /// new row is not read from the store.
    private func deleteLink(_ link: ManagedObject) {
        do throws(DataSourceError) { try delete(owned: link) } catch { refuse(error) }
    }

    /// Restores the deleted row of a link, including its position. Returns nil if the draft has not deleted such a row, or if
    /// another save has also deleted the row.
    func restoredLink(
        _ first: ManagedObject, _ second: ManagedObject, _ pairs: PairColumns
    ) -> ManagedObject? {
        let (source, destination) = pairs.own.key == 0 ? (first, second) : (second, first)
        let deleted = bindings[pairs.layout].touched.first { link in
            guard link.state == .deleted, newestSavedRows[LinkEnd(link)].map({ $0 != nil }) ?? true,
                let pair = LinkedPair(link, stack.layout)
            else { return false }
            return pair.source == LinkEnd(source) && pair.destination == LinkEnd(destination)
        }
        guard let deleted else { return nil }
        willChange(deleted)
        deleted.replaceState(.edited, deleted.savedRow, saved: deleted.savedRow)
        recordEdits([deleted])
        updateRegistration(deleted, bindings[pairs.layout])
        if hasCachedEnds { forgetEnds(of: [first.key, second.key]) }
        return deleted
    }
}

/// The checks before a save.
extension DraftContext {
    /// Returns an error for each rule that an object breaks.
    func errors(of object: ManagedObject) -> [DataSourceError] {
        precondition(
            object.context === self,
            "An object of another context was passed to errors(of:). Look the object up in the draft by its objectID first."
        )
        guard !object.isDeleted else { return [] }
        willRead(registersObjects: false)
        var failures: [DataSourceError] = []
        do {
            try checkValues(of: object, &failures)
            failures += try relationshipFailures(of: object)
        } catch {
            failures.append(unreadable(error))
        }
        return failures
    }

    /// Throws the errors of all edited objects.
    func validate() throws(DataSourceError) {
        if let refusal = takeRefusal() { throw refusal }
        willRead(registersObjects: false)
        var failures: [DataSourceError] = []
        for object in changed where object.hasChanges && !object.isDeleted {
            try checkValues(of: object, &failures)
            try throwIfErrorLimitReached(failures)
        }
        do {
            failures += try withDeleteRulesApplied { try relationshipFailures() }
        } catch {
            failures.append(unreadable(error))
        }
        try throwFailures(failures)
    }

    private func checkValues(
        of object: ManagedObject, _ failures: inout [DataSourceError]
    ) throws(DataSourceError) {
        checkRules(object.row, bindings[object.layout.index], &failures)
        // If another save has made the same link, this is not a violation: the save keeps only one of the two links.
        guard object.hasChanges, object.layout.links == nil else { return }
        for constraint in object.layout.constraints.indices where try !isUnique(object, constraint) {
            failures.append(notUnique(object, constraint))
        }
    }

    func unreadable(_ error: any Error) -> DataSourceError {
        error as? DataSourceError ?? DataSourceError(.cancelled, "The task was cancelled. Check again.")
    }
}
