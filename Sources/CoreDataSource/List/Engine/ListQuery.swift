package import RowStore

/// Which rows a list shows, in which order and sections.
package struct ListQuery: Sendable {
    package let entity: Int
    /// The entities whose rows are shown: the entity itself unless it is abstract, and its sub-entities if they are included.
    package let family: [Int]
    package let predicate: RowPredicate
    /// The joined columns of the rows.
    package let joined: [JoinedColumn]
    /// The columns of related rows on which the list depends.
    let relatedColumns: RelatedColumns
    /// The entities, and the layouts of links, whose rows determine what the list shows.
    let watched: Set<Int>
    package let order: ListOrder
    /// The most rows that are shown; nil for all.
    package let limit: Int?
    /// Rows kept beyond the limit, so that a few deletions do not make the list read the store again.
    package let reserve: Int
    /// The row after which the list begins, as it was when the cursor was made; nil to begin with the first row.
    package var start: ListedRow?
    /// The test of the objects of rows that match; nil for none.
    let test: ListMatcher?
    /// Finds the objects whose to-many relationships a save changes.
    let links: ChangedLinks
    /// By entity, the columns whose large values are left in the store when the rows are read; empty if they are not.
    let deferredColumns: [Int: [Int]]
    /// By entity, how the columns of its rows are stored, to compare two versions of a row.
    private let storages: [Int: ContiguousArray<ColumnStorage>]

    package init(
        _ layout: EntityLayout, family: [Int]? = nil, predicate: RowPredicate = .constant(true),
        joined: [JoinedColumn] = [], order: ListOrder,
        limit: Int? = nil, reserve: Int? = nil, start: ListedRow? = nil, test: ListMatcher? = nil,
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
        // A list that is read after each save needs none.
        self.reserve = test != nil || !joined.isEmpty ? 0 : reserve ?? limit.map { max(32, $0 / 4) } ?? 0
        self.start = start
        self.test = test
        self.links = links
        // A list that reads rows after each save compares them, and what is tested or computed may need any value.
        let needsWholeRows = test != nil || !joined.isEmpty || order.isComputed
        self.deferredColumns = needsWholeRows ? [:] : deferredColumns
    }

    /// Whether all matching rows are held, though not all may be shown, because a store cannot sort by a computed section.
    package var isHeldWhole: Bool { order.isComputed || limit == nil }

    /// Whether the store must be queried after each save, because rows alone do not show whether they match.
    package var requeriesStore: Bool { test != nil || !joined.isEmpty && limit != nil }

    /// Whether rows that the list does not show determine which rows it shows, so that it is read after each save.
    package var followsRelatedRows: Bool { !joined.isEmpty && !requeriesStore }

    /// The most rows that are held.
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

    /// Whether two versions of a row are known to be the same. Of values that lie apart only the sizes are known, so those of the
    /// same size may differ.
    func isSame(_ one: ListedRow, _ other: ListedRow) -> Bool {
        guard one.stored.isIdentical(to: other.stored) || hasSameValues(one, other) else { return false }
        guard let columns = deferredColumns[one.entity], !one.row.isIdentical(to: other.row) else { return true }
        return !columns.contains { one.row.isDeferred($0) }
    }

    /// Whether two rows have the same values. A row that was edited has its strings in the order in which they were set, and maybe
    /// unused space, until the store has written it and it is read again.
    private func hasSameValues(_ one: ListedRow, _ other: ListedRow) -> Bool {
        guard one.entity == other.entity, let storages = storages[one.entity] else { return false }
        if let columns = deferredColumns[one.entity],
            columns.contains(where: { one.row.isDeferred($0) || other.row.isDeferred($0) })
        {
            return false
        }
        let isSame = storages.indices.allSatisfy {
            one.row.isEqual(to: other.row, column: $0, storage: storages[$0])
        }
        guard isSame, let ones = one.stored.joined, let others = other.stored.joined else {
            return isSame && one.stored.joined == nil && other.stored.joined == nil
        }
        return joined.enumerated().allSatisfy { ones.isEqual(to: others, column: $0, storage: $1.kind.storage) }
    }

    /// Whether a save has rows on which the list depends: what it shows, or what its objects lead to.
    func concerns(_ changes: ChangeSet) -> Bool {
        changes.entities.contains { watched.contains($0.entity) } || links.isAny(in: changes)
    }
}

/// A test of a row's object, which may depend on more than the row.
package struct ListMatcher: Sendable {
    let accepts: @Sendable (ListedRow, QueryBudget) throws(DataSourceError) -> Bool
}

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
