internal import RowStore

/// A difference that reverts a record of the kept history. In its rows and orders, `base` is the state after the record, and
/// `row` or `mine` is the state before the record.
extension DraftDifference {
    /// - Parameters:
    ///   - changes: The changes of the record.
    ///   - number: The number of the record.
    ///   - layout: The layout of the changes.
    init(reverting changes: ChangeSet, number: Int64, generation: Int, _ layout: ModelLayout) {
        self.init(generation: generation, origin: .record(number))
        for entity in changes.entities {
            func end(_ key: Int64) -> LinkEnd { LinkEnd(entity: entity.entity, key: key) }
            rows += entity.inserted.map { Row(end: end($0.key), state: .deleted, base: $0.row, row: $0.row) }
            // Values that the record does not have are equal before and after the record. So the newest values stay.
            let known = layout.entities[entity.entity].withoutDeferredValues
            rows += entity.updated.map {
                Row(end: end($0.key), state: .edited, base: known($0.row), row: known($0.previous))
            }
            rows += entity.deleted.map { Row(end: end($0.key), state: .inserted, base: $0.row, row: $0.row) }
        }
    }

    /// Returns the difference on top of the newest rows: values that the record has not changed are the newest values. Objects
    /// that exist again are left out, with the links that were deleted together with them.
    func onNewestRows(in context: PrivateContext) throws -> DraftDifference {
        let layout = context.stack.layout
        // Reads the rows of links, too; otherwise each link would be looked up separately.
        try context.reading { () throws(DataSourceError) in
            try context.readObjects(rows.map(\.end).sorted { ($0.entity, $0.key) < ($1.entity, $1.key) })
        }
        func newest(_ row: Row) -> RowSnapshot? { context.registeredObject(row.end)?.row }
        let inserted = rows.filter { $0.state == .inserted && layout.entities[$0.end.entity].links == nil }
        let back = Set(inserted.lazy.filter { newest($0) != nil }.map(\.end))
        let missing = Set(inserted.lazy.map(\.end)).subtracting(back)
        var difference = self
        /// The record's own rows, without those that are left out. The orders are made from these rows, because an object that
        /// is left out changes no order.
        var remaining: [Row] = []
        difference.rows = rows.compactMap { row -> Row? in
            let entity = layout.entities[row.end.entity]
            if entity.links != nil {
                if row.state == .inserted, let pair = LinkedPair(row, layout) {
                    let ends = Set(pair.ends)
                    if !ends.isDisjoint(with: back), ends.isDisjoint(with: missing) { return nil }
                }
                remaining.append(row)
                return row
            }
            if back.contains(row.end) { return nil }
            let own = row.state == .edited ? row.withoutNewLinks(to: back, entity) : row
            let newest = newest(row)
            if row.state == .edited, newest == nil, own.changesOnlyPositions(entity) { return nil }
            remaining.append(own)
            guard row.state == .edited, let newest else { return own }
            return own.onNewestRow(newest, entity)
        }
        difference.orders = try RevertedOrders(remaining, context).readOrders()
        return difference
    }
}

extension DraftDifference.Row {
    /// Whether the record has only moved the object in orders, or has changed nothing.
    fileprivate func changesOnlyPositions(_ layout: EntityLayout) -> Bool {
        let positions = Set(layout.positionColumns.values)
        return layout.storedColumns.allSatisfy { column in
            positions.contains(column) || layout.columns[column].derivation != nil
                || row.isEqual(to: base, column: column, storage: layout.columns[column].storage)
        }
    }

    /// Returns the row without the links that a revert would make from the object to the given objects.
    fileprivate func withoutNewLinks(to ends: Set<LinkEnd>, _ layout: EntityLayout) -> Self {
        var result = self
        for relationship in layout.relationships {
            guard case .column(let link) = relationship.storage,
                let end = row.end(link, relationship.destinationFamily), ends.contains(end),
                end != base.end(link, relationship.destinationFamily)
            else { continue }
            for column in [link.key, link.entity, link.position].compactMap(\.self) {
                result.row.setValue(base.value(column, layout.columns[column].storage), column)
            }
        }
        return result
    }

