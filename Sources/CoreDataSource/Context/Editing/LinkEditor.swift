internal import RowStore

/// Changes the links of one relationship of one object, in the rows that store the links.
struct LinkEditor {
    private let context: EditingContext
    private let object: ManagedObject
    private let index: Int
    private let relationship: RelationshipLayout

    init(_ context: EditingContext, _ object: ManagedObject, _ index: Int) {
        self.context = context
        self.object = object
        self.index = index
        relationship = object.layout.relationships[index]
    }

    // MARK: To-one

    func set(_ other: ManagedObject?) {
        guard other.map(isAllowed) ?? true else { return }
        performEdit { () throws in
            switch relationship.storage {
            case .column(let column) where relationship.isSymmetric: try setPartner(other, column)
            case .column(let column): try setDestination(object, column, to: other)
            case .inverseColumn(let column):
                let before = try context.relatedObjects(of: object, at: index).first
                if before === other { return }
                if let before { before.setLink(column, nil) }
                if let other { try setDestination(other, column, to: object) }
            case .pairs, .none: break
            }
        }
    }

    /// Sets both sides of a relationship that is its own inverse.
    private func setPartner(_ other: ManagedObject?, _ column: LinkColumns) throws {
        for one in [object, other] {
            guard let one, let before = try context.editor(ofEntity: one.layout.index).destination(of: one, at: index),
                before !== (one === object ? other : object)
            else { continue }
            before.setLink(column, nil)
        }
        object.setLink(column, other)
        if let other, other !== object { other.setLink(column, object) }
    }

    /// Links a source to an object. If the object can have only one source, removes the link of the previous source.
    private func setDestination(_ source: ManagedObject, _ column: LinkColumns, to other: ManagedObject?) throws {
        if let other, source.leads(to: other, column) { return }
        if let other, let constraint = source.layout.constraint(onColumn: column.key) {
            let owner = source.layout.constraintOwners[constraint]
            let competingSource = try context.reading { () throws(DataSourceError) in
                try context.editor(ofEntity: source.layout.index)
                    .find(entity: owner, column: column.key, value: .integer(other.key))
            }
            if let competingSource, competingSource !== source {
                if competingSource.leads(to: other, column) {
                    competingSource.setLink(column, nil)
                } else if !context.mayGetOtherKey(other) {
                    throw context.keyUsedTwice(source, other)
                }
            }
        }
        let position = try other.flatMap { try formerPosition(source, column, of: $0) ?? nextPosition($0, column) }
        source.setLink(column, other, position: position)
    }

    // MARK: To-many

    func insert(_ objects: [ManagedObject]) {
        guard objects.allSatisfy(isAllowed) else { return }
        performEdit { () throws in for other in objects { try add(other) } }
    }

    func remove(_ other: ManagedObject) {
        // A deleted object is already removed from every relationship.
        guard !other.isDeleted, isAllowed(other) else { return }
        performEdit { () throws in try removeLink(other) }
    }

    private func add(_ other: ManagedObject) throws {
        switch relationship.storage {
        case .inverseColumn(let column): try setDestination(other, column, to: object)
        case .pairs(let pairs): try insert(other, pairs, position: nil)
        case .column, .none: break
        }
    }

    private func removeLink(_ other: ManagedObject) throws {
        switch relationship.storage {
        case .inverseColumn(let column):
            if other.leads(to: object, column) { other.setLink(column, nil) }
        case .pairs(let pairs):
            try context.unlink(object, other, pairs)
            if relationship.isSymmetric { try context.unlink(other, object, pairs) }
        case .column, .none: break
        }
    }

    /// Replaces the objects of the relationship, in the given order if the relationship is ordered.
    ///
    /// - Parameter positions: The preferred positions, by object. A position is used only if the order allows it.
    func set(_ objects: [ManagedObject], preferring positions: [LinkEnd: Int64] = [:]) {
        var seen: Set<LinkEnd> = []
        let objects = objects.filter { seen.insert(LinkEnd($0)).inserted }
        guard objects.allSatisfy(isAllowed) else { return }
        performEdit { () throws in
            if relationship.description.isOrdered { try context.willReorder(object, index) }
            let before = try context.relatedObjects(of: object, at: index)
            for other in before where !seen.contains(LinkEnd(other)) { try removeLink(other) }
            guard relationship.description.isOrdered else {
                let known = Set(before.map { LinkEnd($0) })
                for other in objects where !known.contains(LinkEnd(other)) { try add(other) }
                return
            }
            try arrange(objects, before, preferring: positions)
        }
    }

