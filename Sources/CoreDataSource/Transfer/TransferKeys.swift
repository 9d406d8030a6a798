internal import ManagedModel
internal import RowStore

/// The attribute of each entity by which its objects are named in a graph.
struct TransferKeys {
    /// By entity; nil where there is none.
    private let columns: [Int?]

    /// - Parameter chosen: Names of attributes by names of entities, for those and what is below them. Elsewhere it is the first
    ///   attribute with a uniqueness constraint of its own.
    init(_ chosen: [String: String], _ layout: ModelLayout) throws(DataSourceError) {
        for (name, attribute) in chosen.sorted(by: { $0.key < $1.key }) {
            guard let entity = layout.entity(named: name) else {
                throw DataSourceError(
                    .unknownEntity, "A key was chosen for \"\(name)\", which is not an entity of the model.",
                    entityName: name)
            }
            guard let column = entity.column(named: attribute), TransferKeys.canBeKey(entity.columns[column]) else {
                throw DataSourceError(
                    .unknownAttribute,
                    "\"\(attribute)\" was chosen as the key of \(name), but is not one of its stored attributes, or is transformable. Choose another.",
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
        return attribute.type != .transformable
    }

    /// The column of an entity's key; nil if it has none.
    subscript(_ entity: EntityLayout) -> Int? { columns[entity.index] }

    /// The key of a relationship's destination.
    ///
    /// - Parameter place: Where it is asked for: a relationship, or a place in a graph.
    func destination(
        _ relationship: RelationshipLayout, _ layout: ModelLayout, _ place: @autoclosure () -> String
    ) throws(DataSourceError) -> Int {
        if let column = columns[relationship.destination] { return column }
        let name = layout.entities[relationship.destination].name
        throw DataSourceError(
            .invalidGraph,
            "\(place()) leads to \(name), which has no attribute with a uniqueness constraint of its own. Choose one: keys: [\"\(name)\": ...].",
            entityName: name)
    }
}
