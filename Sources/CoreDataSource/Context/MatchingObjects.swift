internal import RowStore

/// The objects of a batch that match a predicate which is asked again and again.
///
/// Only objects that were edited since the last time are tested, so a batch that inserts and counts in turn tests each object
/// once.
final class MatchingObjects {
    let predicate: RowPredicate
    /// Whether they are among all registered objects, which are all there are, or among the edited ones.
    let isOfRegistered: Bool
    /// By key.
    private var matching: [Int64: ManagedObject] = [:]
    /// Objects that may match now or no longer.
    private var untested: [ManagedObject]
    /// How many of the edited and deleted objects matched as they were saved.
    private(set) var savedCount = 0
    private var testedSaved = 0

    init(_ predicate: RowPredicate, _ binding: EntityBinding, isOfRegistered: Bool) {
        self.predicate = predicate
        self.isOfRegistered = isOfRegistered
        untested = isOfRegistered ? Array(binding.objects.objects) : binding.inserted + binding.touched
    }

    var count: Int { matching.count }
    /// In any order.
    var objects: some Sequence<ManagedObject> { matching.values }

    /// An object was inserted, edited, deleted or registered.
    ///
    /// - Parameter limit: The most objects that may wait for a test.
    /// - Returns: False if there are too many. The answer has to be forgotten then.
    func note(_ object: ManagedObject, limit: Int) -> Bool {
        if untested.last !== object { untested.append(object) }
        return untested.count <= limit
    }

    /// Tests what was noted.
    ///
    /// - Returns: How many rows were tested.
    func update(_ binding: EntityBinding, _ budget: QueryBudget) throws(DataSourceError) -> Int {
        var tested = 0
        while let object = untested.last {
            tested += 1
            if tested & 0x3F == 0 { try budget.checkCancellation() }
            let isThere = isOfRegistered ? !object.isDeleted : object.state == .inserted || object.state == .edited
            var isMatching = false
            if isThere { isMatching = try predicate.evaluate(object.row, key: object.key, binding.layout, budget) }
            matching[object.key] = isMatching ? object : nil
            untested.removeLast()
        }
        if !isOfRegistered {
            while testedSaved < binding.touched.count {
                let object = binding.touched[testedSaved]
                tested += 1
                if try predicate.evaluate(object.savedRow, key: object.key, binding.layout, budget) { savedCount += 1 }
                testedSaved += 1
            }
        }
        return tested
    }
}

/// The predicates that a batch has asked last about the objects of one entity, and what matches those that were asked again.
struct RepeatedPredicates {
    private static let limit = 4

    private var asked: [RowPredicate] = []
    private(set) var known: [MatchingObjects] = []

    /// Whether nothing has to be noted.
    var isEmpty: Bool { known.isEmpty }
    /// Whether nothing was asked.
    var isUnused: Bool { asked.isEmpty }

    /// What matches the predicate; nil if it was not asked before.
    mutating func answer(
        to predicate: RowPredicate, _ binding: EntityBinding, isOfRegistered: Bool
    ) -> MatchingObjects? {
        if let place = known.firstIndex(where: { $0.predicate == predicate && $0.isOfRegistered == isOfRegistered }) {
            return known[place]
        }
        guard asked.contains(predicate) else {
            if asked.count == Self.limit { asked.removeFirst() }
            asked.append(predicate)
            return nil
        }
        let new = MatchingObjects(predicate, binding, isOfRegistered: isOfRegistered)
        if known.count == Self.limit { known.removeFirst() }
        known.append(new)
        return new
    }

    mutating func note(_ object: ManagedObject, limit: Int) {
        known.removeAll { !$0.note(object, limit: limit) }
    }
}
