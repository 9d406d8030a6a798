package import ManagedModel

/// The properties of the classes and structs that are generated for a model.
package struct GeneratedProperties {
    package struct Property: Sendable {
        package let name: String
        package let isOptional: Bool
    }

    private var properties: [[String]: Property] = [:]
    private var omissions: [[String]: String] = [:]
    private var relationships: [[String]: String] = [:]
    private var classes: [String: String] = [:]

    package init(of model: ManagedObjectModel) {
        var model = model
        for index in model.entities.indices { model.entities[index].codeGeneration = .class }
        let plan = ModelPlan(for: model)
        for entity in plan.entities {
            let name = entity.entity.name
            add(entity.list, of: name)
            classes[name] = entity.className
            for relationship in entity.relationships.relationships {
                relationships[[name, relationship.relationshipName]] = relationship.name
            }
        }
        for composite in plan.composites {
            add(composite.list, of: composite.composite.name)
            classes[composite.composite.name] = composite.name
        }
    }

    private mutating func add(_ list: PropertyList, of owner: String) {
        for property in list.properties {
            properties[[owner, property.attributeName]] = Property(
                name: property.name, isOptional: property.type.isOptional)
        }
        for omission in list.omissions { omissions[[owner, omission.propertyName]] = omission.reason }
    }

    /// The property of an attribute; nil if there is none.
    package func property(of attribute: String, in owner: String) -> Property? { properties[[owner, attribute]] }

    /// The reason why an attribute has no property.
    package func omission(of attribute: String, in owner: String) -> String? { omissions[[owner, attribute]] }

    /// The name of a relationship's property; nil if there is none.
    package func property(ofRelationship relationship: String, in owner: String) -> String? {
        relationships[[owner, relationship]]
    }

    /// The name of the class or struct; nil if none is generated.
    package func typeName(of owner: String) -> String? { classes[owner] }
}
