internal import RowStore

/// The unique values that a revert would give to an object although another object has them now.
struct UniqueConflicts {
    /// Values that only one object of a family of entities can have.
    struct Values: Hashable {
        /// The entity that declares the constraint.
        let owner: Int
        /// The index of the constraint, which is the same in all entities of the family.
        let constraint: Int
        let values: [RowValue]
    }

    /// The values that an object has after the revert.
    fileprivate struct Claim {
        /// The index of the object's row in the difference.
        let row: Int
        let end: LinkEnd
        let values: Values
        /// The values that the object has now, and keeps if the revert gives it no other values; nil if there are none, or if
        /// they are unknown.
        let old: Values?
        /// Whether the revert gives the values to the object.
        let isNew: Bool
    }

    /// Values that the revert would give to one object although another object has them.
    fileprivate struct Collision {
        let claim: Claim
        let holder: LinkEnd
    }

    /// For a deleted object that cannot be inserted again, the object that has its unique values now. If the conflict is decided
    /// for `.mine`, this object gets the values and the links of the deleted object.
    fileprivate(set) var successors: [LinkEnd: LinkEnd] = [:]
    /// The saved objects that have some values; nil for values that no saved object has.
    fileprivate var holders: [Values: LinkEnd?] = [:]

    /// The number of values that one query looks up.
    fileprivate static let valuesPerQuery = 256
}

/// Finds the conflicts.
extension DraftComparison {
    /// Adds a conflict for each object that would get unique values which another object has now.
    mutating func compareUniqueValues() throws {
        let partsOfRows = indexesOfUniqueParts()
        let collisions = Dictionary(grouping: try uniqueCollisions(partsOfRows, areDropped: false), by: \.claim.row)
        var successors: Set<LinkEnd> = []
        for (rowIndex, collisions) in collisions.sorted(by: { $0.key < $1.key }) {
            let row = difference.rows[rowIndex]
            let holder = collisions[0].holder
            // The holder can get the values of a single deleted object, and only if the revert does not change the holder.
            let canKeepMine =
                row.state == .inserted && holder.entity == row.end.entity && rowIndexes[holder] == nil
                && collisions.allSatisfy { $0.holder == holder } && successors.insert(holder).inserted
            if canKeepMine { unique.successors[row.end] = holder }
            for collision in collisions {
                for index in colliding(partsOfRows[rowIndex] ?? [], collision.claim) {
                    parts[index].conflict = conflict(parts[index], collision, canKeepMine: canKeepMine)
                }
            }
        }
    }

    /// Drops what depends on dropped parts: links to objects that are not inserted, objects that lack a required link, and values
    /// that another object keeps because a part of that object is dropped.
    mutating func dropDependents() throws {
        guard parts.contains(where: \.isDropped) else { return }
        let partsOfRows = indexesOfUniqueParts()
        var count = 0
        repeat {
            count = parts.count(where: \.isDropped)
            dropWhatNeedsMissingObjects()
            for collision in try uniqueCollisions(partsOfRows, areDropped: true) {
                let colliding = colliding(partsOfRows[collision.claim.row] ?? [], collision.claim)
                for index in colliding where !parts[index].isDropped {
                    parts[index].conflict = conflict(parts[index], collision, canKeepMine: false)
                    drop(index)
                }
            }
            dropPartners()
            dropDeletions()
            keepLinksOfKeptObjects()
        } while parts.count(where: \.isDropped) > count
    }

    /// The indexes of the parts of each row whose entity has unique values.
    private func indexesOfUniqueParts() -> [Int: [Int]] {
        parts.indices.reduce(into: [:]) { indexes, index in
            guard let row = parts[index].row else { return }
            let layout = layout(difference.rows[row].end)
            if layout.links == nil, !layout.constraints.isEmpty { indexes[row, default: []].append(index) }
        }
    }

    /// Returns the parts of a row that give the values to the object.
    private func colliding(_ own: [Int], _ claim: UniqueConflicts.Claim) -> [Int] {
        let layout = layout(difference.rows[claim.row].end)
        let columns = layout.constraints[claim.values.constraint]
        let isEdited = difference.rows[claim.row].state == .edited
        let colliding = own.filter { index in
            switch parts[index].kind {
            case .insertion: return true
            case .attribute(let column): return isEdited && columns.contains(column)
            case .link(let relationship):
                guard case .column(let column) = layout.relationships[relationship].storage else { return false }
                return isEdited && columns.contains(column.key)
            default: return false
            }
        }
        // If no part gives the values, the values are derived from other attributes.
        return colliding.isEmpty ? own : colliding
    }

