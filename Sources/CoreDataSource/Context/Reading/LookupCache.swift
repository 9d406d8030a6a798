internal import RowStore

/// The look-ups of one batch among objects of other data sources, with their results.
///
/// The batch looks up each value once, and later look-ups get the same result. Other data sources may change the rows during
/// the batch, and only the owner of a row is notified of its changes. So the results and their objects are forgotten when the
/// batch ends. A rollback forgets the results too, because a delete rule may have deleted an object that no data source owns.
struct LookupCache {
    private struct Lookup: Hashable {
        let entity: Int
        let column: Int
        let value: RowValue
    }

    private struct Attribute: Hashable {
        let entity: Int
        let column: Int
    }

    private var results: [Lookup: ManagedObject?] = [:]
    /// For each attribute, the number of look-ups that had to read from the store.
    private var reads: [Attribute: Int] = [:]
    /// For each relationship, the number of reads for one object at a time.
    private var relationshipReads: [EntityRelationship: Int] = [:]

    /// Returns the result of an earlier look-up. The outer optional is nil if there was no look-up, and the inner optional is
    /// nil if no object had the value.
    func result(_ entity: Int, column: Int, _ value: RowValue) -> ManagedObject?? {
        guard let result = results[Lookup(entity: entity, column: column, value: value)] else { return nil }
        // A later read may have given the object a newer row.
        if let object = result, object.isDeleted || !object.row.holds(value, column: column) { return nil }
        return .some(result)
    }

    mutating func keep(_ result: ManagedObject?, _ entity: Int, column: Int, _ value: RowValue) {
        results[Lookup(entity: entity, column: column, value: value)] = .some(result)
    }

    /// Counts a look-up that reads from the store.
    ///
    /// - Returns: The number of counted look-ups of the attribute so far.
    mutating func countRead(_ entity: Int, column: Int) -> Int {
        reads[Attribute(entity: entity, column: column), default: 0] += 1
        return reads[Attribute(entity: entity, column: column), default: 0]
    }

    /// Counts a read of a relationship for one object.
    ///
    /// - Returns: The number of counted reads of the relationship so far.
    mutating func countRead(_ relationship: EntityRelationship) -> Int {
        relationshipReads[relationship, default: 0] += 1
        return relationshipReads[relationship, default: 0]
    }
}
