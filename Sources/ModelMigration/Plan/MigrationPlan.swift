package import ManagedModel

/// A plan that turns the rows of a store for an old model into rows for a new model, or the reasons why this is impossible.
///
/// The plan supports the changes of Core Data's lightweight migration: entities and properties are added, removed and renamed
/// (by renaming identifiers), attributes become optional or get a default value, to-one relationships become to-many, and
/// properties and entities move within hierarchies. In addition, numbers can get a wider type: see ``NumberWidening``.
///
/// The plan depends only on the models. The store must check the ``conditions`` on its rows.
package struct MigrationPlan: Sendable, Equatable {
    /// The entities whose rows are carried over, sorted by their new names.
    package internal(set) var entities: [EntityMigration] = []
    /// Concrete entities of the old model whose rows are dropped, sorted.
    package internal(set) var removedEntities: [String] = []
    /// The old relationships that give each relationship of the new model its links: several if relationships of sub-entities
    /// moved up into one. A to-many relationship with a to-one inverse is listed under the inverse.
    package internal(set) var links: [RelationshipName: [LinkSource]] = [:]
    /// The reasons why the migration is impossible, each with advice; empty if it is possible.
    package internal(set) var obstacles: [String] = []
    /// The conditions that the rows must meet.
    package internal(set) var conditions: [MigrationCondition] = []
    /// The changes in words, such as `ContactEntity.phone: renamed from mobile`, sorted by entity, then property. Empty if and
    /// only if the models' hashes are equal.
    package internal(set) var changes: [ModelDifference.Change] = []
    /// The data of old rows that a possible migration does not carry over.
    package internal(set) var losses: [MigrationLoss] = []

    package var isPossible: Bool { obstacles.isEmpty }

    /// - Parameters:
    ///   - old: The model of the stored rows.
    ///   - oldFormat: The format of the store, which determines their columns.
    ///   - keepsNames: Whether elements are matched by name alone, as for a part of a store that has not changed. Renaming
    ///     identifiers and earlier versions are then ignored, and uniqueness and counts of the rows are not checked again.
    ///   - isDropped: Returns whether the rows of an entity, given by its old and new names, are dropped in any case.
    /// - Complexity: About the cost of the layouts of both models.
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

    /// A plan that carries over nothing.
    init() {}
}

/// The migration of the rows of one entity.
package struct EntityMigration: Sendable, Equatable {
    package let oldName: String
    package let newName: String
    /// The sources of a row's stored attributes, by their positions in the new entity's columns.
    package internal(set) var attributes: [Int: AttributeSource] = [:]
}

/// The source of an attribute's value in a new row.
package enum AttributeSource: Sendable, Equatable {
    /// The old row's column at that position.
    case column(Int)
    /// The old row's column at that position, or the default value in place of nil.
    case columnOrDefault(Int)
    /// The number in the old row's column at that position, converted to a wider type.
    case widened(Int, NumberWidening)
    /// The number in the old row's column at that position, converted to a wider type, or the default value in place of nil.
    case widenedOrDefault(Int, NumberWidening)
    case defaultValue
    case nothing
    /// Derived: a copy of the new row's attribute at that position.
    case copy(Int)
    /// Derived: the transformed string of the new row's attribute at that position.
    case changed(Int, StringTransformation)
    /// Derived: the time of the migration.
    case now
}

/// The links of a relationship of the old model.
package struct LinkSource: Sendable, Hashable {
    package let relationship: RelationshipName
    /// Whether the sources of its links become destinations of the new relationship.
    package let isReversed: Bool

    package init(relationship: RelationshipName, isReversed: Bool) {
        self.relationship = relationship
        self.isReversed = isReversed
    }
}

/// A condition on the rows of a store. The models alone cannot decide whether the rows meet it.
package struct MigrationCondition: Sendable, Equatable {
    package enum Kind: Sendable, Equatable {
        /// The old entity has no rows.
        case isEmpty(String)
        /// No row of the old entity lacks a value in the column at that position.
        case hasValues(String, Int)
        /// No object would have two destinations in this to-one relationship of the new model.
        case isSingle(RelationshipName)
        /// No two objects would have the same destination in this one-to-one relationship of the new model.
        case isExclusive(RelationshipName)
        /// Each object's number of destinations in this relationship of the new model is within the bounds.
        case hasCount(RelationshipName, LinkBounds)
        /// No two rows of these new entities have the same values in the columns at those positions.
        case isUnique([String: [Int]])
        /// Every number of a column can be represented exactly in a wider type.
        case isExact(ExactColumn)
    }

    package let kind: Kind
    /// The error message if the rows do not meet the condition, with advice.
    package let problem: String
    /// Whether every row that this library wrote meets the condition, so that only rows of other programs can violate it.
    package internal(set) var isExpected = false
    /// Whether rows that do not meet the condition make the migration impossible. If not, the objects are carried over as they
    /// are, and the report lists them.
    package internal(set) var preventsMigration = true
}