    private func conflict(
        _ part: Part, _ collision: UniqueConflicts.Collision, canKeepMine: Bool
    ) -> DraftChange {
        let row = difference.rows[collision.claim.row]
        let layout = layout(row.end)
        let columns = layout.constraints[collision.claim.values.constraint]
        let column: Int? =
            switch part.kind {
            case .attribute(let column): column
            case .link(let index): layout.column(named: layout.relationships[index].name)
            default: columns.count == 1 ? columns[0] : nil
            }
        func value(_ row: RowSnapshot) -> (any Sendable)? {
            column.flatMap { layout.columns[$0].attribute == nil ? nil : row.propertyValue($0, layout) }
        }
        var change = DraftChange(
            id(row.end), column.map { layout.columns[$0].name }, .takenByOthers,
            base: row.state == .inserted ? nil : value(row.base), mine: value(row.row), theirs: id(collision.holder))
        change.canKeepMine = canKeepMine
        return change
    }

    // MARK: Values

    /// Returns the values that the merge, without the dropped parts, would give to a second object.
    ///
    /// - Parameters:
    ///   - partsOfRows: See ``indexesOfUniqueParts()``.
    ///   - areDropped: Whether the caller drops the parts that collide. If so, an object whose parts are dropped keeps its
    ///     old values, and another object may collide with these old values. A chain of such objects is found at once.
    private mutating func uniqueCollisions(
        _ partsOfRows: [Int: [Int]], areDropped: Bool
    ) throws -> [UniqueConflicts.Collision] {
        let claims = partsOfRows.sorted { $0.key < $1.key }.flatMap { uniqueClaims($0, $1.map { parts[$0] }) }
        let new = claims.filter(\.isNew)
        if new.isEmpty { return [] }
        try readHolders(of: Set(new.map(\.values)))
        let gone = deletedEnds
        var kept = Dictionary(claims.lazy.filter { !$0.isNew }.map { ($0.values, $0.end) }) { first, _ in first }
        var given: [UniqueConflicts.Values: UniqueConflicts.Claim] = [:]
        var collisions: [UniqueConflicts.Collision] = []
        var waiting = Array(new.reversed())
        while let claim = waiting.popLast() {
            var holder = kept[claim.values] ?? given[claim.values]?.end
            if holder == nil, let saved = unique.holders[claim.values] ?? nil, !gone.contains(saved),
                // An edited object has its own claims.
                rowIndexes[saved].map({ difference.rows[$0].state == .deleted }) ?? true
            {
                holder = saved
            }
            guard let holder, holder != claim.end else {
                given[claim.values] = claim
                continue
            }
            collisions.append(UniqueConflicts.Collision(claim: claim, holder: holder))
            guard areDropped, let old = claim.old else { continue }
            kept[old] = claim.end
            if let other = given.removeValue(forKey: old) { waiting.append(other) }
        }
        return collisions
    }

    /// The objects that the remaining parts delete, directly or by cascades.
    private var deletedEnds: Set<LinkEnd> {
        parts.reduce(into: reachOfRemainingDeletions) { ends, part in
            if part.isDropped { return }
            switch part.kind {
            case .deletion: if let end = row(part)?.end { ends.insert(end) }
            case .reached(let end): ends.insert(end)
            default: break
            }
        }
    }

    /// The unique values of an edited or inserted object after the merge.
    ///
    /// - Parameters:
    ///   - index: The index of the object's row.
    ///   - parts: The parts of the row.
    private func uniqueClaims(_ index: Int, _ parts: [Part]) -> [UniqueConflicts.Claim] {
        let row = difference.rows[index]
        let end = unique.successors[row.end] ?? row.end
        let layout = layout(row.end)
        guard let merged = merged(row, parts) else { return [] }
        let saved = current(end)?.row
        let derived = context.bindings[row.end.entity].derivations.map(\.column)
        return layout.constraints.enumerated().compactMap { constraint, columns in
            // Links of one-to-one relationships have conflicts of their own.
            if columns.count == 1, layout.columns[columns[0]].attribute == nil { return nil }
            func values(_ row: RowSnapshot) -> UniqueConflicts.Values? {
                let values = columns.map { row.value($0, layout.columns[$0].storage) }
                if values.contains(.null) { return nil }
                return UniqueConflicts.Values(
                    owner: layout.constraintOwners[constraint], constraint: constraint, values: values)
            }
            guard let own = values(merged) else { return nil }
            let old = saved.flatMap(values)
            // Even if all parts that change columns of this constraint are dropped, a derived column of the constraint can
            // change, because it is calculated from other columns.
            let keepsOld = row.state == .edited && !columns.contains(where: derived.contains)
            return UniqueConflicts.Claim(
                row: index, end: end, values: own, old: keepsOld ? old : nil, isNew: old != own)
        }
    }

