internal import ManagedModel
internal import RowStore

/// A property of an entity, as a graph contains it.
struct TransferField {
    enum Kind {
        case attribute(column: Int, AttributeDescription)
        case composite([TransferField])
        /// The index of the relationship in the entity.
        case relationship(Int)
        /// A property that graphs do not contain, with the reason for error messages.
        case excluded(String)
    }

    let name: String
    let kind: Kind

    /// Returns the properties of an entity. Inherited properties come first.
    static func fields(of entity: EntityLayout, _ model: ManagedObjectModel) -> [TransferField] {
        let lineage = model.entity(named: entity.name).map { model.lineage(of: $0) } ?? []
        let attributes = lineage.reversed().flatMap(\.attributes)
        return attributes.map { field($0, named: $0.name, entity, model) }
            + entity.relationships.indices.map { index in
                let relationship = entity.relationships[index]
                let isStored = !relationship.description.isTransient
                return TransferField(
                    name: relationship.name, kind: isStored ? .relationship(index) : .excluded("is not stored"))
            }
    }

    private static func field(
        _ attribute: AttributeDescription, named path: String, _ entity: EntityLayout, _ model: ManagedObjectModel
    ) -> TransferField {
        func excluded(_ reason: String) -> TransferField {
            TransferField(name: attribute.name, kind: .excluded(reason))
        }
        if attribute.isTransient { return excluded("is not stored") }
        if attribute.derivationExpression != nil { return excluded("is derived from other attributes") }
        if attribute.type == .composite {
            let composite = model.composites.first { $0.name == attribute.compositeName }
            let leaves = composite?.attributes.map { field($0, named: "\(path).\($0.name)", entity, model) } ?? []
            return TransferField(name: attribute.name, kind: .composite(leaves))
        }
        guard let column = entity.column(named: path) else { return excluded("is not stored") }
        return TransferField(name: attribute.name, kind: .attribute(column: column, attribute))
    }
}

extension RelationshipLayout {
    /// Whether a graph contains this side of the relationship. A graph contains every ordered side, and every to-one side that
    /// stores the link. If the links are stored in separate rows, and neither side is ordered, the graph contains the source
    /// side.
    var isExported: Bool {
        switch storage {
        case .column: true
        case .inverseColumn: isToMany && description.isOrdered
        case .pairs(let pairs):
            // Export every ordered side. If neither side is ordered, export the source side.
            inverse == nil || isSymmetric || description.isOrdered || pairs.own.key == 0 && pairs.own.position == nil
        case .none: false
        }
    }
}

/// The attribute of each entity that identifies the entity's objects in a graph.
struct TransferKeys {
    /// The key column of each entity; nil if the entity has no key.
    private let columns: [Int?]

    /// - Parameter chosen: For each entity name, the name of the key attribute, which also applies to sub-entities. The key of
    ///   any other entity is the attribute of its first uniqueness constraint on a single attribute.
    init(_ chosen: [String: String], _ layout: ModelLayout) throws(DataSourceError) {
        for (name, attribute) in chosen.sorted(by: { $0.key < $1.key }) {
            guard let entity = layout.entity(named: name) else {
                throw DataSourceError(
                    .unknownEntity,
                    "A key was chosen for \"\(name)\", but the model has no such entity. Use the name of an entity.",
                    entityName: name)
            }
            guard let column = entity.column(named: attribute), TransferKeys.canBeKey(entity.columns[column]) else {
                throw DataSourceError(
                    .unknownAttribute,
                    "\"\(attribute)\" was chosen as the key of \(name), but a key must be a stored attribute that is neither transformable nor derived. Choose another attribute.",
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
        // A graph does not contain derived values, because they can be calculated from other values.
        return attribute.type != .transformable && attribute.derivationExpression == nil
    }

    /// The key column of an entity; nil if the entity has no key.
    subscript(_ entity: EntityLayout) -> Int? { columns[entity.index] }

    /// Returns the key column of a relationship's destination.
    ///
    /// - Parameter location: The relationship, or the position in a graph, that needs the key. For error messages.
    func destination(
        _ relationship: RelationshipLayout, _ layout: ModelLayout, _ location: @autoclosure () -> String
    ) throws(DataSourceError) -> Int {
        if let column = columns[relationship.destination] { return column }
        let name = layout.entities[relationship.destination].name
        throw DataSourceError(
            .invalidGraph,
            "\(location()) leads to \(name), which has no attribute with a uniqueness constraint of its own. Choose an attribute: keys: [\"\(name)\": ...].",
            entityName: name)
    }
}
