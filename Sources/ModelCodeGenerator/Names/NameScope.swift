/// A set of names that must be different from each other.
struct NameScope {
    private var taken: Set<String>

    init(taken: Set<String> = []) {
        self.taken = taken
    }

    func isTaken(_ name: String) -> Bool { taken.contains(name) }

    /// The name if it is free, otherwise the name with the lowest number from 2 on that is free.
    mutating func claim(_ name: String) -> String {
        var claimed = name
        var number = 2
        while !taken.insert(claimed).inserted {
            claimed = "\(name)\(number)"
            number += 1
        }
        return claimed
    }

    /// Claims a free name for each. Names that are already identifiers go first, so that `a_b` keeps its name even if an `a b`
    /// comes before it.
    mutating func claim(each wanted: [(name: String, isExact: Bool)]) -> [String] {
        var claimed = wanted.map(\.name)
        for exact in [true, false] {
            for (index, one) in wanted.enumerated() where one.isExact == exact { claimed[index] = claim(one.name) }
        }
        return claimed
    }
}