    /// Returns an object's row with the unique values after the merge; nil if the merge neither edits nor inserts the object.
    private func merged(_ row: DraftDifference.Row, _ parts: [Part]) -> RowSnapshot? {
        let layout = layout(row.end)
        let successor = unique.successors[row.end].flatMap { current($0) }
        let derivations = context.bindings[row.end.entity].derivations
        let isDerived = derivations.contains { layout.uniqueColumns.contains($0.column) }
        var merged = row.row
        func copy(_ column: Int) {
            guard isDerived || layout.uniqueColumns.contains(column) else { return }
            merged.setValue(row.row.value(column, layout.columns[column].storage), column)
        }
        switch row.state {
        case .inserted:
            let isInserted = parts.contains { part in
                if case .insertion = part.kind { !part.isDropped } else { false }
            }
            guard isInserted else { return nil }
            if let successor {
                merged = successor.row
                for column in layout.columns.indices where layout.columns[column].attribute != nil { copy(column) }
            }
        case .edited:
            guard let saved = current(row.end)?.row else { return nil }
            merged = saved
        default: return nil
        }
        for part in parts {
            if case .attribute(let column) = part.kind, !part.isDropped { copy(column) }
            guard case .link(let index) = part.kind, case .column(let column) = layout.relationships[index].storage
            else { continue }
            if !part.isDropped {
                let end = row.row.end(column, layout.relationships[index].destinationFamily)
                merged.setValue((end.map { unique.successors[$0] ?? $0 }).map { .integer($0.key) } ?? .null, column.key)
            } else if row.state == .inserted, successor == nil {
                merged.setNull(column.key)
            }
        }
        if isDerived { for derivation in derivations { derivation.apply(to: &merged, layout) } }
        return merged
    }

    // MARK: Reading

    /// Looks up the saved objects that have the values, unless they are known.
    private mutating func readHolders(of wanted: Set<UniqueConflicts.Values>) throws {
        let missing = wanted.filter { unique.holders[$0] == nil }
        // Values that are not found stay nil.
        for values in missing { unique.holders.updateValue(nil, forKey: values) }
        let groups = Dictionary(grouping: missing) { [$0.owner, $0.constraint] }
        for (_, group) in groups {
            for entity in layout(LinkEnd(entity: group[0].owner, key: 0)).concreteFamily {
                for part in group.chunks(ofSize: UniqueConflicts.valuesPerQuery) { try readHolders(of: part, entity) }
            }
        }
    }

    /// On a server, one query looks up many values, because each look-up is a round trip. In a file, a look-up of one value is
    /// faster: it also finds registered objects and pending rows.
    private mutating func readHolders(of group: ArraySlice<UniqueConflicts.Values>, _ entity: Int) throws {
        guard let first = group.first else { return }
        let editor = context.editor(ofEntity: entity)
        let layout = layout(LinkEnd(entity: entity, key: 0))
        let columns = layout.constraints[first.constraint]
        let found = try editor.reading { () throws(DataSourceError) -> [ManagedObject] in
            guard context.stack.root.isRemote, group.count > 1 else {
                var found: [ManagedObject] = []
                for one in group {
                    let object = try editor.findUnique(entity, constraint: first.constraint, one.values)
                    if let object { found.append(object) }
                }
                return found
            }
            let predicate: RowPredicate =
                columns.count == 1
                ? .isIn(column: columns[0], group.map { $0.values[0] })
                : .or(group.map { .and(zip(columns, $0.values).map { .compare(column: $0, .equal, $1) }) })
            return try editor.unsortedObjects(FetchPlan(RowQuery(entity: entity, predicate: predicate)))
        }
        for object in found {
            let values = columns.map { object.row.value($0, layout.columns[$0].storage) }
            unique.holders[
                UniqueConflicts.Values(owner: first.owner, constraint: first.constraint, values: values)] = LinkEnd(
                    object)
        }
    }
}
