package import RowStore

/// The query of a list, with its order and sections.
package struct ListQuery: Sendable {
    package let entity: Int
    /// The concrete entities whose rows are shown: the entity unless it is abstract, and its sub-entities if they are included.
    package let family: [Int]
    package let predicate: RowPredicate
    /// The joined columns of the rows.
    package let joined: [JoinedColumn]
    /// The columns of related rows on which the list depends.
    let relatedColumns: RelatedColumns
    /// The entities, and the layouts of links, on whose rows the list depends.
    let watched: Set<Int>
    package let order: ListOrder
    /// The largest number of shown rows; nil for all.
    package let limit: Int?
    /// The number of rows to keep beyond the limit, so that the list need not read the store after a few deletions.
    package let reserve: Int
    /// The row after which the list begins, in its version when the cursor was made; nil to begin with the first row.
    package var start: ListedRow?
    /// The predicate on the objects of matching rows; nil if the row predicate is enough.
    let objectPredicate: ListPredicate?
    /// Finds the objects whose to-many relationships a save changes.
    let links: ChangedLinks
    /// By entity, the columns whose large values stay in the store when rows are read; empty if all values are read.
    let deferredColumns: [Int: [Int]]
    /// By entity, the storage of the columns, to compare two versions of a row.
    private let storages: [Int: ContiguousArray<ColumnStorage>]

    package init(
        _ layout: EntityLayout, family: [Int]? = nil, predicate: RowPredicate = .constant(true),
        joined: [JoinedColumn] = [], order: ListOrder,
        limit: Int? = nil, reserve: Int? = nil, start: ListedRow? = nil, objectPredicate: ListPredicate? = nil,
        links: ChangedLinks = .none, deferredColumns: [Int: [Int]] = [:], layouts: [EntityLayout] = []
    ) {
        storages = Dictionary((layouts + [layout]).map { ($0.index, $0.storages) }) { first, _ in first }
        entity = layout.index
        self.family = family ?? layout.concreteFamily
        self.predicate = predicate
        self.joined = joined
        var watched = Set(self.family)
        for column in joined { column.related?.collectEntities(&watched) }
        self.watched = watched
        relatedColumns = RelatedColumns(joined, of: self.family)
        self.order = order
        self.limit = limit
        // A list that reads the store after each save needs no reserve.
        self.reserve = objectPredicate != nil || !joined.isEmpty ? 0 : reserve ?? limit.map { max(32, $0 / 4) } ?? 0
        self.start = start
        self.objectPredicate = objectPredicate
        self.links = links
        // A list that reads rows after each save compares them, and an object predicate or a computed section may need any
        // value.
        let needsWholeRows = objectPredicate != nil || !joined.isEmpty || order.isComputed
        self.deferredColumns = needsWholeRows ? [:] : deferredColumns
    }

    /// Whether all matching rows are kept, even beyond a limit, because a store cannot sort by a computed section.
    package var isHeldWhole: Bool { order.isComputed || limit == nil }

    /// Whether the store must be queried after each save, because rows alone do not show whether they match.
    package var requeriesStore: Bool { objectPredicate != nil || !joined.isEmpty && limit != nil }

    /// Whether related rows determine which rows the list shows, or in which order. After each save, the list then reads the
    /// changed rows and the rows that lead to changed related rows.
    package var followsRelatedRows: Bool { !joined.isEmpty && !requeriesStore }

    /// The largest number of kept rows.
    package var mostHeld: Int { isHeldWhole ? .max : (limit ?? 0) + reserve }

    /// The row as the list shows it; nil if the list does not show it.
    func listed(
        _ entity: Int, _ stored: StoredRow, _ budget: QueryBudget
    ) throws(DataSourceError) -> ListedRow? {
        guard try predicate.evaluate(stored, order.layout, budget) else { return nil }
        let row = try order.listed(entity, stored)
        if let start, !order.precedes(start, row) { return nil }
        return row
    }

    /// Whether two versions of a row are known to be equal. Only the sizes of deferred values are known, so two deferred values
    /// of the same size may differ.
    func isSame(_ lhs: ListedRow, _ rhs: ListedRow) -> Bool {
        guard lhs.stored.isIdentical(to: rhs.stored) || hasSameValues(lhs, rhs) else { return false }
        guard let columns = deferredColumns[lhs.entity], !lhs.row.isIdentical(to: rhs.row) else { return true }
        return !columns.contains { lhs.row.isDeferred($0) }
    }

    /// Whether two rows have equal values. The bytes may differ even then: until an edited row is written and read again, its
    /// strings are in the order in which they were set, with unused space between them.
    private func hasSameValues(_ lhs: ListedRow, _ rhs: ListedRow) -> Bool {
        guard lhs.entity == rhs.entity, let storages = storages[lhs.entity] else { return false }
        if let columns = deferredColumns[lhs.entity],
            columns.contains(where: { lhs.row.isDeferred($0) || rhs.row.isDeferred($0) })
        {
            return false
        }
        let isSame = storages.indices.allSatisfy {
            lhs.row.isEqual(to: rhs.row, column: $0, storage: storages[$0])
        }
        guard isSame, let ones = lhs.stored.joined, let others = rhs.stored.joined else {
            return isSame && lhs.stored.joined == nil && rhs.stored.joined == nil
        }
        return joined.enumerated().allSatisfy { ones.isEqual(to: others, column: $0, storage: $1.kind.storage) }
    }

    /// Whether a save has rows on which the list depends: its own rows, or related rows.
    func concerns(_ changes: ChangeSet) -> Bool {
        changes.entities.contains { watched.contains($0.entity) } || links.isAny(in: changes)
    }
}

/// A predicate on a row's object.
package struct ListPredicate: Sendable {
    let accepts: @Sendable (ListedRow, QueryBudget) throws(DataSourceError) -> Bool
}

/// A row of a list. The list of an entity also shows rows of sub-entities, so each row has its entity.
package struct ListedRow: Sendable {
    package let entity: Int
    package let stored: StoredRow
    /// The value of the row's computed section, evaluated once by ``ListOrder/listed(_:_:)``.
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