    private func arrange(
        _ objects: [ManagedObject], _ before: [ManagedObject], preferring preferred: [LinkEnd: Int64]
    ) throws {
        let known = Set(before.map { LinkEnd($0) })
        let rows: [ManagedObject?]
        switch relationship.storage {
        case .inverseColumn: rows = objects
        case .pairs(let pairs):
            rows = try objects.map { known.contains(LinkEnd($0)) ? try context.link(object, $0, pairs) : nil }
        case .column, .none: return
        }
        guard let column = positionColumn else { return }
        try context.willReorder(object, index)
        let positions = ListPositions.positions(
            keeping: savedPositions(rows, column)
                ?? zip(objects, rows).map { other, row in
                    if let position = preferred[LinkEnd(other)] { return position }
                    guard known.contains(LinkEnd(other)), let row, !row.row.isNull(column) else { return nil }
                    return row.row.integer(column)
                })
        for ((other, row), position) in zip(zip(objects, rows), positions) {
            switch relationship.storage {
            case .inverseColumn(let link):
                if !known.contains(LinkEnd(other)) { try setDestination(other, link, to: object) }
                other.setValue(.integer(position), column)
            case .pairs(let pairs):
                if let row {
                    row.setValue(.integer(position), column)
                } else {
                    try insert(other, pairs, position: position)
                }
            case .column, .none: break
            }
        }
        // A change of positions alone does not clear the cached links, so forget them here.
        if context.hasCachedEnds { context.forgetEnds(of: [object.key]) }
        if let last = positions.last {
            context.recordLastPosition(
                last, EntityRelationship(entity: object.layout.index, relationship: index), object.key)
        }
    }

    /// Returns the saved positions of the rows of a draft; an element is nil if its link is new. Returns nil if the context is
    /// not a draft, if the order of the rows has changed, or if no row has a saved position.
    private func savedPositions(_ rows: [ManagedObject?], _ column: Int) -> [Int64?]? {
        guard context.editing == .inDraft else { return nil }
        var last = Int64.min
        var positions: [Int64?] = []
        for row in rows {
            guard let row, !row.isInserted, isSavedLink(row), !row.savedRow.isNull(column) else {
                positions.append(nil)
                continue
            }
            let position = row.savedRow.integer(column)
            if position <= last { return nil }
            last = position
            positions.append(position)
        }
        return last == .min ? nil : positions
    }

    /// Whether the saved row of a link leads to the object.
    private func isSavedLink(_ row: ManagedObject) -> Bool {
        guard case .inverseColumn(let column) = relationship.storage else { return true }
        return row.savedRow.end(column, [object.layout.index])?.key == object.key
    }

    /// In a draft, returns the position of a source in its saved row, if the saved row is linked to the same owner. So an
    /// object that is linked to its former owner again gets its former position. Returns nil for another owner, and outside
    /// of drafts.
    private func formerPosition(_ source: ManagedObject, _ column: LinkColumns, of owner: ManagedObject) -> Int64? {
        guard context.editing == .inDraft, let position = column.position, let saved = source.saved,
            saved.end(column, [owner.layout.index])?.key == owner.key, !saved.isNull(position)
        else { return nil }
        return saved.integer(position)
    }

    private var positionColumn: Int? {
        switch relationship.storage {
        case .inverseColumn(let column): column.position
        case .pairs(let pairs): pairs.other.position
        case .column, .none: nil
        }
    }

    private func insert(_ other: ManagedObject, _ pairs: PairColumns, position: Int64?) throws {
        guard try context.linkToInsert(object, other, pairs) == nil else { return }
        if let link = try context.restoreLink(object, other, pairs) {
            if let position, let column = pairs.other.position { link.setValue(.integer(position), column) }
            if relationship.isSymmetric, object !== other { _ = try context.restoreLink(other, object, pairs) }
            return
        }
        let position = try position ?? nextPosition(object, index, pairs.other.position)
        if relationship.isSymmetric {
            // Each side has its own pair row, with the position of the other object. If the two objects had the same key,
            // both rows would have the same pair of keys, which must be unique.
            if object !== other, object.key == other.key { throw context.keyUsedTwice(object, other) }
            try context.insertLink(pairs, (object, nil), (other, position))
            if object === other { return }
            let inversePosition = try inverseIndex(other).flatMap { try nextPosition(other, $0, pairs.other.position) }
            return try context.insertLink(pairs, (other, nil), (object, inversePosition))
        }
        let ownPosition = try inverseIndex(other).flatMap { try nextPosition(other, $0, pairs.own.position) }
        try context.insertLink(pairs, (object, ownPosition), (other, position))
    }

    // MARK: Positions

    private func inverseIndex(_ other: ManagedObject) -> Int? {
        relationship.inverse.flatMap { other.layout.relationship(named: $0.name) }
    }

    /// Returns the position after the last object whose link column refers to the owner; nil if the objects have no order.
    private func nextPosition(_ owner: ManagedObject, _ column: LinkColumns) throws -> Int64? {
        guard let position = column.position else { return nil }
        // Find the owner's side by the relationship, not by a comparison of the objects, because an object can be its own
        // owner.
        let own = relationship.isToMany ? index : inverseIndex(owner)
        return try own.flatMap { try nextPosition(owner, $0, position) }
    }

