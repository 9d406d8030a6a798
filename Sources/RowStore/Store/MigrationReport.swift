/// What a migration did.
public struct MigrationReport: Sendable, Hashable {
    /// How many objects the store has kept.
    public var rowsCarried: Int
    /// The changes of the model: what is new, gone, renamed or changed, each in words: `ContactEntity.phone: renamed from
    /// mobile`.
    public var changes: [String]
    /// The entities that the model no longer has, sorted. Their objects are gone.
    public var removedEntities: [String]
    /// What the objects have lost, each in words: `Item.price: the values (Decimal, optional)`.
    public var losses: [String]
    /// What the model demands of to-many relationships now and some objects do not have, each a sentence. They were carried over as
    /// they are: a save of such an object throws `validationFailed` only if it changes that relationship.
    public var unmetRequirements: [String]

    /// Makes a report, for example to compare with in a test.
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

/// The progress of a migration. If the migration does not finish, all of it is taken back.
public struct MigrationProgress: Sendable, Hashable {
    /// How many objects have been carried over.
    public var completedRowCount: Int
    /// How many objects there are in total.
    public var totalRowCount: Int
    /// The entity whose objects are being carried over, by its new name; nil at the end.
    public var entityName: String?

    /// Makes a progress, for example to compare with in a test.
    public init(completedRowCount: Int, totalRowCount: Int, entityName: String? = nil) {
        self.completedRowCount = completedRowCount
        self.totalRowCount = totalRowCount
        self.entityName = entityName
    }
}

/// Whether the rows of a store can be carried over to another model.
package enum MigrationForecast: Sendable, Equatable {
    case possible(MigrationReport)
    /// Why not, in whole sentences.
    case impossible(String)
}
