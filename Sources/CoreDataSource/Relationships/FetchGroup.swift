/// Objects that were read together. What one of them leads to is read for all of them at once.
///
/// It holds no objects, so that it keeps none alive.
final class FetchGroup {
    private(set) var keys: [Int64] = []
    /// The entity of each object; one for all, if they are of the same.
    private var entities: [Int32] = []

    /// The most objects for which is read at once.
    static let window = 1000
    /// For how many objects to-many relationships are read at once; fewer where they have led to very many.
    var endWindow = FetchGroup.window

    private init() {}

    /// Makes the objects a group, if that is of any use.
    static func gather(_ objects: [ManagedObject]) {
        guard let first = objects.first, objects.count > 1 else { return }
        let isMixed = objects.contains { $0.layout !== first.layout }
        guard isMixed || !first.layout.relationships.isEmpty else { return }
        let group = FetchGroup()
        group.keys.reserveCapacity(objects.count)
        group.entities = isMixed ? objects.map { Int32($0.layout.index) } : [Int32(first.layout.index)]
        for object in objects {
            object.groupPlace = Int32(truncatingIfNeeded: group.keys.count)
            object.group = group
            group.keys.append(object.key)
        }
    }

    func entity(at place: Int) -> Int { Int(entities.count == 1 ? entities[0] : entities[place]) }

    /// The places near one, those that come after it first.
    func places(near place: Int, _ window: Int) -> some Sequence<Int> {
        let end = min(place + window, keys.count)
        let start = max(0, min(place, end - window))
        return [place..<end, start..<place].joined()
    }
}

/// One end of a link: the other object, by its entity's number and its key.
struct LinkEnd: Hashable {
    let entity: Int
    let key: Int64
}

/// What a context has read of to-many relationships, until a link changes.
struct RelatedCache {
    /// A relationship of an entity, by their numbers.
    struct Key: Hashable {
        let entity: Int
        let relationship: Int
    }

    /// What was read for the objects of a group.
    private struct Kept {
        weak var group: FetchGroup?
        let objects: [ManagedObject]
    }

    private var ends: [Key: [Int64: [LinkEnd]]] = [:]
    private var kept: [Kept] = []
    /// Ends without an object.
    private var missing: Set<LinkEnd> = []
    private var count = 0
    /// The last place that was given among the objects of an ordered relationship.
    private var lastPositions: [Key: [Int64: Int64]] = [:]

    /// The most ends that are kept.
    private static let limit = 1 << 20

    subscript(_ key: Key, _ owner: Int64) -> [LinkEnd]? { ends[key]?[owner] }

    mutating func insert(_ found: [Int64: [LinkEnd]], _ key: Key) {
        let added = found.values.reduce(found.count) { $0 + $1.count }
        if count + added > RelatedCache.limit { removeEnds() }
        count += added
        for (owner, own) in found { ends[key, default: [:]][owner] = own }
    }

    /// Keeps objects alive while those are for which they were read.
    mutating func keep(_ objects: [ManagedObject], for group: FetchGroup) {
        if !objects.isEmpty { kept.append(Kept(group: group, objects: objects)) }
    }

    func isMissing(_ end: LinkEnd) -> Bool { missing.contains(end) }

    /// Remembers that there is no object where a link leads to, as after a deletion with the rule No Action.
    mutating func noteMissing(_ end: LinkEnd) {
        if missing.count >= RelatedCache.limit { missing.removeAll() }
        missing.insert(end)
    }

    /// Lets go of objects for which nobody asks any more.
    mutating func sweep() { kept.removeAll { $0.group == nil } }

    func lastPosition(_ key: Key, _ owner: Int64) -> Int64? { lastPositions[key]?[owner] }

    mutating func setLastPosition(_ position: Int64, _ key: Key, _ owner: Int64) {
        lastPositions[key, default: [:]][owner] = position
    }

    /// Forgets what was read of objects, because a link of theirs has changed.
    mutating func removeEnds(of owners: [Int64]) {
        for key in ends.keys {
            for owner in owners {
                if let removed = ends[key]?.removeValue(forKey: owner) { count -= removed.count + 1 }
            }
        }
    }

    /// Forgets what was read.
    private mutating func removeEnds() {
        guard count > 0 || !ends.isEmpty else { return }
        ends = [:]
        count = 0
    }

    /// Forgets everything.
    mutating func removeAll() {
        removeEnds()
        kept.removeAll()
        missing.removeAll()
        if !lastPositions.isEmpty { lastPositions = [:] }
    }
}
