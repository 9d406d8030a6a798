internal import ManagedModel

/// The Swift names of everything in a model that has a type: entities and composites.
struct TypeNames: Sendable, Hashable {
    /// The class of each entity, by the entity's name. None for an entity whose code is manual and which names no class.
    var classes: [String: String] = [:]
    /// The struct of each composite, by the composite's name.
    var structs: [String: String] = [:]

    init(of model: ManagedObjectModel) {
        // The classes that the author writes have the names that the author gave them, so they come first.
        for entity in model.entities where entity.codeGeneration != .class {
            classes[entity.name] = authoredName(of: entity)
        }
        var scope = NameScope(taken: Set(classes.values))
        for entity in model.entities where entity.codeGeneration == .class {
            let name = Identifier.sanitised(declaredName(of: entity) ?? entity.name)
            classes[entity.name] = scope.claim(ReservedNames.type(name))
        }
        for composite in model.composites {
            structs[composite.name] = scope.claim(ReservedNames.type(Identifier.sanitised(composite.name)))
        }
    }

    /// Every name of a class or a struct.
    var all: Set<String> { Set(classes.values).union(structs.values) }

    private func authoredName(of entity: EntityDescription) -> String? {
        let declared = declaredName(of: entity).map(Identifier.sanitised)
        return entity.codeGeneration == .category ? declared ?? Identifier.sanitised(entity.name) : declared
    }

    /// The last component of the class that the model names, without the module; nil where that is the generic class.
    private func declaredName(of entity: EntityDescription) -> String? {
        guard let name = entity.className?.parts(separatedBy: ".", omittingEmpty: true).last, name != "NSManagedObject"
        else { return nil }
        return name
    }
}
