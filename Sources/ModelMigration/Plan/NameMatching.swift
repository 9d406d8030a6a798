internal import ManagedModel

/// An element of a model, with its name and its renaming identifier.
struct Named<Name: Hashable>: Hashable {
    let name: Name
    /// Nil if it has none, which says less than its own name would: see ``NameMatching``.
    let identifier: Name?
}

/// Which elements of a new model correspond to which of an old one.
///
/// What somebody wrote goes before what is so by chance. They are matched in this order: by an identifier that is the element's own
/// name; by the same name and identifier; by the same identifier; by an identifier that is the name of an old element; by the same
/// name; by a name that is the identifier of an old element, which got its first name back. So one identifier kept along a chain of
/// versions leads from any of them to any later one, also if its name has been given to a new element since.
struct NameMatching {
    /// The position of the old element by that of the new one. No old element is listed twice.
    private(set) var pairs: [Int: Int] = [:]
    /// Positions of new elements that both claim the same old one.
    private(set) var rivals: [(Int, Int)] = []
    /// Positions of new elements whose identifier fits two old elements, or whose identifier and name lead to two that may both have
    /// stayed.
    private(set) var riddles: [Int] = []

    /// Whether nobody can understand the names in another way.
    var isClear: Bool { rivals.isEmpty && riddles.isEmpty }

    /// - Parameter known: The names of old elements by those of new ones, if the versions between the models say them. They decide
    ///   alone.
    init<Name: Hashable>(from old: [Named<Name>], to new: [Named<Name>], known: [Name: Name]? = nil) {
        let before = OldNames(old)
        if let known {
            for (position, thing) in new.enumerated() {
                pairs[position] = known[thing.name].flatMap { before.names[$0] }
            }
            return
        }
        let now = NewNames(new)
        var taken: Set<Int> = []
        let passes: [(Named<Name>) -> Int?] = [
            { thing in thing.identifier == thing.name ? before.names[thing.name] : nil },
            { thing in
                thing.identifier.flatMap { identifier in
                    before.names[thing.name].flatMap { old[$0].identifier == identifier ? $0 : nil }
                }
            },
            { thing in
                thing.identifier.flatMap { before.identifiers[$0] }.flatMap { match in
                    // Somebody else claims that one, so the identifier is the name of one that is renamed now.
                    before.fitsTwo(thing.identifier) && now.identifiers.contains(old[match].name) ? nil : match
                }
            },
            { $0.identifier.flatMap { before.names[$0] } },
            { before.names[$0.name] },
            { before.identifiers[$0.name] },
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
        riddles = new.indices.filter { isRiddle($0, from: old, to: new, before: before, now: now, taken: taken) }
    }

    private func isRiddle<Name: Hashable>(
        _ position: Int, from old: [Named<Name>], to new: [Named<Name>], before: OldNames<Name>, now: NewNames<Name>,
        taken: Set<Int>
    ) -> Bool {
        guard let match = pairs[position], let identifier = new[position].identifier,
            identifier != new[position].name, old[match].name != new[position].name
        else { return false }
        if old[match].name != identifier {
            // It is the one that was called so first. Then the one that is called so stays, and its present name is free.
            return before.fitsTwo(identifier)
                && (!now.plain.contains(identifier) || now.plain.contains(old[match].name))
        }
        // It is the one that is called so. Then the old one of its name must not be what has the identifier as its name now.
        guard let own = before.names[new[position].name] else { return false }
        return !taken.contains(own) && now.plain.contains(identifier)
    }
}

/// The names of old elements.
private struct OldNames<Name: Hashable> {
    let names: [Name: Int]
    let identifiers: [Name: Int]

    init(_ elements: [Named<Name>]) {
        names = Dictionary(elements.enumerated().map { ($1.name, $0) }) { first, _ in first }
        let identified = elements.enumerated().compactMap { position, element in
            element.identifier.map { ($0, position) }
        }
        identifiers = Dictionary(identified) { first, _ in first }
    }

    /// Whether an identifier is the name of one old element, and the identifier of another one.
    func fitsTwo(_ identifier: Name?) -> Bool {
        guard let identifier, let named = names[identifier], let identified = identifiers[identifier] else {
            return false
        }
        return named != identified
    }
}

/// The names of new elements.
private struct NewNames<Name: Hashable> {
    /// Of those without an identifier.
    let plain: Set<Name>
    let identifiers: Set<Name>

    init(_ elements: [Named<Name>]) {
        plain = Set(elements.lazy.filter { $0.identifier == nil }.map(\.name))
        identifiers = Set(elements.lazy.compactMap(\.identifier))
    }
}
