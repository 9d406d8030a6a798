internal import RowStore

/// What a save of a draft would refuse, as far as that can be known before.
extension DraftContext {
    /// What is wrong with one object.
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
            try throwIfMany(failures)
        }
        do {
            failures += try afterRules { try relationshipFailures() }
        } catch {
            failures.append(unreadable(error))
        }
        try throwFailures(failures)
    }

    private func checkValues(
        of object: ManagedObject, _ failures: inout [DataSourceError]
    ) throws(DataSourceError) {
        checkRules(object.row, bindings[object.layout.index], &failures)
        // A link that others have made, too, is there once after the save.
        guard object.hasChanges, object.layout.links == nil else { return }
        for constraint in object.layout.constraints.indices where try !isUnique(object, constraint) {
            failures.append(notUnique(object, constraint))
        }
    }

    func unreadable(_ error: any Error) -> DataSourceError {
        error as? DataSourceError ?? DataSourceError(.cancelled, "The task was cancelled. Check again.")
    }
}
