/// A thing of a model with its name and its renaming identifier, which is the name if there is none.
struct Named<Name: Hashable> {
    let name: Name
    let identifier: Name
}

/// Which things of a new model are which of an old one.
///
/// What has the same name and identifier is the same; then what has the same identifier, then what has the name of an old
/// one for its identifier, then what has the same name. So one identifier kept along a chain of versions leads from any
/// of them to any later one.
struct NameMatching {
    /// The position of the old thing by that of the new one. No old one is there twice.
    private(set) var pairs: [Int: Int] = [:]
    /// Positions of new things of which both say that they were the same old one.
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
