package import RowStore

/// The query of a list, with the order and the sections.
package struct ListQuery: Sendable {
    package let entity: Int
    /// The concrete entities whose rows are shown: the entity itself unless it is abstract, and its sub-entities if they are
    /// included.
    package let family: [Int]
    package let predicate: RowPredicate
    /// The joined columns of the rows.
    package let joined: [JoinedColumn]
    /// The columns of related rows that the list depends on.
    let relatedColumns: RelatedColumns
    /// The entities and the join tables whose rows the list depends on.
    let watched: Set<Int>
    package let order: ListOrder
    /// The largest number of rows to show; nil for all rows.
    package let limit: Int?
    /// The number of rows to keep beyond the limit, so that the list need not read from the store after a few
    /// deletions.
    package let reserve: Int
    /// The row after which the list begins, as it was when the cursor was made; nil to begin with the first row.
    package var start: ListedRow?
    /// The predicate on the objects of matching rows; nil if the row predicate alone decides.
    let objectPredicate: ListPredicate?
    /// Finds the objects whose to-many relationships a save changes.
    let links: ChangedLinks
    /// For each entity, the columns whose large values stay in the store when rows are read; empty to read all values.
    let deferredColumns: [Int: [Int]]
    /// For each entity, the storage of the columns, for the comparison of two versions of a row.
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
        // A list that reads from the store after each save needs no reserve.
        self.reserve = objectPredicate != nil || !joined.isEmpty ? 0 : reserve ?? limit.map { max(32, $0 / 4) } ?? 0
        self.start = start
        self.objectPredicate = objectPredicate
        self.links = links
        // Read whole rows in two cases. A list that reads rows after each save compares their values. An object predicate or a
        // computed section may use any value.
        let needsWholeRows = objectPredicate != nil || !joined.isEmpty || order.isComputed
        self.deferredColumns = needsWholeRows ? [:] : deferredColumns
    }

    /// Whether all matching rows are kept. They are kept if there is no limit, or if the order begins with a computed section,
    /// because a store cannot sort by such a section.
    package var keepsAllRows: Bool { order.isComputed || limit == nil }

    /// Whether the list must query the store after each save, because the saved rows alone do not show which rows
    /// match.
    package var requeriesStore: Bool { objectPredicate != nil || !joined.isEmpty && limit != nil }

    /// Whether related rows determine the rows of the list or their order. After each save, such a list reads its changed rows,
    /// and its rows whose relationships lead to changed related rows.
    package var followsRelatedRows: Bool { !joined.isEmpty && !requeriesStore }

    /// The largest number of rows to keep.
    package var maxKeptRows: Int { keepsAllRows ? .max : (limit ?? 0) + reserve }

    /// Returns the row for the list; nil if the row does not match or comes before the start.
    func listed(
        _ entity: Int, _ stored: StoredRow, _ budget: QueryBudget
    ) throws(DataSourceError) -> ListedRow? {
        guard try predicate.evaluate(stored, order.layout, budget) else { return nil }
        let row = try order.listed(entity, stored)
        if let start, !order.precedes(start, row) { return nil }
        return row
    }

    /// Whether two versions of a row are certainly equal. Only the size of a deferred value is known, so two different
    /// snapshots with deferred values do not count as equal.
    func isSame(_ lhs: ListedRow, _ rhs: ListedRow) -> Bool {
        guard lhs.stored.isIdentical(to: rhs.stored) || hasSameValues(lhs, rhs) else { return false }
        guard let columns = deferredColumns[lhs.entity], !lhs.row.isIdentical(to: rhs.row) else { return true }
        return !columns.contains { lhs.row.isDeferred($0) }
    }

    /// Whether two rows have equal values. The bytes of equal rows may differ: until an edited row is written and read again,
    /// its strings are in the order in which they were set, with unused space between them.
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
        guard isSame, let lhsJoined = lhs.stored.joined, let rhsJoined = rhs.stored.joined else {
            return isSame && lhs.stored.joined == nil && rhs.stored.joined == nil
        }
        return joined.enumerated().allSatisfy { lhsJoined.isEqual(to: rhsJoined, column: $0, storage: $1.kind.storage) }
    }

    /// Whether the list depends on a row that a save changes, either its own row or a related row.
    func concerns(_ changes: ChangeSet) -> Bool {
        changes.entities.contains { watched.contains($0.entity) } || links.isAny(in: changes)
    }

    /// Whether the list may show a changed row before or after the saves, or may show an object whose links the saves change. Do
    /// not call this for a list that depends on related rows, or whose predicate is evaluated on objects.
    ///
    /// **Complexity**: the predicate is evaluated for each row, with one budget for all saves.
    func mayShowRows(of saves: [ChangeSet]) -> Bool {
        if saves.contains(where: links.isAny) { return true }
        let budget = QueryBudget()
        func mayShow(_ key: Int64, _ row: RowSnapshot) -> Bool {
            // An error of the predicate is reported when the save is merged.
            (try? predicate.evaluate(StoredRow(key: key, row: row), order.layout, budget)) ?? true
        }
        return saves.lazy.flatMap(\.entities).contains { changes in
            guard family.contains(changes.entity) else { return false }
            return changes.inserted.contains { mayShow($0.key, $0.row) }
                || changes.deleted.contains { mayShow($0.key, $0.row) }
                || changes.updated.contains { mayShow($0.key, $0.row) || mayShow($0.key, $0.previous) }
        }
    }
}

/// A predicate on a row's object.
package struct ListPredicate: Sendable {
    let accepts: @Sendable (ListedRow, QueryBudget) throws(DataSourceError) -> Bool
}

/// A row of a list, with its entity, because a list also shows rows of sub-entities.
package struct ListedRow: Sendable {
    package let entity: Int
    package let stored: StoredRow
    /// The value of the computed section, evaluated once by ``ListOrder/listed(_:_:)``; nil if sections are not computed.
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
