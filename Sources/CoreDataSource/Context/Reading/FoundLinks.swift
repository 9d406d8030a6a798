internal import RowStore

/// Links of one relationship, from the rows that store them.
struct FoundLinks {
    private var links: [(owner: LinkEnd, position: Int64, end: LinkEnd)] = []

    var count: Int { links.count }

    /// The ends of all links, without duplicates.
    var ends: Set<LinkEnd> { Set(links.lazy.map(\.end)) }

    /// Adds the links in rows of a source. Links with an invalid end are left out.
    mutating func add(_ rows: [StoredRow], of source: LinkSource) {
        for stored in rows {
            guard let end = source.end(stored) else { continue }
            let position = source.position.map { stored.row.isNull($0) ? Int64.min : stored.row.integer($0) }
            let entity = source.ownerEntity.map { stored.row.isNull($0) ? -1 : Int(stored.row.integer($0)) }
            let owner = LinkEnd(entity: entity ?? EndsByOwner.anyEntity, key: stored.row.integer(source.owner))
            links.append((owner, position ?? 0, end))
        }
    }

    /// Removes the links to all other ends.
    mutating func keep(_ ends: Set<LinkEnd>) { links.removeAll { !ends.contains($0.end) } }

    /// Returns the ends of each owner, in the order of the relationship.
    ///
    /// - Parameter mayHaveDoubleLinks: Whether an owner can have two links to the same end. The ends contain it once.
    consuming func byOwner(mayHaveDoubleLinks: Bool) -> EndsByOwner {
        if links.isEmpty { return EndsByOwner([:]) }
        links.sort { ($0.position, $0.end.key, $0.end.entity) < ($1.position, $1.end.key, $1.end.entity) }
        let ends = Dictionary(grouping: links, by: \.owner).mapValues { $0.map(\.end) }
        guard mayHaveDoubleLinks else { return EndsByOwner(ends) }
        return EndsByOwner(
            ends.mapValues { ends in
                var seen: Set<LinkEnd> = []
                return ends.filter { seen.insert($0).inserted }
            })
    }
}

/// The ends of the links of one relationship, by the owners of the links.
///
/// Objects of two entities can have the same key. So links contain the entity of their owner if owners can have several
/// entities.
struct EndsByOwner {
    private let ends: [LinkEnd: [LinkEnd]]
    private let hasEntities: Bool

    /// The entity of the owners if links do not contain it.
    static let anyEntity = -2

    fileprivate init(_ ends: [LinkEnd: [LinkEnd]]) {
        self.ends = ends
        hasEntities = ends.keys.first?.entity != EndsByOwner.anyEntity
    }

    /// The ends of an owner; empty if it has no links.
    subscript(_ owner: LinkEnd) -> [LinkEnd] {
        ends[hasEntities ? owner : LinkEnd(entity: EndsByOwner.anyEntity, key: owner.key)] ?? []
    }
}
