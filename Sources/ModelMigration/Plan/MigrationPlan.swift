package import ManagedModel

/// How the rows of a store that was made for one model become rows of another model, or why they cannot.
///
/// It allows what Core Data calls a lightweight migration: entities and properties are added, removed and renamed (by renaming
/// identifiers), attributes become optional or get a default value, to-one relationships become to-many, and properties and
/// entities move within hierarchies. In addition, numbers get a wider type: see ``NumberWidening``.
///
/// It is pure: what depends on the rows is in ``conditions``, which the store must check.
package struct MigrationPlan: Sendable, Equatable {
    /// The entities with rows that are carried over, by their new names, sorted.
    package internal(set) var entities: [EntityMigration] = []
    /// Concrete entities of the old model whose rows are dropped, sorted.
    package internal(set) var removedEntities: [String] = []
    /// The sources of the links of each relationship of the new model: several if relationships moved up into one. A to-many
    /// relationship whose inverse is to-one is listed under the inverse.
    package internal(set) var links: [RelationshipName: [LinkSource]] = [:]
    /// Why the migration is not possible, each a sentence that says what to do; empty if it is possible.
    package internal(set) var obstacles: [String] = []
    /// What must be true of the rows for the migration to be possible.
    package internal(set) var conditions: [MigrationCondition] = []
    /// What changes, in words, such as `ContactEntity.phone: renamed from mobile`; by entity, then property. It is empty if and
    /// only if the models' hashes are equal.
    package internal(set) var changes: [ModelDifference.Change] = []
    /// The parts of the old rows that are not carried over, if the migration is possible.
    package internal(set) var losses: [MigrationLoss] = []

    package var isPossible: Bool { obstacles.isEmpty }

    /// - Parameters:
    ///   - old: The model of the stored rows.
    ///   - oldFormat: The format of the store, which determines their columns.
    ///   - keepsNames: Whether an element is what it was called, as for a part of a store that has not changed. Renaming
    ///     identifiers and earlier versions then mean nothing, and nothing new is demanded of rows that stay.
    ///   - isDropped: Whether the rows of an entity, given by its old and new names, are dropped anyway.
    /// - Complexity: about that of laying out both models.
    package init(
        from old: ManagedObjectModel, to new: ManagedObjectModel, oldFormat: Int64 = ManagedObjectModel.storeFormat,
        keepsNames: Bool = false,
        isDropped: (_ old: String, _ new: String) -> Bool = { _, _ in false }
    ) {
        var planner = MigrationPlanner(old, keepsNames ? new.withoutRenamingIdentifiers : new, oldFormat)
        planner.planEntities(isDropped)
        planner.checkHierarchies()
        planner.planAttributes()
        planner.planLinks()
        if !keepsNames {
            planner.planConstraints()
            planner.planCounts()
        }
        planner.planLosses()
        planner.describe()
        self = planner.plan
    }

    /// Nothing is carried over.
    init() {}
}

/// How the rows of one entity become those of another.
package struct EntityMigration: Sendable, Equatable {
    package let oldName: String
    package let newName: String
    /// The sources of a row's attributes, by their positions among the new entity's columns; of stored ones only.
    package internal(set) var attributes: [Int: AttributeSource] = [:]
}

/// Where the value of an attribute comes from.
package enum AttributeSource: Sendable, Equatable {
    /// The old row's column at that position.
    case column(Int)
    /// The same, or the default value if that is nil.
    case columnOrDefault(Int)
    /// The numbers of the old row's column at that position, converted to a wider type.
    case widened(Int, NumberWidening)
    /// The same, or the default value if that is nil.
    case widenedOrDefault(Int, NumberWidening)
    case defaultValue
    case nothing
    /// Derived from an attribute of the new row, by its position, or from the time of the migration.
    case copy(Int)
    case changed(Int, TextChange)
    case now
}

/// The links of a relationship of the old model.
package struct LinkSource: Sendable, Hashable {
    package let relationship: RelationshipName
    /// Whether its sources are the new one's destinations.
    package let isReversed: Bool

    package init(relationship: RelationshipName, isReversed: Bool) {
        self.relationship = relationship
        self.isReversed = isReversed
    }
}

/// A condition that the models alone cannot decide.
package struct MigrationCondition: Sendable, Equatable {
    package enum Kind: Sendable, Equatable {
        /// The old entity has no rows.
        case isEmpty(String)
        /// No row of the old entity lacks a value in the column at that position.
        case hasValues(String, Int)
        /// No object would have two destinations by this to-one relationship of the new model.
        case isSingle(RelationshipName)
        /// No two objects would have the same destination by this one-to-one relationship of the new model.
        case isExclusive(RelationshipName)
        /// Each object has as many destinations by this relationship of the new model as it allows.
        case hasCount(RelationshipName, LinkBounds)
        /// No two rows of these new entities have the same values in the columns at those positions.
        case isUnique([String: [Int]])
        /// Every number of a column is exact in a wider type.
        case isExact(ExactColumn)
    }

    package let kind: Kind
    /// The error if the condition does not hold, and what to do.
    package let complaint: String
    /// Whether it holds for every row that this library wrote, so that only rows of other programs must be checked.
    package internal(set) var isExpected = false
    /// Whether the migration is not possible if it does not hold. Otherwise the objects stay as they are, and the report says so.
    package internal(set) var isBinding = true
}
