internal import ManagedModel

/// A set of names, in which each name is used only once.
struct NameScope {
    /// Taken names that many scopes share. They are never copied.
    private let shared: Set<String>
    private var taken: Set<String>

    init(taken: Set<String> = [], _ further: [String] = []) {
        shared = taken
        self.taken = Set(further)
    }

    func isTaken(_ name: String) -> Bool { shared.contains(name) || taken.contains(name) }

    /// Claims a name. If the name is taken, claims the name with a number at its end. The number is the lowest number
    /// from 2 on that results in a free name.
    mutating func claim(_ name: String) -> String {
        var claimed = name
        var number = 2
        while shared.contains(claimed) || !taken.insert(claimed).inserted {
            claimed = "\(name)\(number)"
            number += 1
        }
        return claimed
    }

    /// Claims a free name for each element. Exact names are claimed first, so that `a_b` keeps its name even if `a b` precedes
    /// it.
    mutating func claim(each wanted: [(name: String, isExact: Bool)]) -> [String] {
        var claimed = wanted.map(\.name)
        for exact in [true, false] {
            for (index, one) in wanted.enumerated() where one.isExact == exact { claimed[index] = claim(one.name) }
        }
        return claimed
    }
}

/// Decides which owner gets a name if several owners claim it.
///
/// The decision does not depend on the order in the model, because a new entity must not take the name of an older entity.
struct NameClaims {
    struct Claim: Hashable {
        /// The name of the entity or composite.
        let owner: String
        let wanted: String
        /// Whether the model spells the name in exactly this way.
        let isExact: Bool
    }

    /// The name that each owner gets.
    private(set) var names: [String: String] = [:]
    /// Groups of claims for the same name. The name of a group is already taken, or several owners claim the name.
    private(set) var contested: [[Claim]] = []

    /// - Parameters:
    ///   - scope: The taken names. The names that owners get are added to the scope.
    ///   - first: Returns the owner with precedence among several owners that claim one name; nil if no owner has
    ///     precedence.
    init(_ claims: [Claim], in scope: inout NameScope, first: ([String]) -> String? = { _ in nil }) {
        let groups = Dictionary(grouping: claims, by: \.wanted).sorted { $0.key < $1.key }
        var rest: [Claim] = []
        for (name, group) in groups {
            let holder = scope.isTaken(name) ? nil : NameClaims.holder(of: name, group, first)
            if let holder { names[holder.owner] = scope.claim(name) }
            if holder == nil || group.count > 1 { contested.append(group) }
            rest += group.filter { $0 != holder }
        }
        for claim in rest {
            names[claim.owner] = scope.claim("\(claim.wanted)_\(Identifier.sanitized(claim.owner))")
        }
    }

    /// Returns the claim that gets the name. The rules in their order: the only claim, the only exact claim, the claim of the
    /// owner with that name, the claim of the owner with precedence.
    private static func holder(of name: String, _ group: [Claim], _ first: ([String]) -> String?) -> Claim? {
        if group.count == 1 { return group[0] }
        let exact = group.filter(\.isExact)
        if exact.count == 1 { return exact[0] }
        if let namesake = exact.first(where: { $0.owner == name }) { return namesake }
        return first(exact.map(\.owner)).flatMap { owner in exact.first { $0.owner == owner } }
    }
}

/// The Swift names of all entities and composites of a model.
struct TypeNames: Sendable, Hashable {
    /// The class of each entity, by entity name. An entity without a class name has no class if its code is manual.
    var classes: [String: String] = [:]
    /// The struct of each composite, by composite name.
    var structs: [String: String] = [:]
    /// Warnings for the author of the model, each in one or more sentences.
    private(set) var warnings: [String] = []

    init(of model: ManagedObjectModel) {
        // These classes claim their names first, because the author chose the names and writes the classes.
        for entity in model.entities where entity.codeGeneration != .class {
            guard let name = authoredName(of: entity) else { continue }
            if ReservedNames.cannotBeEscaped(name) {
                warnings.append(
                    "The entity \(entity.name) has the class \(name), but Swift does not allow a class with that name. No code is "
                        + "generated for the entity. Give the entity another class.")
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
                    let wanted = ReservedNames.type(Identifier.sanitized(composite.name))
                    return .init(owner: composite.name, wanted: wanted, isExact: wanted == composite.name)
                }, in: &scope
            ).names
    }

    /// The names of all classes and structs.
    var all: Set<String> { Set(classes.values).union(structs.values) }

    private func claim(_ entity: EntityDescription) -> NameClaims.Claim {
        let declared = declaredName(of: entity) ?? entity.name
        let wanted = ReservedNames.type(Identifier.sanitized(declared))
        return .init(owner: entity.name, wanted: wanted, isExact: wanted == declared)
    }

    /// The warning that several entities share a class. The warning names the generated classes.
    private func warning(_ group: [NameClaims.Claim]) -> String {
        let name = group[0].wanted
        let generated = Set(group.map(\.owner))
        let others = classes.filter { $0.value == name && !generated.contains($0.key) }.keys
        let owners = (generated.union(others)).sorted().joined(separator: ", ")
        let renamed = group.filter { classes[$0.owner] != name }.map {
            "\($0.owner) gets \(classes[$0.owner] ?? "")"
        }
        return "More than one entity has the class \(name): \(owners). Generated classes must differ: "
            + "\(renamed.sorted().joined(separator: ", ")). Give each entity a class of its own."
    }

    private func authoredName(of entity: EntityDescription) -> String? {
        let declared = declaredName(of: entity).map(Identifier.sanitized)
        return entity.codeGeneration == .category ? declared ?? Identifier.sanitized(entity.name) : declared
    }

    /// The class name in the model, without the module; nil if there is none, or for `NSManagedObject`.
    private func declaredName(of entity: EntityDescription) -> String? {
        guard let name = entity.className?.parts(separatedBy: ".", omittingEmpty: true).last, name != "NSManagedObject"
        else { return nil }
        return name
    }
}

extension ManagedObjectModel {
    /// The entity in the list from which all others in the list inherit; nil if there is none.
    func commonAncestor(_ names: [String]) -> String? {
        let lineages = names.compactMap { entity(named: $0) }.map { Set(lineage(of: $0).map(\.name)) }
        return names.first { name in lineages.allSatisfy { $0.contains(name) } }
    }
}
