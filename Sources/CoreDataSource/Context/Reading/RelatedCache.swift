/// Identifies a relationship by the index of its entity, and by its own index in the layout of the entity.
struct EntityRelationship: Hashable {
    let entity: Int
    let relationship: Int
}

/// A cache of the links of to-many relationships that a context has read. The links of an object stay in the cache until one of
/// these links changes.
struct RelatedCache {
    /// Destinations that were read for a group. They are kept alive as long as the group exists.
    private struct Kept {
        weak var group: FetchGroup?
        let objects: [ManagedObject]
    }

    /// The cached links by the key of the owner. Objects of different entities can have the same key.
    private var links: [Int64: OwnerLinks] = [:]
    private var kept: [Kept] = []
    /// Ends whose objects do not exist.
    private var missing: Set<LinkEnd> = []
    private var count = 0
    /// How often the whole cache was cleared.
    private(set) var removals = 0
    /// The last position that was assigned in each ordered relationship, by the key of the owner.
    private var lastPositions: [EntityRelationship: [Int64: Int64]] = [:]

    /// The largest number of ends in the cache.
    private static let limit = 1 << 20

    var hasCachedEnds: Bool { !links.isEmpty }

    /// The address of the storage of the cached links. If an edit changes the address, the edit has copied all cached links.
    /// For tests.
    var storage: Int { unsafeBitCast(links, to: Int.self) }

    subscript(_ key: EntityRelationship, _ owner: Int64) -> [LinkEnd]? { links[owner]?[key] }

    mutating func insert(_ found: [Int64: [LinkEnd]], _ key: EntityRelationship) {
        let added = found.values.reduce(found.count) { $0 + $1.count }
        if count + added > RelatedCache.limit { removeEnds() }
        count += added
        for (owner, ends) in found { count -= links[owner, default: OwnerLinks()].set(ends, key) }
    }

    /// Keeps objects alive as long as the group for which they were read exists.
    mutating func keep(_ objects: [ManagedObject], for group: FetchGroup) {
        if !objects.isEmpty { kept.append(Kept(group: group, objects: objects)) }
    }

    func isMissing(_ end: LinkEnd) -> Bool { missing.contains(end) }

    /// Records an end whose object does not exist, for example after a deletion with the rule No Action.
    mutating func recordMissing(_ end: LinkEnd) {
        if missing.count >= RelatedCache.limit { missing.removeAll() }
        missing.insert(end)
    }

    /// Releases the objects of groups that no longer exist.
    mutating func sweep() { kept.removeAll { $0.group == nil } }

    func lastPosition(_ key: EntityRelationship, _ owner: Int64) -> Int64? { lastPositions[key]?[owner] }

    mutating func setLastPosition(_ position: Int64, _ key: EntityRelationship, _ owner: Int64) {
        lastPositions[key, default: [:]][owner] = position
    }

    /// Forgets the links of the given owners, after a link has changed.
    ///
    /// **Complexity**: grows with the number of cached relationships of these owners. The number of cached owners does not
    /// matter.
    mutating func removeEnds(of owners: [Int64]) {
        for owner in owners {
            if let removed = links.removeValue(forKey: owner) { count -= removed.count }
        }
    }

    private mutating func removeEnds() {
        guard !links.isEmpty else { return }
        links = [:]
        count = 0
    }

    mutating func removeAll() {
        removals += 1
        removeEnds()
        kept.removeAll()
        missing.removeAll()
        if !lastPositions.isEmpty { lastPositions = [:] }
    }
}

/// The cached links of one owner, by relationship.
private struct OwnerLinks {
    private struct Links {
        let key: EntityRelationship
        let ends: [LinkEnd]

        /// The number of links, plus one for the owner, so that an owner without links counts, too.
        var count: Int { ends.count + 1 }
    }

    /// The links of the relationship that was read first. Few owners have more than one cached relationship, so only these
    /// owners need an array.
    private var first: Links?
    private var others: [Links] = []

    var count: Int { others.reduce(first?.count ?? 0) { $0 + $1.count } }

    subscript(_ key: EntityRelationship) -> [LinkEnd]? {
        if let first, first.key == key { return first.ends }
        return others.first { $0.key == key }?.ends
    }

    /// - Returns: The count of the replaced links; 0 if there are none.
    mutating func set(_ ends: [LinkEnd], _ key: EntityRelationship) -> Int {
        let new = Links(key: key, ends: ends)
        if first == nil || first?.key == key {
            defer { first = new }
            return first?.count ?? 0
        }
        guard let index = others.firstIndex(where: { $0.key == key }) else {
            others.append(new)
            return 0
        }
        defer { others[index] = new }
        return others[index].count
    }
}
