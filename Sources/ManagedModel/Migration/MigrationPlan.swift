/// How the rows of a store that was made for one model become those of another, or why they cannot.
///
/// What is possible is what Core Data calls a lightweight migration: entities and properties come, go and are renamed (by
/// renaming identifiers), attributes become optional or get a default value, to-one relationships become to-many, and
/// properties and entities move within hierarchies. Beyond that, numbers get a wider type: see ``NumberWidening``.
///
/// It is pure: what depends on the rows is a ``conditions`` to be asked of the store.
package struct MigrationPlan: Sendable, Equatable {
    /// The entities with rows that are carried over, by their new names, sorted.
    package internal(set) var entities: [EntityMigration] = []
    /// Concrete entities of the old model whose rows go, sorted.
    package internal(set) var removedEntities: [String] = []
    /// Where the links of each relationship of the new model come from: several where relationships moved up into one. A
    /// to-many relationship whose inverse is to-one is kept with the inverse.
    package internal(set) var links: [RelationshipName: [LinkSource]] = [:]
    /// Why it is not possible, each a sentence that says what to do; empty if it is.
    package internal(set) var obstacles: [String] = []
    /// What must be true of the rows for it to be possible.
    package internal(set) var conditions: [MigrationCondition] = []
    /// What changes, in words, such as `ContactEntity.phone: renamed from mobile`; by entity, then property. Empty when the
    /// models' hashes are equal, and only then.
    package internal(set) var changes: [ModelDifference.Change] = []
    /// What of the old rows is not carried over, if the migration is possible.
    package internal(set) var losses: [MigrationLoss] = []

    package var isPossible: Bool { obstacles.isEmpty }

    /// - Parameters:
    ///   - old: The model that the rows were stored for.
    ///   - oldFormat: The format of the store that has them, which decides about their columns.
    ///   - isDropped: Whether the rows of an entity, given by its old and new names, go anyway.
    /// - Complexity: about that of laying out both models.
    package init(
        from old: ManagedObjectModel, to new: ManagedObjectModel, oldFormat: Int64 = ManagedObjectModel.storeFormat,
        isDropped: (_ old: String, _ new: String) -> Bool = { _, _ in false }
    ) {
        var planner = MigrationPlanner(old, new, oldFormat)
        planner.planEntities(isDropped)
        planner.checkHierarchies()
        planner.planAttributes()
        planner.planLinks()
        planner.planConstraints()
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
    /// Where the attributes of a row come from, by their positions among the new entity's columns; of stored ones only.
    package internal(set) var attributes: [Int: AttributeSource] = [:]
}

/// Where the value of an attribute comes from.
package enum AttributeSource: Sendable, Equatable {
    /// The old row's column of that position.
    case column(Int)
    /// The same, and the default value where that is nil.
    case columnOrDefault(Int)
    /// The numbers of the old row's column of that position, as those of a wider type.
    case widened(Int, NumberWidening)
    /// The same, and the default value where that is nil.
    case widenedOrDefault(Int, NumberWidening)
    case defaultValue
    case nothing
    /// From an attribute of the new row, by its position, or the time of the migration.
    case copy(Int)
    case changed(Int, TextChange)
    case now
}

/// A relationship where it is declared.
package struct RelationshipName: Sendable, Hashable {
    package let entity: String
    package let name: String

    package init(entity: String, name: String) {
        self.entity = entity
        self.name = name
    }
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

/// Something that the model alone does not say.
package struct MigrationCondition: Sendable, Equatable {
    package enum Kind: Sendable, Equatable {
        /// The old entity has no rows.
        case isEmpty(String)
        /// No row of the old entity lacks a value in the column of that position.
        case hasValues(String, Int)
        /// No object would have two destinations by this to-one relationship of the new model.
        case isSingle(RelationshipName)
        /// No two objects would have the same destination by this one-to-one relationship of the new model.
        case isExclusive(RelationshipName)
        /// No two rows of these new entities agree in the columns of those positions.
        case isUnique([String: [Int]])
        /// Every number of a column is exact in a wider type.
        case isExact(ExactColumn)
    }

    package let kind: Kind
    /// What is wrong where it is not so, and what to do.
    package let complaint: String
    /// Whether it holds for every row that this library wrote, so that only another program's rows have to be asked.
    package internal(set) var isExpected = false
}
