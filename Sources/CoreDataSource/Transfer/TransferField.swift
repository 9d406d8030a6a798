internal import ManagedModel
internal import RowStore

/// A property of an entity's objects, as a graph names it.
struct TransferField {
    enum Kind {
        case attribute(column: Int, AttributeDescription)
        case composite([TransferField])
        /// By its index among those of the entity.
        case relationship(Int)
        /// A property that a graph does not contain, and why.
        case excluded(String)
    }

    let name: String
    let kind: Kind

    /// The properties of an entity, inherited ones first.
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
    /// Whether a graph has the links on this side: each link once, unless both sides have an order or another property of their
    /// own.
    var isExported: Bool {
        switch storage {
        case .column: true
        case .inverseColumn: isToMany && description.isOrdered
        case .pairs(let pairs):
            // The side of the links' own sources, or the ordered side.
            inverse == nil || isSymmetric || description.isOrdered || pairs.own.key == 0 && pairs.own.position == nil
        case .none: false
        }
    }
}
