internal import RowStore

/// New keys for objects whose keys another program may have taken.
extension DraftContext {
    /// Gives objects the keys with which they were saved, and lets all edits lead to them.
    func rename(_ keys: [LinkEnd: Int64]) {
        if keys.isEmpty { return }
        for (end, key) in keys {
            let binding = bindings[end.entity]
            guard let object = saving.removeValue(forKey: end.key) else { continue }
            let isRegistered = binding.objects[end.key] === object
            if isRegistered { binding.objects.remove(end.key) }
            object.rename(to: key)
            if isRegistered { binding.objects.insert(object) }
            saving[key] = object
        }
        for object in changed { object.row.rename(keys, object.layout, stack.layout) }
        orders = Dictionary(
            orders.map { order, ends in
                (
                    OrderedRelationship(owner: order.owner.renamed(keys), index: order.index),
                    ends.map { $0.renamed(keys) }
                )
            }
        ) { first, _ in first }
    }
}

extension DraftDifference {
    /// The same with other keys of new objects.
    func renaming(_ keys: [LinkEnd: Int64], _ layout: ModelLayout) -> DraftDifference {
        if keys.isEmpty { return self }
        var renamed = self
        for place in rows.indices {
            let entity = layout.entities[rows[place].end.entity]
            renamed.rows[place].end = rows[place].end.renamed(keys)
            renamed.rows[place].row.rename(keys, entity, layout)
            if rows[place].state == .inserted { renamed.rows[place].base.rename(keys, entity, layout) }
        }
        return renamed
    }
}

extension LinkEnd {
    /// The end with the new key of its object, if that has one.
    func renamed(_ keys: [LinkEnd: Int64]) -> LinkEnd {
        keys[self].map { LinkEnd(entity: entity, key: $0) } ?? self
    }
}

extension RowSnapshot {
    /// Lets the links of the row lead to objects with new keys.
    fileprivate mutating func rename(_ keys: [LinkEnd: Int64], _ entity: EntityLayout, _ layout: ModelLayout) {
        for (column, family) in entity.linkedColumns(layout) {
            guard let end = end(column, family), let key = keys[end] else { continue }
            setValue(.integer(key), column.key)
        }
    }
}

extension EntityLayout {
    /// The columns with links, each with the entities to which it can lead.
    fileprivate func linkedColumns(_ layout: ModelLayout) -> [(LinkColumn, [Int])] {
        if let pairs = LinkedPair.Families(self, layout) {
            return [(pairs.columns.own, pairs.source), (pairs.columns.other, pairs.destination)]
        }
        return relationships.compactMap { relationship in
            guard case .column(let column) = relationship.storage else { return nil }
            return (column, relationship.destinationFamily)
        }
    }
}
