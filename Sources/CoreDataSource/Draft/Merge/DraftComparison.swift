internal import RowStore

/// Compares the changes of a draft with the newest rows.
///
/// A part of the draft is in conflict if the draft and other saves have set the part to different new values since the
/// draft read the part.
struct DraftComparison {
    /// A part of the difference. The whole part is either saved or dropped.
    struct Part {
        enum Kind {
            case insertion
            case deletion
            /// An object that a cascade reaches although the draft has not deleted the object.
            case reached(LinkEnd)
            /// An edited object that another save has deleted.
            case revival
            case attribute(column: Int)
            /// A relationship whose link is stored in the object's own row.
            case link(relationship: Int)
            /// A link that is stored in a row of its own.
            case pair
            case order(Int)
        }

        let kind: Kind
        /// The index of the row in the difference; nil for an order or a reached object.
        let row: Int?
        /// The conflict; nil if the part is not in conflict.
        var conflict: DraftChange?
        /// Whether the part is dropped, so that the value of the other saves is kept.
        var isDropped = false
    }

    let context: ManagedObjectContext
    let difference: DraftDifference
    /// The objects that the draft inserts.
    let inserted: Set<LinkEnd>
    /// The index of each row in the difference.
    let rowIndexes: [LinkEnd: Int]
    /// The links that the draft deletes: see ``DraftDifference/deletedLinks(_:)``.
    let deletedLinks: [Int: Set<Set<LinkEnd>>]
    var parts: [Part] = []
    /// The objects that the draft's deletions reach by cascades.
    var reach = CascadeReach()
    /// The objects that the draft deleted directly, and the objects that a delete rule deleted but no longer reaches.
    var deletionRoots: Set<LinkEnd> = []
    /// The unique values that a revert would give to a second object.
    var unique = UniqueConflicts()
    /// The changes that only other saves have made.
    private(set) var merged: [DraftChange] = []
    /// The newest saved orders, in the order of the difference's `orders`.
    private(set) var theirOrders: [[LinkEnd]] = []

    /// - Parameter context: A context with the newest rows: a context of the batch that saves the draft, or a read context.
    init(_ difference: DraftDifference, in context: ManagedObjectContext) throws {
        self.context = context
        self.difference = difference
        inserted = Set(difference.rows.filter { $0.state == .inserted }.map(\.end))
        rowIndexes = Dictionary(difference.rows.enumerated().map { ($1.end, $0) }) { first, _ in first }
        deletedLinks = difference.deletedLinks(context.stack.layout)
        if context.position.generation != difference.generation { throw difference.origin.resetError }
        try read()
        for index in difference.rows.indices { try compare(index) }
        for index in difference.orders.indices { try compareOrder(index) }
        try compareReached()
        if difference.origin.isDraft { return }
        try compareLinksToDeletedObjects()
        try compareUniqueValues()
    }

    var conflicts: [DraftChange] { parts.compactMap(\.conflict) }

    /// Decides every conflict.
    mutating func decide(_ choose: (DraftChange) throws -> DraftChange.Choice) throws {
        for index in parts.indices {
            guard let conflict = parts[index].conflict else { continue }
            let choice = try choose(conflict)
            if choice == .mine, !conflict.canKeepMine, case .record = difference.origin {
                throw conflict.failure(difference.origin)
            }
            parts[index].conflict?.choice = choice
            parts[index].isDropped = choice == .theirs
        }
        dropPartners()
        dropDeletions()
        if difference.origin.isDraft { return }
        keepLinksOfKeptObjects()
        try dropDependents()
    }

    // MARK: Rows

    /// The row of a part; nil for an order or a reached object. The difference may have no rows at all.
    func row(_ part: Part) -> DraftDifference.Row? { part.row.map { difference.rows[$0] } }

    func layout(_ end: LinkEnd) -> EntityLayout { context.stack.layout.entities[end.entity] }

    func id(_ end: LinkEnd) -> ManagedObjectID { ManagedObjectID(layout(end), key: end.key) }

    /// The newest saved object; nil if the object was deleted.
    func current(_ end: LinkEnd) -> ManagedObject? { context.registeredObject(end) }

    /// Whether an object exists or will be inserted.
    func exists(_ end: LinkEnd) -> Bool { inserted.contains(end) || current(end) != nil }

    /// Reads the objects of the difference and the objects that they link to.
    private func read() throws {
        var ends: Set<LinkEnd> = []
        for row in difference.rows {
            let layout = layout(row.end)
            if layout.links != nil {
                ends.formUnion(LinkedPair(row, context.stack.layout)?.ends ?? [])
                continue
            }
            ends.insert(row.end)
            ends.formUnion(layout.relationships.compactMap(row.row.end(of:)))
        }
        ends.formUnion(difference.orders.map(\.owner))
        ends.subtract(inserted)
        try context.reading { () throws(DataSourceError) in
            try context.readObjects(ends.sorted { ($0.entity, $0.key) < ($1.entity, $1.key) })
        }
    }

