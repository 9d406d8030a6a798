internal import RowStore

/// Values of uniqueness constraints that no stored row has.
struct AbsentUniqueValues {
    fileprivate struct Key: Hashable {
        let entity: Int
        let constraint: Int
    }

    /// The number of values that one query looks up.
    fileprivate static let valuesPerQuery = 256

    fileprivate var values: [Key: Set<[RowValue]>] = [:]

    /// Whether it is known that the store has no row of the entity with the values.
    func contains(_ entity: Int, constraint: Int, _ own: [RowValue]) -> Bool {
        values[Key(entity: entity, constraint: constraint)]?.contains(own) ?? false
    }
}

extension EditingContext {
    /// Looks up the unique values of all changed objects together, because on a server each look-up is a round trip. If
    /// the store is not on a server, looks up nothing.
    ///
    /// - Complexity: for each constraint, one query for every 256 values.
    func absentUniqueValues() throws(DataSourceError) -> AbsentUniqueValues {
        var absent = AbsentUniqueValues()
        guard stack.root.isRemote, changed.count > 1 else { return absent }
        var wanted: [AbsentUniqueValues.Key: Set<[RowValue]>] = [:]
        for object in changed where object.isInserted || object.isUpdated && object.hasEdits {
            for constraint in object.layout.constraints.indices where object.checkedConstraint != Int32(constraint) {
                guard let values = newUniqueValues(of: object, constraint) else { continue }
                for entity in uniqueFamily(of: object, constraint) {
                    wanted[AbsentUniqueValues.Key(entity: entity, constraint: constraint), default: []].insert(values)
                }
            }
        }
        for (key, values) in wanted where values.count > 1 {
            // If rows are pending, look up the values one by one later: a look-up of one value finds pending rows by a hash,
            // but a query tests all pending rows.
            if bindings[key.entity].hasAllRows || source.hasPendingRows(key.entity) { continue }
            absent.values[key] = try absentValues(values, key)
        }
        return absent
    }

    private func absentValues(
        _ values: Set<[RowValue]>, _ key: AbsentUniqueValues.Key
    ) throws(DataSourceError) -> Set<[RowValue]> {
        let layout = bindings[key.entity].layout
        let columns = layout.constraints[key.constraint]
        var absent = values
        for part in Array(values).chunks(ofSize: AbsentUniqueValues.valuesPerQuery) {
            var query = RowQuery(
                entity: key.entity,
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
