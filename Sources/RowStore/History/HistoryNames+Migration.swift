internal import ManagedModel
package import ModelMigration

/// The names of a history when its store is migrated.
extension HistoryNames {
    /// Returns the names after a migration: each entity and each column also gets the name that it has in the new model. Call this
    /// method in each migration, for the names of all layouts that records use: a later model has at most one earlier name of each
    /// part.
    ///
    /// - Parameters:
    ///   - names: The names in the new model.
    ///   - layout: The layout of the new model.
    ///   - records: The numbers of the kept records; nil if there are none.
    /// - Returns: Nil if no record uses the layout any more. The store then drops the names. Otherwise, the store would keep the
    ///   names forever.
    package func followed(
        through names: MigratedNames, to layout: ModelLayout, records: ClosedRange<Int64>?
    ) -> HistoryNames? {
        used(by: records)?.followed(through: names, to: layout)
    }

    fileprivate func followed(through names: MigratedNames, to layout: ModelLayout) -> HistoryNames {
        var followed = self
        for (index, entity) in entities.enumerated() {
            let name = entity.newName ?? entity.name
            let target = names.target(of: name, in: layout)
            followed.entities[index].newName = target?.layout.historyName ?? ""
            for (position, column) in entity.columns.enumerated() {
                let column = column.newName ?? column.name
                let newName = target.flatMap { names.column(column, of: name, $0) } ?? ""
                followed.entities[index].columns[position].newName = newName
            }
        }
        return followed
    }
}

extension ChangeSet {
    /// Returns the changes in another layout. Entities and columns are found as in a migration from one model to the other.
    ///
    /// - Parameter layout: The layout of the changes.
    package func translated(from layout: ModelLayout, to other: ModelLayout) -> ChangeSet {
        if layout === other { return self }
        let names = HistoryNames(layout)
        if names == HistoryNames(other) { return self }
        return names.followed(through: MigratedNames(from: layout.model, to: other.model), to: other)
            .translate(self, to: other)
    }
}

/// The new layout whose rows continue the rows of an old entity, or the links of an old relationship.
private struct NamedTarget {
    let layout: EntityLayout
    /// Whether the links have the other direction in the new layout: the source of an old link is the destination of the new
    /// link.
    var isReversed = false
}

extension MigratedNames {
    /// - Parameter name: The ``EntityLayout/historyName`` in the old model.
    fileprivate func target(of name: String, in layout: ModelLayout) -> NamedTarget? {
        if let new = entity(name) { return layout.entity(named: new).map { NamedTarget(layout: $0) } }
        guard let point = name.firstIndex(of: ".") else { return nil }
        let owner = String(name[..<point])
        guard let new = property(String(name[name.index(after: point)...]), of: owner),
            let entity = entity(owner).flatMap({ layout.entity(named: $0) }),
            let index = entity.relationship(named: new),
            case .pairs(let pairs) = entity.relationships[index].storage
        else { return nil }
        let links = layout.entities[pairs.layout]
        return NamedTarget(layout: links, isReversed: pairs == links.pairColumns(isReversed: true))
    }

    /// - Parameter entity: The old name of the column's entity.
    fileprivate func column(_ name: String, of entity: String, _ target: NamedTarget) -> String? {
        if target.layout.links != nil { return target.isReversed ? LinkNames.reversed(name) : name }
        if let new = property(name, of: entity) { return new }
        // The columns of a relationship are named after the relationship, for example `group.position`.
        guard let point = name.firstIndex(of: "."), let new = property(String(name[..<point]), of: entity),
            target.layout.relationship(named: new) != nil
        else { return nil }
        return new + name[point...]
    }
}

extension LinkNames {
    /// The name of the same column if the links are seen from their other end.
    fileprivate static func reversed(_ name: String) -> String {
        if name.hasPrefix(source) { return destination + name.dropFirst(source.count) }
        return name.hasPrefix(destination) ? source + name.dropFirst(destination.count) : name
    }
}

extension HistoryFilter {
    /// Returns the filter with the names under which records of earlier models name its entities.
    ///
    /// - Parameter layouts: The names of the layouts that records use.
    package func including(_ layouts: some Sequence<HistoryNames>) -> HistoryFilter {
        guard let names = entityNames else { return self }
        var filter = self
        for entity in layouts.lazy.flatMap(\.entities) where entity.newName.map(names.contains) ?? false {
            filter.entityNames?.insert(entity.name)
        }
        return filter
    }
}
