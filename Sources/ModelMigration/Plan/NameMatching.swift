internal import ManagedModel

/// An element of a model, given by its name and its renaming identifier.
struct NameKey<Name: Hashable>: Hashable {
    let name: Name
    /// The renaming identifier; nil if there is none. An identifier that equals the name is kept, because ``NameMatching`` has
    /// a special rule for this case.
    let identifier: Name?
}

/// Matches the elements of a new model with the elements of an old model.
///
/// Identifiers take precedence over names: an author wrote the identifiers, but equal names can be a coincidence. The
/// rules are applied in this order, each to all new elements that the earlier rules have not matched:
/// 1. If the new identifier equals the new name, match the old element with that name.
/// 2. Match the old element with the same name and the same identifier.
/// 3. Match the old element with the same identifier.
/// 4. Match the old element whose name is the new identifier.
/// 5. Match the old element with the same name.
/// 6. Match the old element whose identifier is the new name. In this case, the element has gone back to its first name.
///
/// If every version keeps the identifier, the identifier leads from each version to each later version, even if a new element
/// has taken the old name.
struct NameMatching {
    /// The indexes of old elements, by the indexes of the new elements. No old element occurs twice.
    private(set) var pairs: [Int: Int] = [:]
    /// The indexes of two new elements that match the same old element.
    private(set) var conflicts: [(Int, Int)] = []
    /// The indexes of new elements whose old element is ambiguous. There are two cases. In the first case, the identifier fits
    /// two old elements. In the second case, the identifier leads to one old element, the name leads to another one, and the
    /// new model has an element with the name of each of these two.
    private(set) var ambiguous: [Int] = []

    /// Whether only one matching is possible.
    var isUnambiguous: Bool { conflicts.isEmpty && ambiguous.isEmpty }

    /// - Parameter known: The old name of each new name, if these names are known from the versions between the old and the new
    ///   model. Then no rules are applied.
    init<Name: Hashable>(from old: [NameKey<Name>], to new: [NameKey<Name>], known: [Name: Name]? = nil) {
        let oldNames = OldNames(old)
        if let known {
            for (position, element) in new.enumerated() {
                pairs[position] = known[element.name].flatMap { oldNames.names[$0] }
            }
            return
        }
        let newNames = NewNames(new)
        var taken: Set<Int> = []
        for find in NameMatching.passes(old, oldNames, newNames) {
            var found: [Int: Int] = [:]
            for (position, element) in new.enumerated() where pairs[position] == nil {
                guard let match = find(element), !taken.contains(match) else { continue }
                if let previousPosition = found[match] {
                    conflicts.append((previousPosition, position))
                } else {
                    found[match] = position
                }
            }
            for (match, position) in found {
                pairs[position] = match
                taken.insert(match)
            }
        }
        ambiguous = new.indices.filter {
            isAmbiguous($0, from: old, to: new, oldNames: oldNames, newNames: newNames, taken: taken)
        }
    }

    /// Returns the rules in their order. Each rule finds the old element for a new element.
    private static func passes<Name: Hashable>(
        _ old: [NameKey<Name>], _ oldNames: OldNames<Name>, _ newNames: NewNames<Name>
    ) -> [(NameKey<Name>) -> Int?] {
        [
            { element in element.identifier == element.name ? oldNames.names[element.name] : nil },
            { element in
                element.identifier.flatMap { identifier in
                    oldNames.names[element.name].flatMap { old[$0].identifier == identifier ? $0 : nil }
                }
            },
            { element in
                element.identifier.flatMap { oldNames.identifiers[$0] }.flatMap { match in
                    // Two old elements can fit the identifier: `match` by its identifier, and another one by its name. If
                    // a new element has the name of `match` as its identifier, leave `match` to that new element. For the
                    // element at hand, rule 4 then finds the other old element.
                    oldNames.hasTwoMatches(element.identifier) && newNames.identifiers.contains(old[match].name)
                        ? nil : match
                }
            },
            { $0.identifier.flatMap { oldNames.names[$0] } },
            { oldNames.names[$0.name] },
            { oldNames.identifiers[$0.name] },
        ]
    }

    private func isAmbiguous<Name: Hashable>(
        _ position: Int, from old: [NameKey<Name>], to new: [NameKey<Name>], oldNames: OldNames<Name>,
        newNames: NewNames<Name>,
        taken: Set<Int>
    ) -> Bool {
        guard let match = pairs[position], let identifier = new[position].identifier,
            identifier != new[position].name, old[match].name != new[position].name
        else { return false }
        if old[match].name != identifier {
            // The match has the same identifier, which can also be the name of another old element. In that case, the match
            // is ambiguous under one of two conditions. The first is that no new element without an identifier has this name.
            // The second is that a new element without an identifier has the name of the match.
            return oldNames.hasTwoMatches(identifier)
                && (!newNames.plain.contains(identifier) || newNames.plain.contains(old[match].name))
        }
        // The identifier is the name of the match. The match is ambiguous if two conditions hold. The first is that the
        // identifier is also the name of a new element without an identifier. The second is that an unmatched old element has
        // the name of the element at `position`.
        guard let own = oldNames.names[new[position].name] else { return false }
        return !taken.contains(own) && newNames.plain.contains(identifier)
    }
}

/// The names of old elements.
private struct OldNames<Name: Hashable> {
    let names: [Name: Int]
    let identifiers: [Name: Int]

    init(_ elements: [NameKey<Name>]) {
        names = Dictionary(elements.enumerated().map { ($1.name, $0) }) { first, _ in first }
        let identified = elements.enumerated().compactMap { position, element in
            element.identifier.map { ($0, position) }
        }
        identifiers = Dictionary(identified) { first, _ in first }
    }

    /// Returns whether an identifier is the name of one old element, and the identifier of another old element.
    func hasTwoMatches(_ identifier: Name?) -> Bool {
        guard let identifier, let named = names[identifier], let identified = identifiers[identifier] else {
            return false
        }
        return named != identified
    }
}

/// The names of new elements.
private struct NewNames<Name: Hashable> {
    /// The names of the new elements that have no identifier.
    let plain: Set<Name>
    let identifiers: Set<Name>

    init(_ elements: [NameKey<Name>]) {
        plain = Set(elements.lazy.filter { $0.identifier == nil }.map(\.name))
        identifiers = Set(elements.lazy.compactMap(\.identifier))
    }
}