    private func nextPosition(_ owner: ManagedObject, _ index: Int, _ column: Int?) throws -> Int64? {
        guard let column else { return nil }
        let key = EntityRelationship(entity: owner.layout.index, relationship: index)
        let last =
            try context.related.lastPosition(key, owner.key)
            ?? context.lastPosition(owner.layout.relationships[index], owner, column)
        let next = ListPositions.next(after: last)
        context.recordLastPosition(next, key, owner.key)
        return next
    }

    // MARK: Parts

    /// Runs an edit of links. If the edit throws, the save throws the error.
    private func performEdit(_ body: () throws -> Void) {
        context.willUse(relationship, of: object)
        do {
            try context.withEditGroup(body)
        } catch {
            context.recordReadFailure(error)
        }
    }

    private func isAllowed(_ other: ManagedObject) -> Bool {
        precondition(
            other.context === context || context.otherEditingContexts.contains { $0 === other.context },
            "An object of another context was linked to \(object.layout.name).\(relationship.name). Look the object up in this context by its objectID first."
        )
        let path = (object.layout.name, relationship.name)
        if other.isDeleted {
            context.refuse(
                DataSourceError(
                    .objectGone, "\(path.0).\(path.1) was linked to a deleted object. Insert a new object.",
                    entityName: path.0, attributeName: path.1))
            return false
        }
        for one in [other, object] where !context.bindings[one.layout.index].isOwned {
            context.linkedEntities.insert(one.layout.index)
        }
        if !relationship.destinationFamily.contains(other.layout.index) {
            context.refuse(
                DataSourceError(
                    .validationFailed,
                    "\(path.0).\(path.1) was linked to an object of \(other.layout.name). Link an object of \(relationship.description.destinationName).",
                    entityName: path.0, attributeName: path.1))
            return false
        }
        return true
    }
}

/// The positions of the objects of an ordered relationship. The positions have gaps, so that an object can be inserted between
/// two objects without changing the positions of these objects.
///
/// The functions are pure: they take the old positions in the new order, and return the new positions.
package enum ListPositions {
    /// The gap between objects that are added at an end.
    private static let gap: Int128 = 1 << 32
    /// If n objects must be moved, the gap between them becomes at least n times this number, up to ``gap``. So a
    /// move of more objects leaves wider gaps, and the cost of moves is amortized over later inserts.
    private static let room: Int128 = 1 << 10

    /// Returns the position of an object that is added at the end.
    static func next(after last: Int64?) -> Int64 {
        guard let last else { return 0 }
        return Int64(clamping: Int128(last) + gap)
    }

    /// Returns ascending positions, and keeps as many old positions as possible.
    ///
    /// - Parameter old: The old position of each object, in the new order; nil for a new object.
    /// - Complexity: O(n log n).
    package static func positions(keeping old: [Int64?]) -> [Int64] {
        let known = old.indices.filter { old[$0] != nil }
        var positions = [Int64?](repeating: nil, count: old.count)
        for step in longestIncreasingSubsequence(known.map { Int(old[$0] ?? 0) }) {
            positions[known[step]] = old[known[step]]
        }
        var index = 0
        while index < positions.count {
            guard positions[index] == nil else {
                index += 1
                continue
            }
            let end = positions[index...].firstIndex { $0 != nil } ?? positions.count
            fill(&positions, index..<end)
            index = end
        }
        return positions.map { $0 ?? 0 }
    }

    /// Gives positions to the objects in a range. If there is no room, neighbors get new positions too: more and more
    /// neighbors, until there is room.
    private static func fill(_ positions: inout [Int64?], _ missing: Range<Int>) {
        var window = missing
        var width = 1
        while true {
            let low = window.lowerBound == 0 ? nil : positions[window.lowerBound - 1]
            let high = window.upperBound == positions.count ? nil : positions[window.upperBound]
            let smallestGap = window == missing ? 1 : min(gap, room * Int128(window.count))
            if let values = spread(window.count, low, high, smallestGap: smallestGap) {
                for (index, value) in zip(window, values) { positions[index] = value }
                return
            }
            window = max(0, window.lowerBound - width)..<min(positions.count, window.upperBound + width)
            width *= 2
        }
    }

    /// Returns `count` positions between the positions `low` and `high`; nil if there is no room.
    private static func spread(_ count: Int, _ low: Int64?, _ high: Int64?, smallestGap: Int128) -> [Int64]? {
        let count = Int128(count)
        let start: Int128
        var step = gap
        switch (low.map { Int128($0) }, high.map { Int128($0) }) {
        case (nil, nil): start = -gap
        case (nil, let high?): start = high - gap * (count + 1)
        case (let low?, nil): start = low
        case (let low?, let high?):
            step = min(gap, (high - low) / (count + 1))
            // Use the middle of the free range, so that there is room on both sides.
            start = low + (high - low - step * (count + 1)) / 2
        }
        guard step >= smallestGap, Int64(exactly: start + step) != nil, Int64(exactly: start + step * count) != nil
        else {
            return nil
        }
        return (1...Int(count)).map { Int64(start + step * Int128($0)) }
    }
}
