/// A relationship of an entity, by the index of the entity and the index of the relationship in the layout of the entity.
struct EntityRelationship: Hashable {
    let entity: Int
    let relationship: Int
}

/// A cache of the links of to-many relationships that a context has read. The links of an object stay in the cache until one of
/// them changes.
struct RelatedCache {
    /// Destinations that were read for a group. They are kept alive as long as the group exists.
    private struct Kept {
        weak var group: FetchGroup?
        let objects: [ManagedObject]
    }

    private var ends: [EntityRelationship: [Int64: [LinkEnd]]] = [:]
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

    var hasCachedEnds: Bool { !ends.isEmpty }

    subscript(_ key: EntityRelationship, _ owner: Int64) -> [LinkEnd]? { ends[key]?[owner] }

    mutating func insert(_ found: [Int64: [LinkEnd]], _ key: EntityRelationship) {
        let added = found.values.reduce(found.count) { $0 + $1.count }
        if count + added > RelatedCache.limit { removeEnds() }
        count += added
        for (owner, own) in found { ends[key, default: [:]][owner] = own }
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
    mutating func removeEnds(of owners: [Int64]) {
        for key in ends.keys {
            for owner in owners {
                if let removed = ends[key]?.removeValue(forKey: owner) { count -= removed.count + 1 }
            }
        }
    }

    private mutating func removeEnds() {
        guard count > 0 || !ends.isEmpty else { return }
        ends = [:]
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
