internal import RowStore

/// Reporting how relationships are read.
extension ManagedObjectContext {
    /// A relationship is about to be read for an object that was not fetched with others.
    func noteReadingOne(_ key: RelatedCache.Key) { readOneByOne[key, default: 0] += 1 }

    /// By name, the relationships of some entities that have been read for one object at a time so far, and how often.
    /// Relationships that were read for only one object are left out.
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

    /// Adds the relationships that are read with the objects of a request, and those that were read one by one.
    func explainRelationships<Object: ManagedObject>(
        _ request: FetchRequest<Object>, _ family: [Int], _ explanation: inout FetchExplanation
    ) {
        explanation.prefetched = request.prefetched
        for entity in family {
            let layout = bindings[entity].layout
            for (index, relationship) in layout.relationships.enumerated() {
                let count = readOneByOne[RelatedCache.Key(entity: entity, relationship: index)] ?? 0
                // One object alone is not reported.
                guard count > 1, !explanation.prefetched.contains(relationship.name) else { continue }
                explanation.readOneByOne[relationship.name, default: 0] += count
                explanation.warnings.append(
                    "\(layout.name).\(relationship.name) has been read for one object at a time, \(count) times so far. Fetch the objects together, so that it is read for all of them at once."
                )
            }
        }
    }
}

extension FetchRequest {
    /// The names of the relationships that it prefetches.
    var prefetched: [String] { prefetch.compactMap { Object.relationshipKeyPaths[$0] } }
}