    private mutating func compare(_ index: Int) throws {
        let row = difference.rows[index]
        if layout(row.end).links != nil { return comparePair(index) }
        let theirs = current(row.end)
        switch (row.state, theirs) {
        case (.inserted, _):
            parts.append(Part(kind: .insertion, row: index))
            try compareLinks(index, nil)
        case (.deleted, nil): break
        case (.deleted, let theirs?):
            let isChanged = !changedColumns(theirs.row, since: row.base, row.end).isEmpty
            let conflict = DraftChange(id(row.end), nil, .deletedHere)
            parts.append(Part(kind: .deletion, row: index, conflict: isChanged ? conflict : nil))
        case (_, nil):
            var conflict = DraftChange(id(row.end), nil, .deletedByOthers)
            conflict.canKeepMine = difference.origin.isDraft && canRevive(row)
            parts.append(Part(kind: .revival, row: index, conflict: conflict))
        case (_, let theirs?):
            compareAttributes(index, theirs.row)
            try compareLinks(index, theirs.row)
        }
    }

    /// Returns the columns whose values differ. Positions in an order, derived attributes and transient attributes are not
    /// compared.
    private func changedColumns(_ row: RowSnapshot, since base: RowSnapshot, _ end: LinkEnd) -> [Int] {
        let layout = layout(end)
        let positions = Set(
            layout.relationships.compactMap { relationship in
                if case .column(let column) = relationship.storage { column.position } else { nil }
            })
        return layout.storedColumns.filter { column in
            !positions.contains(column) && layout.columns[column].attribute?.derivationExpression == nil
                && !row.isEqual(to: base, column: column, storage: layout.columns[column].storage)
        }
    }

    private mutating func compareAttributes(_ index: Int, _ theirs: RowSnapshot) {
        let row = difference.rows[index]
        let layout = layout(row.end)
        for (column, description) in layout.columns.enumerated() {
            guard let attribute = description.attribute, attribute.derivationExpression == nil else { continue }
            func isEqual(_ lhs: RowSnapshot, _ rhs: RowSnapshot) -> Bool {
                lhs.isEqual(to: rhs, column: column, storage: description.storage)
            }
            let isMine = !isEqual(row.row, row.base)
            let isTheirs = description.isStored && !isEqual(theirs, row.base)
            guard isMine || isTheirs else { continue }
            let change = DraftChange(
                id(row.end), description.name, .attribute, base: row.base.propertyValue(column, layout),
                mine: row.row.propertyValue(column, layout), theirs: theirs.propertyValue(column, layout))
            if !isMine {
                merged.append(change)
            } else if !isTheirs {
                parts.append(Part(kind: .attribute(column: column), row: index))
            } else if !isEqual(row.row, theirs) {
                parts.append(Part(kind: .attribute(column: column), row: index, conflict: change))
            }
        }
    }

    // MARK: Links

    /// Whether the draft deletes a saved object.
    func isDeletedHere(_ end: LinkEnd) -> Bool {
        rowIndexes[end].map { difference.rows[$0].state == .deleted } ?? false
    }

    /// Whether keeping the draft's side inserts the object again.
    private func isRevived(_ end: LinkEnd) -> Bool {
        rowIndexes[end].map { difference.rows[$0].state == .edited } ?? false
    }

    /// Whether an object that another save has deleted can be inserted again. This requires that the destinations of
    /// its mandatory relationships exist, or are inserted again, too.
    private func canRevive(_ row: DraftDifference.Row) -> Bool {
        layout(row.end).relationships.allSatisfy { relationship in
            guard !relationship.description.isOptional, let end = row.row.end(of: relationship) else { return true }
            return exists(end) || isRevived(end)
        }
    }

    /// - Parameter theirs: The newest saved row; nil for a new object.
    private mutating func compareLinks(_ rowIndex: Int, _ theirs: RowSnapshot?) throws {
        let row = difference.rows[rowIndex]
        for (index, relationship) in layout(row.end).relationships.enumerated() {
            guard case .column(let column) = relationship.storage else { continue }
            let family = relationship.destinationFamily
            let base = theirs == nil ? nil : row.base.end(column, family)
            let (mine, now) = (row.row.end(column, family), theirs?.end(column, family))
            guard mine != base || now != base else { continue }
            let change = DraftChange(
                id(row.end), relationship.name, .relationship, base: base.map(id), mine: mine.map(id),
                theirs: now.map(id))
            if mine == base {
                merged.append(change)
                continue
            }
            if mine == now { continue }
            var conflict = now == base ? nil : change
            if let mine, !exists(mine) {
                conflict = (conflict ?? change).leadingToDeletedObject(canRevive: isRevived(mine))
            }
            if conflict == nil, let mine {
                conflict = try sourceConflict(of: row.end, for: mine, column: column, relationship: relationship)
            }
            parts.append(Part(kind: .link(relationship: index), row: rowIndex, conflict: conflict))
        }
    }

