internal import RowStore

/// What a draft changes, as a value: each row before and after.
struct DraftDifference: Sendable {
    /// A row that was inserted, edited or deleted.
    struct Row: Sendable {
        var end: LinkEnd
        let state: ObjectState
        /// The row that the draft has read; the new row for an inserted object.
        var base: RowSnapshot
        var row: RowSnapshot
        /// Whether a delete rule has deleted the object.
        var isCascaded = false
    }

    /// The objects of an ordered relationship.
    struct Order: Sendable {
        let owner: LinkEnd
        let index: Int
        let base: [LinkEnd]
        let mine: [LinkEnd]
    }

    var rows: [Row] = []
    var orders: [Order] = []
    /// How often the store had been reset when the draft was made.
    let generation: Int

    var isEmpty: Bool { rows.isEmpty }
}

extension DraftContext {
    /// What the draft changes now.
    func difference() throws -> DraftDifference {
        try checkDenials()
        var difference = DraftDifference(generation: position.generation)
        for object in changed where object.hasChanges {
            if object.state == .edited && !object.hasEdits { continue }
            difference.rows.append(
                DraftDifference.Row(
                    end: LinkEnd(object), state: object.state, base: object.savedRow, row: object.row,
                    isCascaded: object.state == .deleted && cascaded.contains(object.key)))
        }
        for (order, base) in orders.sorted(by: { ($0.key.owner.key, $0.key.index) < ($1.key.owner.key, $1.key.index) })
        {
            // The owner may have been released meanwhile.
            guard let owner = try find(entity: order.owner.entity, key: order.owner.key), !owner.isDeleted else {
                continue
            }
            let mine = try ends(of: owner, at: order.index)
            if mine == base { continue }
            difference.orders.append(
                DraftDifference.Order(owner: order.owner, index: order.index, base: base, mine: mine))
        }
        return difference
    }
}

extension DraftDifference {
    /// The entities of rows; for a link, those of its ends.
    func entities(of rows: [Row], _ stack: PersistentStack) -> Set<Int> {
        rows.reduce(into: []) { entities, row in
            if stack.layout.entities[row.end.entity].links == nil {
                entities.insert(row.end.entity)
            } else {
                entities.formUnion(stack.graph.ends(ofLinks: row.end.entity))
            }
        }
    }
}

extension LinkedPair {
    init?(_ row: DraftDifference.Row, _ layout: ModelLayout) {
        self.init(row.row, layout.entities[row.end.entity], layout)
    }
}
