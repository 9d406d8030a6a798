internal import ManagedModel

/// The Swift names of everything in a model that has a type: entities and composites.
struct TypeNames: Sendable, Hashable {
    /// The class of each entity, by the entity's name. None for an entity whose code is manual and which names no class.
    var classes: [String: String] = [:]
    /// The struct of each composite, by the composite's name.
    var structs: [String: String] = [:]
    /// What the author of the model should know, in whole sentences.
    private(set) var warnings: [String] = []

    init(of model: ManagedObjectModel) {
        // The classes that the author writes have the names that the author gave them, so they come first.
        for entity in model.entities where entity.codeGeneration != .class {
            guard let name = authoredName(of: entity) else { continue }
            if ReservedNames.isImpossible(name) {
                warnings.append(
                    "The entity \(entity.name) is of the class \(name), which Swift allows no class to be called. No code is "
                        + "generated for it: give it another class.")
            } else {
                classes[entity.name] = name
            }
        }
        var scope = NameScope(taken: Set(classes.values))
        let generated = model.entities.filter { $0.codeGeneration == .class }
        let claims = NameClaims(generated.map(claim), in: &scope, first: model.commonAncestor)
        classes.merge(claims.names) { $1 }
        for group in claims.contested { warnings.append(warning(group)) }
        structs =
            NameClaims(
                model.composites.map { composite in
                    let wanted = ReservedNames.type(Identifier.sanitised(composite.name))
                    return .init(owner: composite.name, wanted: wanted, isExact: wanted == composite.name)
                }, in: &scope
            ).names
    }

    /// Every name of a class or a struct.
    var all: Set<String> { Set(classes.values).union(structs.values) }

    private func claim(_ entity: EntityDescription) -> NameClaims.Claim {
        let declared = declaredName(of: entity) ?? entity.name
        let wanted = ReservedNames.type(Identifier.sanitised(declared))
        return .init(owner: entity.name, wanted: wanted, isExact: wanted == declared)
    }

    /// Says that entities ask for one class, and what theirs are called.
    private func warning(_ group: [NameClaims.Claim]) -> String {
        let name = group[0].wanted
        let generated = Set(group.map(\.owner))
        let others = classes.filter { $0.value == name && !generated.contains($0.key) }.keys
        let owners = (generated.union(others)).sorted().joined(separator: ", ")
        let renamed = group.filter { classes[$0.owner] != name }.map {
            "that of \($0.owner) is \(classes[$0.owner] ?? "")"
        }
        return "More than one entity is of the class \(name): \(owners). Generated classes must differ: "
            + "\(renamed.sorted().joined(separator: ", ")). Give each entity a class of its own."
    }

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

extension ManagedObjectModel {
    /// The one of some entities that all of them are or inherit from; nil if there is none.
    func commonAncestor(_ names: [String]) -> String? {
        let lineages = names.compactMap { entity(named: $0) }.map { Set(lineage(of: $0).map(\.name)) }
        return names.first { name in lineages.allSatisfy { $0.contains(name) } }
    }
}