    /// If a destination can have only one source, and another save has linked another source to this destination, returns the
    /// conflict; otherwise nil.
    private func sourceConflict(
        of source: LinkEnd, for destination: LinkEnd, column: LinkColumns, relationship: RelationshipLayout
    ) throws -> DraftChange? {
        let layout = layout(source)
        guard !relationship.isSymmetric, !inserted.contains(destination), let inverse = relationship.inverse,
            let constraint = layout.constraint(onColumn: column.key)
        else { return nil }
        let editor = context.editor(ofEntity: source.entity)
        let competingSource = try editor.reading { () throws(DataSourceError) in
            try editor.find(
                entity: layout.constraintOwners[constraint], column: column.key, value: .integer(destination.key))
        }
        let family = relationship.destinationFamily
        // If the competing source links to an object of another entity that has the same key, there is no conflict, but the
        // save throws an error.
        guard let competingSource, LinkEnd(competingSource) != source,
            competingSource.row.end(column, family) == destination
        else { return nil }
        // The previous source has lost its link to the destination. A row that keeps the link does not count: in a revert,
        // `base` has the newest values of everything that the record has not changed.
        let before = difference.rows.first { row in
            row.state != .inserted && row.end.entity == competingSource.layout.index
                && row.base.end(column, family) == destination
                && (row.state == .deleted || row.row.end(column, family) != destination)
        }
        // The draft itself moves the destination away from its previous source.
        if let before, before.end.key == competingSource.key { return nil }
        return DraftChange(
            id(destination), inverse.name, .relationship, base: (before?.end).map(id), mine: id(source),
            theirs: competingSource.objectID)
    }

    private mutating func comparePair(_ index: Int) {
        let row = difference.rows[index]
        guard row.state != .edited, let pair = LinkedPair(row, context.stack.layout) else { return }
        let ends = pair.ends
        if row.state == .inserted, ends.contains(where: isDeletedHere) { return }
        var conflict: DraftChange?
        let gone = row.state == .inserted ? ends.filter { !exists($0) } : []
        if !gone.isEmpty {
            conflict = DraftChange(
                id(pair.source), pair.name, .relationship, base: nil, mine: id(pair.destination), theirs: nil
            ).leadingToDeletedObject(canRevive: gone.allSatisfy(isRevived))
        }
        parts.append(Part(kind: .pair, row: index, conflict: conflict))
    }

    private mutating func compareOrder(_ index: Int) throws {
        let order = difference.orders[index]
        let owner = inserted.contains(order.owner) ? nil : current(order.owner)
        let theirs = try owner.flatMap { try $0.context?.ends(of: $0, at: order.index) } ?? []
        theirOrders.append(theirs)
        guard owner != nil || inserted.contains(order.owner) else { return }
        var conflict: DraftChange?
        if OrderMerge.isConflict(base: order.base, mine: order.mine, theirs: theirs) {
            conflict = DraftChange(
                id(order.owner), layout(order.owner).relationships[order.index].name, .order, base: order.base.map(id),
                mine: order.mine.map(id), theirs: theirs.map(id))
        }
        parts.append(Part(kind: .order(index), row: nil, conflict: conflict))
    }

    /// If the deletion of an object that the record has inserted is dropped, keeps the links that the record has made from and
    /// to this object. The conflict of a link was decided separately.
    mutating func keepLinksOfKeptObjects() {
        let kept = keepObjectsOfKeptLinks()
        if kept.isEmpty { return }
        for index in parts.indices where parts[index].conflict == nil {
            guard let row = row(parts[index]) else { continue }
            let ends: [LinkEnd?]
            switch parts[index].kind {
            case .pair where row.state == .deleted:
                ends = LinkedPair(row, context.stack.layout)?.ends ?? []
            case .link(let index): ends = [row.base.end(of: layout(row.end).relationships[index])]
            default: continue
            }
            if ends.contains(where: { $0.map(kept.contains) ?? false }) { parts[index].isDropped = true }
        }
    }

    // MARK: Partners

    /// If one side of a symmetric link is dropped, drops the other side too.
    mutating func dropPartners() {
        var dropped = parts.indices.filter { parts[$0].isDropped }
        while let partIndex = dropped.popLast() {
            guard case .link(let index) = parts[partIndex].kind, let row = row(parts[partIndex]) else { continue }
            let relationship = layout(row.end).relationships[index]
            guard relationship.isSymmetric else { continue }
            let others = [row.base.end(of: relationship), row.row.end(of: relationship)].compactMap {
                $0.flatMap { rowIndexes[$0] }
            }
            for other in parts.indices where !parts[other].isDropped {
                guard let index = parts[other].row, others.contains(index), case .link(let own) = parts[other].kind,
                    layout(difference.rows[index].end).relationships[own].path == relationship.path
                else { continue }
                parts[other].isDropped = true
                if parts[other].conflict != nil { parts[other].conflict?.choice = .theirs }
                dropped.append(other)
            }
        }
    }
}
