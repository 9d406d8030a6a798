internal import RowStore

/// Which data sources' saves depend on each other, because a uniqueness constraint covers objects of both: they have one
/// origin. Two data sources also get one origin with the first save over both of them.
struct SaveOrigins {
    /// For each entity another entity of the same origin, or the entity itself.
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

    /// Adds a data source, and gives every data source its origin.
    mutating func join(_ source: SaveSource, _ entities: Set<Int>) {
        guard let first = entities.min() else { return }
        for entity in entities { unite(first, entity) }
        sources.append((source, first))
        _ = assign()
    }

    /// Gives data sources one origin.
    ///
    /// - Returns: The new origin for each old one that has changed.
    mutating func unite(_ united: [SaveSource]) -> [Int: Int] {
        let entities = sources.filter { entry in united.contains { $0 === entry.source } }.map(\.entity)
        guard let first = entities.first else { return [:] }
        for entity in entities.dropFirst() { unite(first, entity) }
        return assign()
    }

    /// - Returns: The new origin for each old one that has changed.
    private func assign() -> [Int: Int] {
        var moved: [Int: Int] = [:]
        for (source, entity) in sources {
            // 0 marks saves that belong to no data source.
            let (old, new) = (source.origin, root(entity) + 1)
            if old == new { continue }
            if old != 0 { moved[old] = new }
            source.origin = new
        }
        return moved
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
