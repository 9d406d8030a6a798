internal import RowStore

/// How the relationships of objects are read.
extension ManagedObjectContext {
    /// A relationship is about to be read for an object that was fetched with no other.
    func noteReadingOne(_ key: RelatedCache.Key) { readOneByOne[key, default: 0] += 1 }

    /// The relationships of some entities that have been read for one object at a time so far, by name, and how often. Those of
    /// which it has been one object only are left out.
    func relationshipsReadOneByOne(_ family: some Sequence<Int>) -> [String: Int] {
        if readOneByOne.isEmpty { return [:] }
        var counts: [String: Int] = [:]
        for entity in family {
            for (index, relationship) in bindings[entity].layout.relationships.enumerated() {
                let count = readOneByOne[RelatedCache.Key(entity: entity, relationship: index)] ?? 0
                if count > 1 { counts[relationship.name, default: 0] += count }
            }
        }
        return counts
    }

    /// Adds what is read with the objects of a request, and what has been read for its objects one by one.
    func explainRelationships<Object: ManagedObject>(
        _ request: FetchRequest<Object>, _ family: [Int], _ explanation: inout FetchExplanation
    ) {
        explanation.prefetched = request.prefetch.compactMap { Object.relationshipKeyPaths[$0] }
        for entity in family {
            let layout = bindings[entity].layout
            for (index, relationship) in layout.relationships.enumerated() {
                let count = readOneByOne[RelatedCache.Key(entity: entity, relationship: index)] ?? 0
                // One object is no list of them.
                guard count > 1, !explanation.prefetched.contains(relationship.name) else { continue }
                explanation.readOneByOne[relationship.name, default: 0] += count
                explanation.warnings.append(
                    "\(layout.name).\(relationship.name) has been read for one object at a time, \(count) times so far. Fetch the objects together, and it is read for all of them at once."
                )
            }
        }
    }
}
