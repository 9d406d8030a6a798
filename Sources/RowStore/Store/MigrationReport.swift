/// The results of a migration.
public struct MigrationReport: Sendable, Hashable {
    /// The number of objects that the store has kept.
    public var rowsCarried: Int
    /// The changes of the model, one string for each new, removed, renamed or changed part: `ContactEntity.phone: renamed from
    /// mobile`.
    public var changes: [String]
    /// The entities that the model no longer has, sorted. Their objects are gone.
    public var removedEntities: [String]
    /// What the objects have lost, one string for each loss: `Item.price: the values (Decimal, optional)`.
    public var losses: [String]
    /// Requirements of the new model for to-many relationships that some objects do not meet, each a sentence. The objects are
    /// carried over unchanged. A save of such an object throws `validationFailed` only if the save changes that relationship.
    public var unmetRequirements: [String]

    /// Makes a report, for example to compare with in a test.
    ///
    /// ```swift
    /// let expected = MigrationReport(
    ///     rowsCarried: 12, changes: ["ContactEntity.phone: renamed from mobile"])
    /// ```
    public init(
        rowsCarried: Int, changes: [String] = [], removedEntities: [String] = [], losses: [String] = [],
        unmetRequirements: [String] = []
    ) {
        self.rowsCarried = rowsCarried
        self.changes = changes
        self.removedEntities = removedEntities
        self.losses = losses
        self.unmetRequirements = unmetRequirements
    }
}

/// The progress of a migration. If the migration does not finish, the store rolls it back.
public struct MigrationProgress: Sendable, Hashable {
    /// The number of objects that have been carried over.
    public var completedRowCount: Int
    /// The total number of objects.
    public var totalRowCount: Int
    /// The entity whose objects are being carried over, by its new name; nil at the end.
    public var entityName: String?

    /// Makes a progress, for example to compare with in a test.
    ///
    /// ```swift
    /// let end = MigrationProgress(completedRowCount: 12, totalRowCount: 12)
    /// ```
    public init(completedRowCount: Int, totalRowCount: Int, entityName: String? = nil) {
        self.completedRowCount = completedRowCount
        self.totalRowCount = totalRowCount
        self.entityName = entityName
    }
}

/// Whether the rows of a store can be carried over to another model.
package enum MigrationForecast: Sendable, Equatable {
    case possible(MigrationReport)
    /// The reason, in whole sentences.
    case impossible(String)
}
