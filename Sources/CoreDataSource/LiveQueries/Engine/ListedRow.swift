package import RowStore

/// One row of a list. The list of an entity also shows rows of sub-entities, so each row has its entity.
package struct ListedRow: Sendable {
    package let entity: Int
    package let stored: StoredRow
    /// The value of the row's section, if it is computed: evaluated once, by ``ListOrder/listed(_:_:)``.
    let section: SectionValue?

    package init(entity: Int, key: Int64, row: RowSnapshot) {
        self.init(entity: entity, stored: StoredRow(key: key, row: row))
    }

    init(entity: Int, stored: StoredRow, section: SectionValue? = nil) {
        self.entity = entity
        self.stored = stored
        self.section = section
    }

    package var key: Int64 { stored.key }
    package var row: RowSnapshot { stored.row }
}
