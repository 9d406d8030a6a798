package import ManagedModel

/// A plan for turning the rows of an old model into rows of a new model. If this is impossible, the plan has the reasons.
///
/// The plan supports the changes of Core Data's lightweight migration:
///
/// - Entities and properties are added, removed, or renamed by renaming identifiers.
/// - Attributes become optional or get a default value.
/// - To-one relationships become to-many.
/// - Properties and entities move within hierarchies.
///
/// In addition, numbers can get a wider type; see ``NumberWidening``.
///
/// The plan depends only on the models. The store must check the ``conditions`` on its rows.
package struct MigrationPlan: Sendable, Equatable {
    /// The entities whose rows are carried over, sorted by their new names.
    package internal(set) var entities: [EntityMigration] = []
    /// The concrete entities of the old model whose rows are dropped, sorted.
    package internal(set) var removedEntities: [String] = []
    /// The old relationships that contribute links to each relationship of the new model. A new relationship has
    /// several old relationships if relationships of sub-entities became one relationship of their parent entity. A
    /// to-many relationship with a to-one inverse is listed under its inverse.
    package internal(set) var links: [RelationshipName: [LinkSource]] = [:]
    /// The reasons why the migration is impossible, each with advice; empty if the migration is possible.
    package internal(set) var obstacles: [String] = []
    /// The conditions that the rows must meet.
    package internal(set) var conditions: [MigrationCondition] = []
    /// The changes in words, such as `ContactEntity.phone: renamed from mobile`, sorted by entity and then by property. Empty
    /// if and only if the hashes of the models are equal.
    package internal(set) var changes: [ModelDifference.Change] = []
    /// The data of old rows that the migration does not carry over, even if the migration is possible.
    package internal(set) var losses: [MigrationLoss] = []

    package var isPossible: Bool { obstacles.isEmpty }

    /// - Parameters:
    ///   - old: The model of the stored rows.
    ///   - oldFormat: The format of the store, which determines the columns of the stored rows.
    ///   - keepsNames: Whether to match elements only by name, for a part of a store that has not changed. If true, renaming
    ///     identifiers and earlier versions are ignored, and uniqueness and counts are not checked again.
    ///   - initialValue: Returns how a migration can use the initial value of an attribute, given by the name of its new entity
    ///     and the index of its column. Returns nil if this is unknown or if there is no such value; the model decides then.
    ///   - isDropped: Returns whether to drop the rows of an entity, even if they could be carried over. The entity is given by
    ///     its old name and its new name.
    /// - Complexity: About the cost of the layouts of both models.
    package init(
        from old: ManagedObjectModel, to new: ManagedObjectModel, oldFormat: Int64 = ManagedObjectModel.storeFormat,
        keepsNames: Bool = false,
        initialValue: @escaping (_ entity: String, _ column: Int) -> InitialValue? = { _, _ in nil },
        isDropped: (_ old: String, _ new: String) -> Bool = { _, _ in false }
    ) {
        var planner = MigrationPlanner(old, keepsNames ? new.withoutRenamingIdentifiers : new, oldFormat)
        planner.initialValue = initialValue
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

    /// Makes an empty plan.
    init() {}
}

/// The migration of the rows of one entity.
package struct EntityMigration: Sendable, Equatable {
    package let oldName: String
    package let newName: String
    /// The sources of the stored attributes. The keys are the indexes of the attributes in the new entity's columns.
    package internal(set) var attributes: [Int: AttributeSource] = [:]
}

/// How a migration can use an initial value that a class evaluates for each new object. Such a value is not part of the model.
package enum InitialValue: Sendable, Hashable {
    /// All existing objects can have the value of one evaluation.
    case shared
    /// Each evaluation returns another value, such as `UUID()`. The existing objects must not all have the same value.
    case distinct
}

/// The source of an attribute's value in a new row. The associated integers are indexes of columns.
package enum AttributeSource: Sendable, Equatable {
    /// The value of a column in the old row.
    case column(Int)
    /// The value of a column in the old row. If the value is nil, the default value or the initial value.
    case columnOrDefault(Int)
    /// The number in a column of the old row, converted to a wider type.
    case widened(Int, NumberWidening)
    /// The number in a column of the old row, converted to a wider type. If the number is nil, the default value.
    case widenedOrDefault(Int, NumberWidening)
    /// The default value of the model; if there is none, the initial value of the class.
    case defaultValue
    /// The default value of a new part of an optional composite; if there is none, the initial value of the part. Nil if the
    /// composite of the old row is nil.
    ///
    /// - `columns`: The columns of the composite in the old row.
    case defaultOfPart(AttributeDescription, columns: [Int])
    case nothing
    /// A derived attribute: a copy of another attribute of the new row.
    case copy(Int)
    /// A derived attribute: the transformed string of another attribute of the new row.
    case transformed(Int, StringTransformation)
    /// A derived attribute: the time of the migration.
    case now
}

/// The links of a relationship of the old model.
package struct LinkSource: Sendable, Hashable {
    package let relationship: RelationshipName
    /// Whether the links are reversed, so that their sources become the destinations of the new relationship.
    package let isReversed: Bool

    package init(relationship: RelationshipName, isReversed: Bool) {
        self.relationship = relationship
        self.isReversed = isReversed
    }
}

/// A condition on the rows of a store. The models alone do not show whether the rows meet the condition.
package struct MigrationCondition: Sendable, Equatable {
    package enum Kind: Sendable, Equatable {
        /// The old entity has no rows.
        case isEmpty(String)
        /// Every row of the old entity has a value in the column with this index.
        case hasValues(String, Int)
        /// No object would have two destinations in this to-one relationship of the new model.
        case hasAtMostOneDestination(RelationshipName)
        /// No two objects would have the same destination in this one-to-one relationship of the new model.
        case hasDistinctDestinations(RelationshipName)
        /// The number of each object's destinations in this relationship of the new model is within the bounds.
        case hasCount(RelationshipName, LinkBounds)
        /// No two rows of these new entities have the same values in the columns with these indexes.
        case isUnique([String: [Int]])
        /// Every number in a column can be represented exactly in a wider type.
        case isExact(ExactColumn)
    }

    package let kind: Kind
    /// The error message if the condition is violated, with advice.
    package let problem: String
    /// Whether all rows that this library wrote meet the condition. If so, only rows of other programs can violate the
    /// condition.
    package internal(set) var isExpected = false
    /// Whether a violation makes the migration impossible. If false, the objects are carried over unchanged, and the
    /// report states the problem.
    package internal(set) var preventsMigration = true
}
