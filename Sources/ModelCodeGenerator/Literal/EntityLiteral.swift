internal import ManagedModel

extension Literal {
    static func entity(_ entity: EntityDescription) -> Literal {
        let codeGeneration = entity.codeGeneration == .manual ? nil : Literal.text(".\(entity.codeGeneration.rawValue)")
        return .call(
            "EntityDescription",
            [
                ("name", string(entity.name)),
                ("className", string(entity.className)),
                ("parentName", string(entity.parentName)),
                ("isAbstract", flag(entity.isAbstract)),
                ("attributes", list(entity.attributes, of: attribute)),
                ("relationships", list(entity.relationships, of: relationship)),
                ("fetchedProperties", list(entity.fetchedProperties, of: fetchedProperty)),
                ("indexes", list(entity.indexes, of: index)),
                ("uniquenessConstraints", list(entity.uniquenessConstraints) { .list($0.map { string($0) }) }),
                ("userInfo", userInfo(entity.userInfo)),
                ("versionHashModifier", string(entity.versionHashModifier)),
                ("renamingIdentifier", string(entity.renamingIdentifier)),
                ("codeGeneration", codeGeneration),
            ])
    }

    private static func relationship(_ relationship: RelationshipDescription) -> Literal {
        .call(
            "RelationshipDescription",
            [
                ("name", string(relationship.name)),
                ("destinationName", string(relationship.destinationName)),
                ("inverseName", string(relationship.inverseName)),
                ("isToMany", flag(relationship.isToMany)),
                ("isOrdered", flag(relationship.isOrdered)),
                ("isOptional", flag(relationship.isOptional)),
                ("isTransient", flag(relationship.isTransient)),
                ("minimumCount", number(relationship.minimumCount)),
                ("maximumCount", number(relationship.maximumCount, unless: relationship.isToMany ? 0 : 1)),
                ("deleteRule", relationship.deleteRule == .nullify ? nil : .text(".\(relationship.deleteRule)")),
                ("versionHashModifier", string(relationship.versionHashModifier)),
                ("renamingIdentifier", string(relationship.renamingIdentifier)),
                ("userInfo", userInfo(relationship.userInfo)),
            ])
    }

    private static func index(_ index: FetchIndexDescription) -> Literal {
        let elements = index.elements.map { element in
            call(
                "FetchIndexDescription.Element",
                [("property", string(element.property)), ("isAscending", flag(element.isAscending, unless: true))])
        }
        return .call(
            "FetchIndexDescription",
            [
                ("name", string(index.name)), ("elements", .list(elements)),
                ("isCompound", flag(index.isCompound)),
            ])
    }

    private static func fetchedProperty(_ property: FetchedPropertyDescription) -> Literal {
        .call(
            "FetchedPropertyDescription",
            [
                ("name", string(property.name)),
                ("isOptional", flag(property.isOptional)),
                ("fetchRequest", fetchRequest(property.fetchRequest)),
                ("userInfo", userInfo(property.userInfo)),
            ])
    }
}
