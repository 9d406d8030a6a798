internal import ManagedModel
internal import RowStore

/// The attribute of each entity that identifies its objects in a graph.
struct TransferKeys {
    /// By entity; nil where there is none.
    private let columns: [Int?]

    /// - Parameter chosen: Names of attributes by names of entities, for those entities and their sub-entities. For all others
    ///   it is that of the first uniqueness constraint on a single attribute.
    init(_ chosen: [String: String], _ layout: ModelLayout) throws(DataSourceError) {
        for (name, attribute) in chosen.sorted(by: { $0.key < $1.key }) {
            guard let entity = layout.entity(named: name) else {
                throw DataSourceError(
                    .unknownEntity, "A key was chosen for \"\(name)\", but the model has no such entity.",
                    entityName: name)
            }
            guard let column = entity.column(named: attribute), TransferKeys.canBeKey(entity.columns[column]) else {
                throw DataSourceError(
                    .unknownAttribute,
                    "\"\(attribute)\" was chosen as the key of \(name), but it is not a stored attribute, or is transformable or derived. Choose another attribute.",
                    entityName: name, attributeName: attribute)
            }
        }
        columns = layout.entities.map { entity in
            let lineage = layout.model.entity(named: entity.name).map(layout.model.lineage) ?? []
            if let name = lineage.lazy.compactMap({ chosen[$0.name] }).first { return entity.column(named: name) }
            return entity.constraints.lazy.filter { $0.count == 1 && TransferKeys.canBeKey(entity.columns[$0[0]]) }
                .first?.first
        }
    }

    private static func canBeKey(_ column: ColumnLayout) -> Bool {
        guard let attribute = column.attribute, column.isStored else { return false }
        // A derived value is not part of a graph: it follows from the others.
        return attribute.type != .transformable && attribute.derivationExpression == nil
    }

    /// The column of an entity's key; nil if it has none.
    subscript(_ entity: EntityLayout) -> Int? { columns[entity.index] }

    /// The key of a relationship's destination.
    ///
    /// - Parameter place: Where the key is needed: a relationship, or a place in a graph.
    func destination(
        _ relationship: RelationshipLayout, _ layout: ModelLayout, _ place: @autoclosure () -> String
    ) throws(DataSourceError) -> Int {
        if let column = columns[relationship.destination] { return column }
        let name = layout.entities[relationship.destination].name
        throw DataSourceError(
            .invalidGraph,
            "\(place()) leads to \(name), which has no attribute with a uniqueness constraint of its own. Choose an attribute: keys: [\"\(name)\": ...].",
            entityName: name)
    }
}
