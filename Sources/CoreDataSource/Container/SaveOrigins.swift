internal import RowStore

/// Which data sources' saves rest on each other, because a uniqueness constraint holds for objects of both: they have one
/// origin.
struct SaveOrigins {
    /// For each entity another one of the same origin, or itself.
    private var parents: [Int]
    private var sources: [(source: SaveSource, entity: Int)] = []

    init(_ layout: ModelLayout) {
        parents = Array(layout.entities.indices)
        for entity in layout.entities {
            for owner in entity.constraintOwners {
                for other in layout.entities[owner].concreteFamily { unite(entity.index, other) }
            }
        }
    }

    /// Adds a data source, and gives all of them their origins.
    mutating func join(_ source: SaveSource, _ entities: Set<Int>) {
        guard let first = entities.min() else { return }
        for entity in entities { unite(first, entity) }
        sources.append((source, first))
        // 0 is for saves of nobody.
        for (source, entity) in sources { source.origin = root(entity) + 1 }
    }

    private func root(_ entity: Int) -> Int {
        var entity = entity
        while parents[entity] != entity { entity = parents[entity] }
        return entity
    }

    private mutating func unite(_ one: Int, _ other: Int) {
        let (one, other) = (root(one), root(other))
        parents[max(one, other)] = min(one, other)
    }
}
