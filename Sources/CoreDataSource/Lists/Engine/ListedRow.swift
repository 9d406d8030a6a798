package import RowStore

/// One row of a list. A list of an entity shows its sub-entities' rows too, so each says of which it is.
package struct ListedRow: Sendable {
    package let entity: Int
    package let stored: StoredRow
    /// The value of the row's section, if that is computed: it is found once, by ``ListOrder/listed(_:_:)``.
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
