internal import RowStore

/// Values of uniqueness constraints that no stored row has.
struct AbsentUniqueValues {
    private struct Key: Hashable {
        let entity: Int
        let constraint: Int
    }

    private var values: [Key: Set<[RowValue]>] = [:]

    /// Whether no row of an entity in the store has the values. False if this is not known.
    func contains(_ entity: Int, _ constraint: Int, _ own: [RowValue]) -> Bool {
        values.isEmpty ? false : values[Key(entity: entity, constraint: constraint)]?.contains(own) ?? false
    }

    mutating func insert(_ new: Set<[RowValue]>, _ entity: Int, _ constraint: Int) {
        values[Key(entity: entity, constraint: constraint)] = new
    }
}

extension EditingContext {
    /// Looks up the unique values of all changed objects together, because on a server each look-up is a round trip. In another
    /// store, nothing is looked up.
    ///
    /// - Complexity: one query for each constraint and 256 changed objects.
    func absentUniqueValues() throws(DataSourceError) -> AbsentUniqueValues {
        var absent = AbsentUniqueValues()
        guard stack.root.store.isRemote, changed.count > 1 else { return absent }
        var wanted: [Int: [Int: Set<[RowValue]>]] = [:]
        for object in changed where object.isInserted || object.isUpdated && object.hasEdits {
            for constraint in object.layout.constraints.indices where object.checkedConstraint != Int32(constraint) {
                guard let values = newUniqueValues(of: object, constraint) else { continue }
                for entity in uniqueFamily(of: object, constraint) {
                    wanted[entity, default: [:]][constraint, default: []].insert(values)
                }
            }
        }
        for (entity, constraints) in wanted {
            // A look-up of one value finds pending rows by a hash, but a query tests all of them.
            if bindings[entity].hasAllRows || source.hasPendingRows(entity) { continue }
            for (constraint, values) in constraints where values.count > 1 {
                absent.insert(try absentValues(values, entity, constraint), entity, constraint)
            }
        }
        return absent
    }

    private func absentValues(
        _ values: Set<[RowValue]>, _ entity: Int, _ constraint: Int
    ) throws(DataSourceError) -> Set<[RowValue]> {
        let layout = bindings[entity].layout
        let columns = layout.constraints[constraint]
        var absent = values
        let all = Array(values)
        for start in stride(from: 0, to: all.count, by: 256) {
            let part = all[start..<min(start + 256, all.count)]
            var query = RowQuery(
                entity: entity,
                predicate: columns.count == 1
                    ? .isIn(column: columns[0], part.map { $0[0] })
                    : .or(part.map { .and(zip(columns, $0).map { .compare(column: $0, .equal, $1) }) }))
            query.columns = columns
            query.isOrdered = false
            for stored in try source.rows(query, layout).rows {
                absent.remove(columns.map { stored.row.value($0, layout.columns[$0].storage) })
            }
        }
        return absent
    }
}
