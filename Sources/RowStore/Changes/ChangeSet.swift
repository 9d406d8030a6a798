/// What one save changes: immutable rows, shared by every tier it passes.
package struct ChangeSet: Sendable {
    /// At most one element an entity, in the order of the model.
    package var entities: [EntityChanges]
    /// The number of the save, counted from 1 in the order in which saves were made; 0 until it has one.
    package var number: Int64 = 0

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