    /// Returns the row with the newest values in all columns that the record has not changed.
    fileprivate func onNewestRow(_ newest: RowSnapshot, _ layout: EntityLayout) -> Self {
        var result = self
        for (column, description) in layout.columns.enumerated()
        where row.isEqual(to: base, column: column, storage: description.storage) {
            let value = newest.value(column, description.storage)
            result.base.setValue(value, column)
            result.row.setValue(value, column)
        }
        return result
    }
}

/// The orders of relationships that a record has changed.
///
/// A record has positions only for the objects that it has inserted, moved or deleted. All other objects are treated as
/// if they had their newest positions both before and after the record.
private struct RevertedOrders {
    /// An ordered relationship of an object.
    private typealias Relationship = DraftContext.OrderedRelationship

    /// The positions of an object before and after a record. A position is nil if the object was not linked at that time.
    private struct Positions {
        var before: Int64?
        var after: Int64?
    }

    private let context: PrivateContext
    private var changed: [Relationship: [LinkEnd: Positions]] = [:]

    init(_ rows: [DraftDifference.Row], _ context: PrivateContext) {
        self.context = context
        let layout = context.stack.layout
        for row in rows {
            let entity = layout.entities[row.end.entity]
            if entity.links == nil {
                for relationship in entity.relationships { add(row, relationship) }
            } else if let families = LinkedPair.Families(entity, layout) {
                let pairs = families.columns
                add(row, families.name, owner: (pairs.own, families.source), (pairs.other, families.destination))
                guard let inverse = families.inverseName else { continue }
                add(row, inverse, owner: (pairs.other, families.destination), (pairs.own, families.source))
            }
        }
    }

    /// Adds the position of an object whose own row has the link to the owner.
    private mutating func add(_ row: DraftDifference.Row, _ relationship: RelationshipLayout) {
        guard case .column(let column) = relationship.storage, let inverse = relationship.inverse else { return }
        let family = relationship.destinationFamily
        if row.state != .deleted, let owner = row.row.end(column, family), let position = row.row.position(column) {
            change(owner, inverse.name, row.end) { $0.before = position }
        }
        if row.state != .inserted, let owner = row.base.end(column, family), let position = row.base.position(column) {
            change(owner, inverse.name, row.end) { $0.after = position }
        }
    }

    /// Adds the position of an object whose link has a row of its own.
    private mutating func add(
        _ row: DraftDifference.Row, _ name: String, owner: (column: LinkColumns, family: [Int]),
        _ element: (column: LinkColumns, family: [Int])
    ) {
        guard let end = row.row.end(owner.column, owner.family), let other = row.row.end(element.column, element.family)
        else { return }
        if row.state != .deleted, let position = row.row.position(element.column) {
            change(end, name, other) { $0.before = position }
        }
        if row.state != .inserted, let position = row.base.position(element.column) {
            change(end, name, other) { $0.after = position }
        }
    }

    private mutating func change(
        _ owner: LinkEnd, _ name: String, _ element: LinkEnd, _ body: (inout Positions) -> Void
    ) {
        guard let index = context.stack.layout.entities[owner.entity].relationship(named: name) else { return }
        body(&changed[Relationship(owner: owner, index: index), default: [:]][element, default: Positions()])
    }

    /// Returns the orders that the record has changed.
    func readOrders() throws -> [DraftDifference.Order] {
        if changed.isEmpty { return [] }
        let sorted = changed.sorted { lhs, rhs in
            (lhs.key.owner.key, lhs.key.index) < (rhs.key.owner.key, rhs.key.index)
        }
        try context.reading { () throws(DataSourceError) in
            try context.readObjects(Set(changed.keys.map(\.owner)).sorted { ($0.entity, $0.key) < ($1.entity, $1.key) })
        }
        let links = try readRelationships()
        return try sorted.compactMap { relationship, positions in
            try order(relationship, positions, links[relationship] ?? [:])
        }
    }

