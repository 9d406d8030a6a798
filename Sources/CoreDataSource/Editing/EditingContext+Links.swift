internal import RowStore

extension ManagedObject {
    /// Sets the destination of a column. Does nothing if the link already exists.
    final func setLink(_ column: LinkColumn, _ other: ManagedObject?, position: Int64? = nil) {
        let before = row.isNull(column.key) ? nil : row.integer(column.key)
        let leadsThere =
            if let other { row.end(column, [other.layout.index])?.key == other.key } else { before == nil }
        if leadsThere && position == nil { return }
        setValue(other.map { .integer($0.key) } ?? .null, column.key)
        if let entity = column.entity { setValue(other.map { .integer(Int64($0.layout.index)) } ?? .null, entity) }
        if let place = column.position { setValue(position.map { .integer($0) } ?? .null, place) }
        guard let context = context as? EditingContext else { return }
        context.linkEdits += 1
        if context.knowsEnds { context.forgetEnds(of: [key, before, other?.key].compactMap(\.self)) }
    }
}

extension EditingContext {
    /// Deletes an object together with its links.
    func forgetEnds(of object: ManagedObject) {
        guard knowsEnds else { return }
        let columns = stack.graph.linkColumns[object.layout.index]
        guard !columns.isEmpty || !object.layout.relationships.isEmpty else { return }
        forgetEnds(of: [object.key] + columns.filter { !object.row.isNull($0) }.map { object.row.integer($0) })
    }

    /// The context that has the present links.
    func linkContext(_ pairs: PairColumns) -> EditingContext {
        editor(ofEntity: pairs.layout) as? EditingContext ?? self
    }

    /// The link between two objects, by the end of the first one; nil if there is none.
    func link(_ one: ManagedObject, _ other: ManagedObject, _ pairs: PairColumns) throws -> ManagedObject? {
        let context = linkContext(pairs)
        let keys = [one.key, other.key].map { RowValue.integer($0) }
        return try context.reading { () throws(DataSourceError) in
            try context.findUnique(pairs.layout, constraint: 0, pairs.own.key == 0 ? keys : keys.reversed())
        }
    }

    /// Deletes the link between two objects, if there is one.
    func unlink(_ one: ManagedObject, _ other: ManagedObject, _ pairs: PairColumns) throws {
        guard let link = try link(one, other, pairs) else { return }
        let editor = linkContext(pairs)
        editor.linkEdits += 1
        try editor.delete(owned: link)
    }

    /// Makes a link that does not exist yet. Each end gets its place among the objects of the other end.
    func insertLink(
        _ pairs: PairColumns, _ one: (object: ManagedObject, position: Int64?),
        _ other: (object: ManagedObject, position: Int64?), key: Int64? = nil
    ) throws(DataSourceError) {
        let link = try linkContext(pairs).insert(entity: pairs.layout, key: key)
        link.setLink(pairs.own, one.object, position: one.position)
        link.setLink(pairs.other, other.object, position: other.position)
        link.checkedConstraint = 0
    }

    /// Notes the place of the last object of an ordered relationship, for all contexts of the batch.
    func noteLastPosition(_ position: Int64, _ key: RelatedCache.Key, _ owner: Int64) {
        for context in [self] + partners { context.related.setLastPosition(position, key, owner) }
    }

    /// The highest place among the objects of an owner's relationship; nil if there are none.
    func lastPosition(
        _ relationship: RelationshipLayout, _ owner: ManagedObject, _ column: Int
    ) throws -> Int64? {
        var last: Int64?
        for source in relationship.linkSources where source.position == column {
            let query = RowQuery(
                entity: source.layout, predicate: .compare(column: source.owner, .equal, .integer(owner.key)),
                sort: [SortKey(column: column, isAscending: false)], limit: 1)
            let context = editor(ofEntity: source.layout)
            let rows = try context.reading { () throws(DataSourceError) in
                try context.rows(FetchPlan(query), columns: [column])
            }
            if let row = rows.first?.row, !row.isNull(column) { last = max(last ?? .min, row.integer(column)) }
        }
        return last
    }
}
