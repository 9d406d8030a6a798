internal import RowStore

/// How the relationships of objects are read.
extension ManagedObjectContext {
    /// A relationship is about to be read for an object that was fetched with no other.
    func noteReadingOne(_ key: RelatedCache.Key) { readOneByOne[key, default: 0] += 1 }

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
