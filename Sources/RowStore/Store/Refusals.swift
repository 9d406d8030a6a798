/// The change sets of a group that a store refuses, while it writes the others.
package struct Refusals: Sendable {
    /// By the places in the group.
    package private(set) var errors: [Int: DataSourceError] = [:]
    private var origins: [Int: DataSourceError] = [:]

    package init() {}

    /// Refuses a change set because of an error of its own.
    package mutating func refuse(_ set: ChangeSet, at place: Int, _ error: DataSourceError) {
        errors[place] = error
        if origins[set.origin] == nil { origins[set.origin] = error }
    }

    /// Refuses a change set if an earlier one with the same origin was refused.
    ///
    /// - Returns: Whether it is refused.
    package mutating func refusesDependent(_ set: ChangeSet, at place: Int) -> Bool {
        guard let cause = origins[set.origin] else { return false }
        errors[place] = DataSourceError(takenBackAfter: cause)
        return true
    }
}

extension DataSourceError {
    /// Whether the error concerns one change set, so that others can be written without it.
    package var isOfOneSave: Bool {
        switch code {
        case .uniquenessViolated, .valueTooLarge, .objectGone, .abstractEntity, .validationFailed, .leaseLost: true
        default: false
        }
    }

    /// The error for a save that may depend on one that could not be written.
    package init(takenBackAfter cause: DataSourceError) {
        self.init(
            .saveTakenBack,
            "An earlier save that this one may depend on could not be written, so this one was taken back too. Save both again.",
            entityName: cause.entityName, cause: cause.description)
    }

    /// The error for an update of a row that another program has deleted.
    package init(updateOfMissingRowOf entity: String?) {
        self.init(
            .objectGone,
            "An object of \(entity ?? "an entity") was changed that is no longer in the store: another program has deleted it, or a server "
                + "has lost it. Insert a new object.",
            entityName: entity)
    }
}
