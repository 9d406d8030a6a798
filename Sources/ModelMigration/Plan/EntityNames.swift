package import ManagedModel

/// What a model says about the names that its entities had before.
package struct EntityNames: Sendable, Hashable {
    private let identifiers: [String: String]
    private let earlierVersions: [EarlierVersion]

    package init(of model: ManagedObjectModel) {
        identifiers = model.entities.reduce(into: [:]) { $0[$1.name] = $1.renamingIdentifier }
        earlierVersions = model.earlierVersions
    }

    /// The names are all that is known.
    package init() {
        identifiers = [:]
        earlierVersions = []
    }

    /// The new names of the entities of an old model, by their old ones, without those that are gone.
    ///
    /// - Parameter new: The names of the new entities, in a fixed order.
    package func matches(from old: ManagedObjectModel, to new: [String]) -> [String: String] {
        let hash = old.hash.description
        let matching = NameMatching(
            from: old.entities.map(\.named), to: new.map { Named(name: $0, identifier: identifiers[$0]) },
            known: earlierVersions.version(withHash: hash)?.entityNames)
        return matching.pairs.reduce(into: [:]) { $0[old.entities[$1.value].name] = new[$1.key] }
    }
}

extension [EarlierVersion] {
    /// What the versions between two models say about the older one; nil if they say nothing.
    func version(withHash hash: String) -> EarlierVersion? { first { $0.hashes.contains(hash) } }
}

extension EarlierVersion {
    /// The old paths of an entity's leaves by the new ones; nil if names and identifiers decide.
    func leafNames(in entityName: String) -> [[String]: [String]]? {
        propertyNames[entityName].map { names in
            names.reduce(into: [:]) { $0[$1.key.parts(separatedBy: ".")] = $1.value.parts(separatedBy: ".") }
        }
    }
}
