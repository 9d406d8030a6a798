/// What one save changes: immutable rows, shared by every tier it passes.
package struct ChangeSet: Sendable {
    /// At most one element an entity, in the order of the model.
    package var entities: [EntityChanges]
    /// The number of the save, counted from 1 in the order in which saves were made; 0 until it has one.
    package var number: Int64 = 0
    /// Which saves this one may rest on: earlier ones of the same origin. Data sources that share a constraint have one
    /// origin, so that a save that is refused takes back every later one of its origin.
    package var origin = 0
    /// Whether it undoes saves that were refused, so that no store has its rows to write.
    package var isTakeBack = false
    /// The leases that it was made under; empty in a store that is not shared.
    package var leases: [LeaseEpoch] = []
    /// Who made it, if it was another container.
    package var maker: StoreMember?

    package init(entities: [EntityChanges]) {
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
package struct EntityChanges: Sendable {
    /// The entity's number in the ``ModelLayout``. It is never an abstract one.
    package let entity: Int
    package var inserted: [StoredRow] = []
    package var updated: [UpdatedRow] = []
    /// Columns in which all updated rows have the same values now, if they differ from before in no others. A store may
    /// write them at once.
    package var sharedColumns: ColumnSet?
    /// With the row as it was.
    package var deleted: [StoredRow] = []

    package init(entity: Int) {
        self.entity = entity
    }

    package var isEmpty: Bool { inserted.isEmpty && updated.isEmpty && deleted.isEmpty }
    package var rowCount: Int { inserted.count + updated.count + deleted.count }
}

/// A row and its key.
package struct StoredRow: Sendable {
    package let key: Int64
    package var row: RowSnapshot
    /// The joined columns of the query that found it; nil without any.
    package var joined: RowSnapshot?

    package init(key: Int64, row: RowSnapshot) {
        self.key = key
        self.row = row
    }
}

/// A row that a save changed, before and after.
package struct UpdatedRow: Sendable {
    package let key: Int64
    package let row: RowSnapshot
    package let previous: RowSnapshot
    /// The columns that differ; never empty.
    package let columns: ColumnSet

    package init(key: Int64, row: RowSnapshot, previous: RowSnapshot, columns: ColumnSet) {
        self.key = key
        self.row = row
        self.previous = previous
        self.columns = columns
    }
}
