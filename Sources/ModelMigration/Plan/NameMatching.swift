package import ManagedModel

/// An element of a model, with its name and its renaming identifier, which is the name if there is none.
struct Named<Name: Hashable> {
    let name: Name
    let identifier: Name
}

/// Which entities of a new model correspond to which of an old one.
package enum EntityNames {
    /// The renaming identifiers of a model's entities that have one, by their names.
    package static func identifiers(of model: ManagedObjectModel) -> [String: String] {
        model.entities.reduce(into: [:]) { identifiers, entity in
            if let identifier = entity.renamingIdentifier { identifiers[entity.name] = identifier }
        }
    }

    /// The new names of the entities of an old model, by their old ones, without those that are gone.
    ///
    /// - Parameter new: The names and the renaming identifiers of the new entities.
    package static func matches(
        _ old: ManagedObjectModel, _ new: [(name: String, identifier: String)]
    ) -> [String: String] {
        let matching = NameMatching(
            from: old.entities.map { Named(name: $0.name, identifier: $0.renamingIdentifier ?? $0.name) },
            to: new.map { Named(name: $0.name, identifier: $0.identifier) })
        return matching.pairs.reduce(into: [:]) { $0[old.entities[$1.value].name] = new[$1.key].name }
    }
}

/// Which elements of a new model correspond to which of an old one.
///
/// Matched in this order: the same name and identifier; the same identifier; an identifier that is the name of an old element;
/// the same name. So one identifier kept along a chain of versions leads from any of them to any later one.
struct NameMatching {
    /// The position of the old element by that of the new one. No old element is listed twice.
    private(set) var pairs: [Int: Int] = [:]
    /// Positions of new elements that both claim the same old one.
    private(set) var rivals: [(Int, Int)] = []

    init<Name: Hashable>(from old: [Named<Name>], to new: [Named<Name>]) {
        let names = Dictionary(old.enumerated().map { ($1.name, $0) }) { first, _ in first }
        let identifiers = Dictionary(old.enumerated().map { ($1.identifier, $0) }) { first, _ in first }
        var taken: Set<Int> = []
        let passes: [(Named<Name>) -> Int?] = [
            { thing in names[thing.name].flatMap { old[$0].identifier == thing.identifier ? $0 : nil } },
            { identifiers[$0.identifier] },
            { names[$0.identifier] },
            { names[$0.name] },
        ]
        for find in passes {
            var found: [Int: Int] = [:]
            for (position, thing) in new.enumerated() where pairs[position] == nil {
                guard let match = find(thing), !taken.contains(match) else { continue }
                if let rival = found[match] {
                    rivals.append((rival, position))
                } else {
                    found[match] = position
                }
            }
            for (match, position) in found {
                pairs[position] = match
                taken.insert(match)
            }
        }
    }
}