    /// - Parameter links: The newest positions of links that have rows of their own.
    private func order(
        _ relationship: Relationship, _ positions: [LinkEnd: Positions], _ links: [LinkEnd: Int64]
    ) throws -> DraftDifference.Order? {
        let (ends, newest) = try newestPositions(relationship, links)
        /// The objects at one of the two moments.
        func order(_ position: (Positions) -> Int64?) -> [LinkEnd] {
            var all = newest
            for (end, change) in positions { all[end] = position(change) }
            let places = Dictionary(ends.enumerated().map { ($1, $0) }) { first, _ in first }
            func place(_ end: LinkEnd, _ position: Int64) -> (Int64, Int, Int64) {
                (position, places[end] ?? .max, end.key)
            }
            return all.sorted { place($0.key, $0.value) < place($1.key, $1.value) }.map(\.key)
        }
        let (base, mine) = (order(\.after), order(\.before))
        if base == mine { return nil }
        return DraftDifference.Order(
            owner: relationship.owner, index: relationship.index, base: base, mine: mine,
            positions: positions.compactMapValues(\.before))
    }

    /// The newest objects of a relationship in their order, and their positions.
    private func newestPositions(
        _ relationship: Relationship, _ links: [LinkEnd: Int64]
    ) throws -> ([LinkEnd], [LinkEnd: Int64]) {
        guard let owner = context.registeredObject(relationship.owner) else { return ([], [:]) }
        let objects = try (owner.context ?? context).relatedObjects(of: owner, at: relationship.index)
        var positions: [LinkEnd: Int64] = [:]
        for object in objects {
            switch owner.layout.relationships[relationship.index].storage {
            case .inverseColumn(let column): positions[LinkEnd(object)] = object.row.position(column)
            case .pairs: positions[LinkEnd(object)] = links[LinkEnd(object)]
            case .column, .none: break
            }
        }
        return (objects.map { LinkEnd($0) }, positions)
    }

    // MARK: Reading

    /// The largest number of owners whose links are read at once.
    private static let ownersPerRead = 500

    /// Reads the objects of all relationships, so that they are not read for each owner.
    ///
    /// - Returns: The newest positions of the links that have rows of their own.
    private func readRelationships() throws -> [Relationship: [LinkEnd: Int64]] {
        let groups = Dictionary(grouping: changed.keys) {
            Relationship(owner: LinkEnd(entity: $0.owner.entity, key: 0), index: $0.index)
        }
        var positions: [Relationship: [LinkEnd: Int64]] = [:]
        for (group, relationships) in groups.sorted(by: {
            ($0.key.owner.entity, $0.key.index) < ($1.key.owner.entity, $1.key.index)
        }) {
            let owners = relationships.compactMap { context.registeredObject($0.owner) }.sorted { $0.key < $1.key }
            guard let first = owners.first else { continue }
            let reader = first.context ?? context
            try reader.reading { () throws(DataSourceError) in try reader.prefetch(group.index, owners) }
            guard case .pairs(let pairs) = first.layout.relationships[group.index].storage else { continue }
            for part in owners.chunks(ofSize: RevertedOrders.ownersPerRead) {
                for link in try readLinks(of: part, first.layout.index, pairs) {
                    guard let owner = link.row.end(pairs.own, [first.layout.index]),
                        let end = link.row.end(pairs.other, first.layout.relationships[group.index].destinationFamily)
                    else { continue }
                    positions[Relationship(owner: owner, index: group.index), default: [:]][end] =
                        link.row.position(pairs.other)
                }
            }
        }
        return positions
    }

    /// Reads and registers the rows of all links of some objects.
    private func readLinks(
        of owners: ArraySlice<ManagedObject>, _ entity: Int, _ pairs: PairColumns
    ) throws -> [ManagedObject] {
        let editor = context.linkContext(pairs)
        let keys = ValueList(owners.map { .integer($0.key) }, .natural)
        return try editor.reading { () throws(DataSourceError) in
            try editor.unsortedObjects(
                FetchPlan(RowQuery(entity: pairs.layout, predicate: pairs.own.leads(to: entity, keys))))
        }
    }
}

extension RowSnapshot {
    /// The position of the row in an order; nil if there is none.
    fileprivate func position(_ column: LinkColumns) -> Int64? {
        column.position.flatMap { isNull($0) ? nil : integer($0) }
    }
}
