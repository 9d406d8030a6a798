/// The results of a migration.
public struct MigrationReport: Sendable, Hashable {
    /// The number of objects that were carried over to the new model.
    public var rowsCarried: Int
    /// The changes of the model. There is one string for each part that was added, removed, renamed or changed, for example
    /// `ContactEntity.phone: renamed from mobile`.
    public var changes: [String]
    /// The entities that the model no longer has, sorted. All their objects were dropped.
    public var removedEntities: [String]
    /// The values, links and orders of links that the objects have lost. There is one string for each loss, for example `Item.price: the values
    /// (Decimal, optional)`.
    public var losses: [String]
    /// The requirements of the new model that some objects violate, each as a sentence. All of them concern to-many
    /// relationships. The objects are carried over unchanged. A later save of such an object throws `validationFailed` only if
    /// the save changes the relationship.
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
    /// The number of objects that were carried over so far.
    public var completedRowCount: Int
    /// The total number of objects.
    public var totalRowCount: Int
    /// The entity whose objects are being carried over, by its new name; nil at the end of the migration.
    public var entityName: String?

    /// Makes a value, for example to compare with in a test.
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
    /// The reason, in complete sentences.
    case impossible(String)
}
