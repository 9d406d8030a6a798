internal import ManagedModel

extension MemoryState {
    /// The changes that remove the rows of some entities, the links to them, and the values of columns that lead to them.
    func changes(_ layout: ModelLayout, droppingEntities names: Set<String>) -> ChangeSet {
        let dropped = Set(names.compactMap { layout.entity(named: $0)?.index })
        var set = ChangeSet(entities: [])
        for case let table? in tables {
            var changes = EntityChanges(entity: table.layout.index)
            let isDropped = dropped.contains(table.layout.index)
            let links = table.layout.linksToRows(layout)
            for (key, row) in table.rows {
                let gone = isDropped ? [] : links.filter { $0.leads(row, into: dropped) }
                if isDropped || !gone.isEmpty && table.layout.links != nil {
                    changes.deleted.append(StoredRow(key: key, row: row))
                } else if !gone.isEmpty {
                    changes.updated.append(row.withoutLinks(gone.map(\.columns), key: key))
                }
            }
            if !changes.isEmpty { set.entities.append(changes) }
        }
        return set
    }
}

/// The columns of a row that lead to a row of one of those entities.
private struct LinkToRow {
    let columns: LinkColumn
    let family: [Int]

    func leads(_ row: RowSnapshot, into entities: Set<Int>) -> Bool {
        guard !row.isNull(columns.key) else { return false }
        if let entity = columns.entity, !row.isNull(entity) {
            return entities.contains(Int(truncatingIfNeeded: row.integer(entity)))
        }
        return !family.isEmpty && entities.isSuperset(of: family)
    }
}

extension EntityLayout {
    fileprivate func linksToRows(_ layout: ModelLayout) -> [LinkToRow] {
        guard let links else {
            return relationships.compactMap {
                guard case .column(let columns) = $0.storage else { return nil }
                return LinkToRow(columns: columns, family: $0.destinationFamily)
            }
        }
        guard let source = layout.entity(named: links.entity), let index = source.relationship(named: links.name) else {
            return []
        }
        let pairs = pairColumns(isReversed: false)
        return [
            LinkToRow(columns: pairs.own, family: source.concreteFamily),
            LinkToRow(columns: pairs.other, family: source.relationships[index].destinationFamily),
        ]
    }
}

extension RowSnapshot {
    /// The row with nulls instead of those links.
    fileprivate func withoutLinks(_ links: [LinkColumn], key: Int64) -> UpdatedRow {
        var row = self
        var columns = ColumnSet()
        for link in links {
            for case let column? in [link.key, link.entity, link.position] where !isNull(column) {
                row.setNull(column)
                columns.insert(column)
            }
        }
        return UpdatedRow(key: key, row: row, previous: self, columns: columns)
    }
}
