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

    /// Makes a report to compare with, as a test does.
    public init(
        rowsCarried: Int, changes: [String] = [], removedEntities: [String] = [], losses: [String] = []
    ) {
        self.rowsCarried = rowsCarried
        self.changes = changes
        self.removedEntities = removedEntities
        self.losses = losses
    }
}

/// How far a migration has come. If it does not reach its end, all of it is taken back.
public struct MigrationProgress: Sendable, Hashable {
    /// How many objects have been carried over.
    public var completedRowCount: Int
    /// How many there are.
    public var totalRowCount: Int
    /// The entity whose objects are being carried over, by its new name; nil at the end.
    public var entityName: String?

    /// Makes a progress, for a test to compare with.
    public init(completedRowCount: Int, totalRowCount: Int, entityName: String? = nil) {
        self.completedRowCount = completedRowCount
        self.totalRowCount = totalRowCount
        self.entityName = entityName
    }
}
