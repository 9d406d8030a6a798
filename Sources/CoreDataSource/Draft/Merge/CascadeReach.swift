internal import RowStore

/// The objects that deletions reach by cascades, according to the newest rows.
struct CascadeReach {
    /// For each object, the objects whose cascade leads directly to the object.
    private(set) var parents: [LinkEnd: Set<LinkEnd>] = [:]
    private var children: [LinkEnd: [LinkEnd]] = [:]

    /// - Returns: Whether the pair of child and parent is new.
    mutating func insert(_ child: LinkEnd, of parent: LinkEnd) -> Bool {
        guard parents[child, default: []].insert(parent).inserted else { return false }
        children[parent, default: []].append(child)
        return true
    }

    /// Returns the objects that the cascades of the roots reach.
    func reached(from roots: some Sequence<LinkEnd>) -> Set<LinkEnd> {
        var reached: Set<LinkEnd> = []
        var waiting = Array(roots)
        while let next = waiting.popLast() {
            for child in children[next] ?? [] where reached.insert(child).inserted { waiting.append(child) }
        }
        return reached
    }

    /// Returns the given objects, and all objects whose cascades reach a given object.
    func reaching(_ ends: some Sequence<LinkEnd>) -> Set<LinkEnd> {
        var found = Set(ends)
        var waiting = Array(found)
        while let next = waiting.popLast() {
            for parent in parents[next] ?? [] where found.insert(parent).inserted { waiting.append(parent) }
        }
        return found
    }
}

/// Finds the objects that the cascades of a draft's deletions reach.
extension DraftComparison {
    /// Adds a conflict for each object that the save would delete although the draft has not deleted it. Another save has
    /// linked such an object to a deleted object.
    mutating func compareReached() throws {
        let deleted = difference.rows.filter { $0.state == .deleted && layout($0.end).links == nil }
        var waiting = deleted.map(\.end)
        var seen = Set(waiting)
        var found: [LinkEnd] = []
        while !waiting.isEmpty {
            let objects = waiting.compactMap { current($0) }
            waiting = []
            for child in try follow(objects) where seen.insert(child).inserted {
                waiting.append(child)
                if !isDeletedHere(child) { found.append(child) }
            }
        }
        deletionRoots = Set(deleted.lazy.filter { !$0.isCascaded }.map(\.end))
        var reached = reach.reached(from: deletionRoots)
        for row in deleted where row.isCascaded && !reached.contains(row.end) {
            deletionRoots.insert(row.end)
            reached.formUnion(reach.reached(from: [row.end]))
        }
        for end in found.sorted(by: { ($0.entity, $0.key) < ($1.entity, $1.key) }) {
            parts.append(Part(kind: .reached(end), row: nil, conflict: DraftChange(id(end), nil, .deletedHere)))
        }
    }

    /// - Returns: The objects that the cascades of the given objects lead to, without those that were found before.
    private mutating func follow(_ objects: [ManagedObject]) throws -> [LinkEnd] {
        var found: [LinkEnd] = []
        for (_, objects) in Dictionary(grouping: objects, by: \.layout.index).sorted(by: { $0.key < $1.key }) {
            for relationship in objects[0].layout.relationships where relationship.description.deleteRule == .cascade {
                for (parent, child) in try linked(relationship, objects)
                where isReached(child, from: parent, relationship) {
                    if reach.insert(child, of: parent) { found.append(child) }
                }
            }
        }
        try context.reading { () throws(DataSourceError) in try context.readObjects(found) }
        return found
    }

    private func linked(
        _ relationship: RelationshipLayout, _ objects: [ManagedObject]
    ) throws -> [(parent: LinkEnd, child: LinkEnd)] {
        let keys = ValueList(objects.map { .integer($0.key) }, .natural)
        let ends = try context.ends(of: relationship, from: objects, keys: keys)
        return objects.flatMap { object in (ends[LinkEnd(object)] ?? []).map { (LinkEnd(object), $0) } }
    }

    /// Whether a link still exists after the merge. The draft might have removed the link.
    private func isReached(_ child: LinkEnd, from parent: LinkEnd, _ relationship: RelationshipLayout) -> Bool {
        switch relationship.storage {
        case .inverseColumn(let column):
            guard let index = rowIndexes[child], difference.rows[index].state == .edited else { return true }
            let row = difference.rows[index]
            let family = relationship.isSymmetric ? relationship.destinationFamily : [parent.entity]
            let mine = row.row.end(column, family)
            return mine == row.base.end(column, family) || mine == parent
        case .pairs(let pairs):
            return !(deletedLinks[pairs.layout]?.contains([parent, child]) ?? false)
        case .column, .none: return true
        }
    }

    // MARK: Deciding

    /// Drops the deletions that contradict parts that are already dropped. An object must stay if its deletion is dropped, or
    /// if a kept link of another save leads to the object. A deletion is dropped if it would delete such an object, directly
    /// or by a cascade. After that, some cascaded objects are no longer reached by any deletion. The deletions of these
    /// objects are dropped, too, unless these deletions are in conflict.
    mutating func dropDeletions() {
        let dropped = parts.filter(\.isDropped)
        let staying = reach.reaching(dropped.compactMap(deletedEnd) + dropped.compactMap(theirDestination))
        for index in parts.indices {
            guard let end = deletedEnd(parts[index]), staying.contains(end) else { continue }
            drop(index)
        }
        let reached = reachOfRemainingDeletions
        for index in parts.indices {
            guard let end = deletedEnd(parts[index]), case .deletion = parts[index].kind, parts[index].conflict == nil,
                !deletionRoots.contains(end), !reached.contains(end)
            else { continue }
            drop(index)
        }
    }

    mutating func drop(_ index: Int) {
        parts[index].isDropped = true
        parts[index].conflict?.choice = .theirs
    }

    /// The objects that the cascades of the remaining deletions reach. The delete rules of the save will delete them.
    var reachOfRemainingDeletions: Set<LinkEnd> {
        let roots = parts.filter { part in
            guard case .deletion = part.kind, !part.isDropped, let end = deletedEnd(part) else { return false }
            return deletionRoots.contains(end)
        }
        return reach.reached(from: roots.compactMap(deletedEnd))
    }

    /// The object to which another save has linked the object of a part; nil if the part is not a link.
    private func theirDestination(_ part: Part) -> LinkEnd? {
        guard case .link(let index) = part.kind, let object = row(part).flatMap({ current($0.end) }) else { return nil }
        return object.row.end(of: object.layout.relationships[index])
    }

    /// The object that a part deletes; nil if the part is not a deletion.
    private func deletedEnd(_ part: Part) -> LinkEnd? {
        switch part.kind {
        case .deletion: row(part)?.end
        case .reached(let end): end
        default: nil
        }
    }
}
