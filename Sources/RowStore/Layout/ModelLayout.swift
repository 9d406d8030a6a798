package import ManagedModel

/// The layouts of all entities of a model, in the order of their names. A position in it is the entity's number.
package final class ModelLayout: Sendable {
    package let model: ManagedObjectModel
    package let entities: [EntityLayout]
    /// Told of stored values that are none of their attribute's type.
    package let damage = DamagedValues()
    private let indexesByName: [String: Int]

    /// - Parameter model: A model that was checked: its names are unique and its references lead somewhere.
    package init(_ model: ManagedObjectModel) {
        self.model = model
        let indexes = Dictionary(model.entities.enumerated().map { ($1.name, $0) }) { first, _ in first }
        indexesByName = indexes
        entities = model.entities.enumerated().map { [damage] index, entity in
            let descriptions = model.columns(of: entity)
            let columns = descriptions.map(ColumnLayout.init)
            let positions = Dictionary(columns.enumerated().map { ($1.name, $0) }) { first, _ in first }
            let lineage = Array(model.lineage(of: entity).reversed())
            let constraints = lineage.flatMap { ancestor in
                ancestor.uniquenessConstraints.map { names in
                    (owner: indexes[ancestor.name] ?? index, columns: names.compactMap { positions[$0] })
                }
            }.filter { !$0.columns.isEmpty }
            return EntityLayout(
                index: index, entity: entity, columns: columns, constraints: constraints.map(\.columns),
                constraintOwners: constraints.map(\.owner),
                concreteFamily: model.family(ofEntityNamed: entity.name).filter { !$0.isAbstract }
                    .compactMap { indexes[$0.name] },
                relationships: Set(lineage.flatMap { $0.relationships.map(\.name) }),
                indexedColumns: Set(
                    constraints.compactMap(\.columns.first)
                        + lineage.flatMap(\.indexes).compactMap { $0.elements.first.flatMap { positions[$0.property] } }
                        + descriptions.indices.filter { descriptions[$0].isIndexed && columns[$0].isStored }),
                damage: damage)
        }
    }

    /// The layout of the entity of that name, or nil.
    package func entity(named name: String) -> EntityLayout? {
        indexesByName[name].map { entities[$0] }
    }
}

extension ColumnDescription {
    /// Whether the column has an index of its own: by the legacy flag, or to find the sources of a to-one relationship.
    package var isIndexed: Bool {
        switch role {
        case .attribute(let attribute): attribute.isIndexed
        case .destinationKey: true
        case .destinationEntity: false
        }
    }
}
