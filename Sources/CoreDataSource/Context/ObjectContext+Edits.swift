internal import RowStore

/// What the edits of a batch, and the registered objects, mean to a query.
///
/// A query in a batch is answered by the store, without the rows that the batch has changed or deleted, and with those
/// edited objects that match. So it costs what the store takes and the edits that can matter: of a query for certain
/// values of a column those that have or had one of the values.
extension ObjectContext {
    /// The inserted and edited objects that match, in any order.
    func editedObjects(_ predicate: RowPredicate, _ binding: EntityBinding) -> [ManagedObject] {
        let count = binding.inserted.count + binding.touched.count
        if let (index, values) = index(for: predicate, binding, insteadOf: count),
            values.reduce(0, { $0 + index.bound($1) }) < count
        {
            return matching(values.flatMap(index.all), predicate) { $0.state == .inserted || $0.state == .edited }
        }
        return matching(binding.inserted, predicate) { $0.state == .inserted }
            + matching(binding.touched, predicate) { $0.state == .edited }
    }

    /// How many rows match as they were saved, and were edited or deleted in this batch.
    func countOfTouched(_ predicate: RowPredicate, _ binding: EntityBinding) -> Int {
        if predicate == .constant(true) || binding.touched.isEmpty { return binding.touched.count }
        var touched = binding.touched
        if let (index, values) = index(for: predicate, binding, insteadOf: touched.count) {
            touched = values.flatMap(index.wereSaved)
        }
        rowsTested += touched.count
        return touched.count { predicate.evaluate($0.savedRow, key: $0.key, binding.layout) }
    }

    /// How many more rows of one entity match than are saved; fewer if it is negative.
    func countOfEdits(_ predicate: RowPredicate, _ binding: EntityBinding) -> Int {
        if !binding.hasEdits { return 0 }
        if predicate == .constant(true) { return binding.insertedCount - binding.deletedCount }
        return editedObjects(predicate, binding).count - countOfTouched(predicate, binding)
    }

    // MARK: Registered objects

    /// Whether a query is answered by the registered objects. The store answers it if they are not all, or if it has an
    /// index of use and there are few edits to be considered.
    func isRegistered(_ query: RowQuery) -> Bool {
        let binding = bindings[query.entity]
        guard binding.holdsAllRows else { return false }
        let count = binding.objects.count
        let isIndexed =
            count > 1024 && (binding.inserted.count + binding.touched.count) * 16 < count
            && binding.layout.storedColumns.count == binding.layout.columns.count
            && query.predicate.isInIndexedRange(binding.layout)
        return !isIndexed || query.predicate.wantedValues(binding.layout) != nil
    }

    /// The registered objects that match, in any order; limit and offset do not count.
    func registeredObjects(_ query: RowQuery) -> [ManagedObject] {
        let binding = bindings[query.entity]
        if let (index, values) = index(for: query.predicate, binding, insteadOf: binding.objects.count) {
            return matching(values.flatMap(index.all), query.predicate) { !$0.isDeleted }
        }
        return matching(binding.objects.objects, query.predicate) { !$0.isDeleted }
    }

    /// How many registered objects match.
    func countOfRegistered(_ query: RowQuery) -> Int {
        let binding = bindings[query.entity]
        if query.predicate == .constant(true) { return binding.objects.count - binding.deletedCount }
        return registeredObjects(query).count
    }

    // MARK: Parts

    /// An index for the values that a predicate asks for, if it is worth its cost.
    private func index(
        for predicate: RowPredicate, _ binding: EntityBinding, insteadOf count: Int
    ) -> (index: ValueIndex, values: [RowValue])? {
        guard count > 8, let (column, values) = predicate.wantedValues(binding.layout),
            let index = valueIndex(binding, column, insteadOf: count)
        else { return nil }
        return (index, values)
    }

    private func matching(
        _ objects: some Sequence<ManagedObject>, _ predicate: RowPredicate, where isWanted: (ManagedObject) -> Bool
    ) -> [ManagedObject] {
        let isEvery = predicate == .constant(true)
        var matching: [ManagedObject] = []
        for object in objects where isWanted(object) {
            if isEvery {
                matching.append(object)
                continue
            }
            rowsTested += 1
            if predicate.evaluate(object.row, key: object.key, object.layout) { matching.append(object) }
        }
        return matching
    }
}
