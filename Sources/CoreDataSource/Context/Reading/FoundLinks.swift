internal import RowStore

/// Links of one relationship, from the rows that store them.
struct FoundLinks {
    private var links: [(owner: LinkEnd, position: Int64, end: LinkEnd)] = []

    var count: Int { links.count }

    /// The ends of all links, without duplicates.
    var ends: Set<LinkEnd> { Set(links.lazy.map(\.end)) }

    /// Adds the links in rows of a source. Links with an invalid end and links of other owners are left out.
    ///
    /// - Parameter owners: The possible entities of the owners.
    mutating func add(_ rows: [StoredRow], of source: LinkSource, owners: [Int]) {
        for stored in rows {
            guard let owner = stored.row.end(source.ownerColumns, owners), let end = source.end(stored) else {
                continue
            }
            let position = source.position.map { stored.row.isNull($0) ? Int64.min : stored.row.integer($0) }
            links.append((owner, position ?? 0, end))
        }
    }

    /// Keeps only the links to the given ends.
    mutating func keep(_ ends: Set<LinkEnd>) { links.removeAll { !ends.contains($0.end) } }

    /// Returns the ends of each owner, in the order of the relationship.
    ///
    /// - Parameter mayHaveDoubleLinks: Whether an owner can have two links to the same end. The result contains such an
    ///   end once.
    consuming func byOwner(mayHaveDoubleLinks: Bool) -> [LinkEnd: [LinkEnd]] {
        if links.isEmpty { return [:] }
        links.sort { ($0.position, $0.end.key, $0.end.entity) < ($1.position, $1.end.key, $1.end.entity) }
        let ends = Dictionary(grouping: links, by: \.owner).mapValues { $0.map(\.end) }
        guard mayHaveDoubleLinks else { return ends }
        return ends.mapValues { ends in
            var seen: Set<LinkEnd> = []
            return ends.filter { seen.insert($0).inserted }
        }
    }
}
