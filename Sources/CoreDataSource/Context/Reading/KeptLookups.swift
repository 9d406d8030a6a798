internal import RowStore

/// The look-ups of one batch among objects of other data sources, with their results.
///
/// The batch looks up each value once, and a later look-up gets the same result. Meanwhile other data sources may change the rows.
/// Only the owner of rows hears of their changes, so the results are forgotten when the batch ends, as the objects are. A rollback
/// forgets them, too: a delete rule may have deleted an object that nobody owns.
struct KeptLookups {
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
    /// The number of look-ups of each attribute that had to read.
    private var reads: [Attribute: Int] = [:]

    /// The result of an earlier look-up: nil if there was none, and an inner nil if no object had the value.
    func result(_ entity: Int, _ column: Int, _ value: RowValue) -> ManagedObject?? {
        guard let result = results[Lookup(entity: entity, column: column, value: value)] else { return nil }
        // A later read of the object may have brought a newer row.
        if let object = result, object.isDeleted || !object.row.holds(value, column: column) { return nil }
        return .some(result)
    }

    mutating func keep(_ result: ManagedObject?, _ entity: Int, _ column: Int, _ value: RowValue) {
        results[Lookup(entity: entity, column: column, value: value)] = .some(result)
    }

    /// Counts a look-up that reads.
    ///
    /// - Returns: The number of such look-ups of the attribute so far.
    mutating func countRead(_ entity: Int, _ column: Int) -> Int {
        reads[Attribute(entity: entity, column: column), default: 0] += 1
        return reads[Attribute(entity: entity, column: column), default: 0]
    }
}
