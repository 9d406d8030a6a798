/// What one save changes: rows before and after, by entity.
///
/// Rows are immutable and shared, so a change set may be kept and copied at no cost.
public struct ChangeSet: Sendable {
    /// At most one element an entity, in the order of the model.
    public var entities: [EntityChanges]
    /// The number of the save in its container, counted from 1 in the order in which saves were made; 0 until it has one.
    public var number: Int64 = 0
    /// Which saves this one may rest on: earlier ones of the same origin. Data sources that share a constraint have one
    /// origin. A store that refuses a save refuses every later one of its origin with `saveTakenBack`.
    public var origin = 0
    /// Whether it undoes saves that were refused, so that no store has its rows to write.
    package var isTakeBack = false
    /// The leases that it was made under; empty in a store that is not shared. A shared store refuses it with `leaseLost` if
    /// one of them is not in force any more.
    public var leases: [LeaseEpoch] = []
    /// Who made it, if it was another container of a shared store.
    public var maker: StoreMember?

    /// What may be written of it already.
    package var headStart: HeadStart?

    /// Makes a change set, as the feed of a shared store does.
    public init(entities: [EntityChanges]) {
        self.entities = entities
    }

    package var isEmpty: Bool { entities.isEmpty }

    /// The highest key among the inserted rows; 0 if there is none.
    package var highestInsertedKey: Int64 {
        entities.reduce(0) { highest, changes in
            changes.inserted.reduce(highest) { max($0, $1.key) }
        }
    }

    package var rowCount: Int { entities.reduce(0) { $0 + $1.rowCount } }

    /// How much memory the rows take that it keeps alive, in bytes; an estimate.
    package var byteCount: Int {
        entities.reduce(0) { total, changes in
            var bytes = changes.rowCount * ChangeSet.bytesPerRow
            for row in changes.inserted { bytes += row.row.byteCount }
            for row in changes.updated { bytes += row.row.byteCount + row.previous.byteCount }
            for row in changes.deleted { bytes += row.row.byteCount }
            return total + bytes
        }
    }

    /// What a row costs beside its values: its place in the change set and in the index of pending rows.
    private static let bytesPerRow = 96
}

/// What one save changes in the rows of one entity. A key is in one of the three lists at most.
///
/// Rows may take over and exchange unique values, so take all old rows out before the new ones come.
public struct EntityChanges: Sendable {
    /// The entity's place in ``ModelLayout/entities``. It is never an abstract one.
    public let entity: Int
    /// New rows. Their keys are unused.
    public var inserted: [StoredRow] = []
    /// Rows that have other values now.
    public var updated: [UpdatedRow] = []
    /// Columns in which all updated rows have the same values now, if they differ from before in no others. A store may
    /// write them at once.
    package var sharedColumns: ColumnSet?
    /// Rows that are gone, as they were. Deleting one that the store does not have is no error.
    public var deleted: [StoredRow] = []

    /// Makes one without changes.
    ///
    /// - Parameter entity: The entity's place in ``ModelLayout/entities``.
    public init(entity: Int) {
        self.entity = entity
    }

    /// Whether nothing changes.
    public var isEmpty: Bool { inserted.isEmpty && updated.isEmpty && deleted.isEmpty }
    package var rowCount: Int { inserted.count + updated.count + deleted.count }
}

/// A row and its key.
public struct StoredRow: Sendable {
    /// The key. A container never gives one twice, whatever the entity.
    public let key: Int64
    /// The values.
    public package(set) var row: RowSnapshot
    /// The joined columns of the query that found it; nil without any.
    package var joined: RowSnapshot?

    /// Puts a row and its key together.
    public init(key: Int64, row: RowSnapshot) {
        self.key = key
        self.row = row
    }
}

/// A row that a save changed, before and after.
public struct UpdatedRow: Sendable {
    /// The key.
    public let key: Int64
    /// The values as they are now.
    public let row: RowSnapshot
    /// The values as they were.
    public let previous: RowSnapshot
    /// The columns that differ; never empty. A store that others write too sets these alone.
    public let columns: ColumnSet

    /// Makes an update, as the feed of a shared store does.
    public init(key: Int64, row: RowSnapshot, previous: RowSnapshot, columns: ColumnSet) {
        self.key = key
        self.row = row
        self.previous = previous
        self.columns = columns
    }
}
