internal import RowStore

/// Queries over the edits of a batch and over registered objects.
///
/// A query in a batch combines two results: matching stored rows that the batch has not changed or deleted, and edited objects
/// that match. The cost of the query is the cost of the store plus the cost of evaluating the edits. If the query looks for a
/// few values of a column, only objects that have or had one of these values are evaluated.
extension ManagedObjectContext {
    /// Returns the matching inserted and edited objects, in any order.
    func editedObjects(_ query: RowQuery) throws(DataSourceError) -> [ManagedObject] {
        let binding = bindings[query.entity]
        if let repeated = try repeated(query, coversRegisteredObjects: false) { return Array(repeated.objects) }
        let count = binding.inserted.count + binding.touched.count
        if let (index, values) = index(for: query, insteadOf: count),
            values.reduce(0, { $0 + index.bound($1) }) < count
        {
            return try matching(values.flatMap(index.all), query) { $0.state == .inserted || $0.state == .edited }
        }
        return try matching(binding.inserted, query) { $0.state == .inserted }
            + matching(binding.touched, query) { $0.state == .edited }
    }

    /// Returns the matching rows of inserted and edited objects, in order, without reading the store.
    func editedRows(_ query: RowQuery) throws(DataSourceError) -> [StoredRow] {
        let reader = reader(ofEntity: query.entity)
        return reader.sorted(try reader.editedObjects(query), query).map { StoredRow(key: $0.key, row: $0.row) }
    }

    /// Returns the matching rows that store links, in order. The edits of the batch are included.
    ///
    /// - Parameters:
    ///   - columns: The columns to read. Other columns may be null.
    ///   - isStoreRead: Whether rows of the store are included; false if it is known that the store has none of these links.
    func linkRows(_ query: RowQuery, columns: [Int], isStoreRead: Bool) throws(DataSourceError) -> [StoredRow] {
        try isStoreRead ? rows(FetchPlan(query), columns: columns) : editedRows(query)
    }

    /// The number of matching saved rows that this batch has edited or deleted.
    func countOfTouched(_ query: RowQuery) throws(DataSourceError) -> Int {
        let binding = bindings[query.entity]
        if query.predicate == .constant(true) || binding.touched.isEmpty { return binding.touched.count }
        if let repeated = try repeated(query, coversRegisteredObjects: false) { return repeated.savedCount }
        var touched = binding.touched
        if let (index, values) = index(for: query, insteadOf: touched.count) {
            touched = values.flatMap(index.savedObjects)
        }
        rowsTested += touched.count
        var count = 0
        for object in touched {
            try query.budget.countRow()
            if try query.predicate.evaluate(object.savedRow, key: object.key, binding.layout, query.budget) {
                count += 1
            }
        }
        return count
    }

    /// The number by which the edits of the batch change the number of matching rows of one entity.
    func countOfEdits(_ query: RowQuery) throws(DataSourceError) -> Int {
        let binding = bindings[query.entity]
        if !binding.hasEdits { return 0 }
        if query.predicate == .constant(true) { return binding.insertedCount - binding.deletedCount }
        if let repeated = try repeated(query, coversRegisteredObjects: false) {
            return repeated.count - repeated.savedCount
        }
        return try editedObjects(query).count - countOfTouched(query)
    }

    /// Whether the batch has used the predicate of the plan before, and knows an object that matches it. Reads nothing from the
    /// store.
    func existsEdited(_ plan: FetchPlan) throws(DataSourceError) -> Bool {
        guard plan.objectPredicate == nil, plan.query.joined.isEmpty, plan.query.offset == 0, plan.query.limit != 0
        else {
            return false
        }
        for entity in plan.family where bindings[entity].hasEdits {
            let query = plan.query.of(entity: entity)
            if let known = try repeated(query, coversRegisteredObjects: isRegistered(query)), known.count > 0 {
                return true
            }
        }
        return false
    }

    // MARK: Registered objects

    /// Whether a query runs over the registered objects. If not all objects are registered, the query runs in the store. It
    /// also runs in the store if the store has a useful index and the batch has few edits.
    func isRegistered(_ query: RowQuery) -> Bool {
        let binding = bindings[query.entity]
        guard binding.hasAllRows else { return false }
        let count = binding.objects.count
        let isIndexed =
            count > 1024 && (binding.inserted.count + binding.touched.count) * 16 < count
            && binding.layout.storedColumns.count == binding.layout.columns.count
            && query.predicate.isInIndexedRange(binding.layout)
        return !isIndexed || query.predicate.wantedValues(binding.layout) != nil
    }

    /// Returns the matching registered objects, in any order. Limit and offset are ignored.
    func registeredObjects(_ query: RowQuery) throws(DataSourceError) -> [ManagedObject] {
        let binding = bindings[query.entity]
        if let keys = keys(query, insteadOf: binding.objects.count) {
            return try matching(keys.compactMap { binding.objects[$0] }, query) { !$0.isDeleted }
        }
        if let repeated = try repeated(query, coversRegisteredObjects: true) { return Array(repeated.objects) }
        if let (index, values) = index(for: query, insteadOf: binding.objects.count) {
            return try matching(values.flatMap(index.all), query) { !$0.isDeleted }
        }
        return try matching(binding.objects.objects, query) { !$0.isDeleted }
    }

    /// The number of matching registered objects.
    func countOfRegistered(_ query: RowQuery) throws(DataSourceError) -> Int {
        let binding = bindings[query.entity]
        if query.predicate == .constant(true) { return binding.objects.count - binding.deletedCount }
        if keys(query, insteadOf: binding.objects.count) != nil { return try registeredObjects(query).count }
        if let repeated = try repeated(query, coversRegisteredObjects: true) { return repeated.count }
        if index(for: query, insteadOf: binding.objects.count) != nil { return try registeredObjects(query).count }
        var count = 0
        try forEachMatch(binding.objects.objects, query, where: { !$0.isDeleted }) { _ in count += 1 }
        return count
    }

    // MARK: Parts

    /// Returns the objects that match a predicate that this batch has used before. Returns nil for a new predicate, and if
    /// there are few objects.
    private func repeated(
        _ query: RowQuery, coversRegisteredObjects: Bool
    ) throws(DataSourceError) -> MatchingObjects? {
        let binding = bindings[query.entity]
        let count = coversRegisteredObjects ? binding.objects.count : binding.inserted.count + binding.touched.count
        guard binding.rights == .own, count > 64, query.predicate != .constant(true), !isFoundByIndex(query) else {
            return nil
        }
        guard let known = binding.repeated(query.predicate, coversRegisteredObjects: coversRegisteredObjects) else {
            return nil
        }
        hasValueIndexes = true
        rowsTested += try known.update(binding, query.budget)
        return known
    }

    /// Whether a known index finds few objects for the predicate. If so, the index is better than the kept result of a
    /// repeated predicate, because this result is first calculated from all objects. The difference is large if a batch
    /// reads a relationship of many owners several times: each owner has its own predicate.
    private func isFoundByIndex(_ query: RowQuery) -> Bool {
        let binding = bindings[query.entity]
        guard let (column, values) = query.predicate.wantedValues(binding.layout),
            let index = binding.knownIndex(column)
        else { return false }
        return values.reduce(0) { $0 + index.bound($1) } <= 64
    }

    /// Returns the keys that a predicate looks for; nil if it does not look for keys, or if it looks for at least `count`
    /// keys.
    private func keys(_ query: RowQuery, insteadOf count: Int) -> Set<Int64>? {
        query.predicate.wantedKeys.flatMap { $0.count < count ? $0 : nil }
    }

    /// Returns an index for the values that a predicate looks for; nil if an index is not worth its cost.
    private func index(
        for query: RowQuery, insteadOf count: Int
    ) -> (index: ValueIndex, values: [RowValue])? {
        let binding = bindings[query.entity]
        guard count > 8, let (column, values) = query.predicate.wantedValues(binding.layout),
            let index = valueIndex(binding, column, insteadOf: count)
        else { return nil }
        return (index, values)
    }

    private func matching(
        _ objects: some Sequence<ManagedObject>, _ query: RowQuery, where isWanted: (ManagedObject) -> Bool
    ) throws(DataSourceError) -> [ManagedObject] {
        var matching: [ManagedObject] = []
        try forEachMatch(objects, query, where: isWanted) { matching.append($0) }
        return matching
    }

    private func forEachMatch(
        _ objects: some Sequence<ManagedObject>, _ query: RowQuery, where isWanted: (ManagedObject) -> Bool,
        _ body: (ManagedObject) -> Void
    ) throws(DataSourceError) {
        let (predicate, budget) = (query.predicate, query.budget)
        let layout = bindings[query.entity].layout
        let isEvery = predicate == .constant(true)
        var tested = 0
        defer { rowsTested += tested }
        for object in objects where isWanted(object) {
            if !isEvery {
                tested += 1
                if tested & 0x3F == 0 { try budget.checkCancellation() }
                guard try predicate.evaluate(object.row, key: object.key, layout, budget) else { continue }
            }
            body(object)
        }
    }
}

/// Functions that an object calls when its values are edited.
extension ManagedObjectContext {
    func refuseEditOfDeleted(_ object: ManagedObject, _ column: Int) {
        refuseEditOfDeleted(object, of: object.layout.columns[column].name)
    }

    func refuseEditOfDeleted(_ object: ManagedObject, of property: String) {
        refuse(
            DataSourceError(
                .objectGone, "\(object.layout.name).\(property) was set on a deleted object. Insert a new object.",
                entityName: object.layout.name, attributeName: property))
    }

    func refuseNaN(_ object: ManagedObject, _ column: Int) {
        refuse(
            DataSourceError(
                .validationFailed,
                "\(object.layout.name).\(object.layout.columns[column].name) was set to NaN, which a store cannot hold. Use nil for no value.",
                entityName: object.layout.name, attributeName: object.layout.columns[column].name))
    }

    /// Called when an object has a new value in a column of a uniqueness constraint.
    func indexUniqueValue(of object: ManagedObject, _ column: Int) {
        let binding = bindings[object.layout.index]
        for constraint in binding.layout.constraints.indices
        where binding.layout.constraints[constraint].contains(column) {
            binding.indexLater(object, constraint)
        }
    }

    /// Called when an object has a new value in a column.
    func indexValue(of object: ManagedObject, _ column: Int) {
        bindings[object.layout.index].recordValues(of: object, column)
    }
}

/// The objects that a context has changed, in the order of their first change.
///
/// Each object is contained only once, even if it is added repeatedly. A context has only one object for each row, and does
/// not release an object with edits. So no save contains a row twice.
struct ChangedObjects: RandomAccessCollection {
    private var objects: [ManagedObject] = []

    var startIndex: Int { 0 }
    var endIndex: Int { objects.count }

    subscript(_ index: Int) -> ManagedObject { objects[index] }

    func makeIterator() -> IndexingIterator<[ManagedObject]> { objects.makeIterator() }

    /// Adds an object, if it is new.
    mutating func insert(_ object: ManagedObject) {
        if object.isAmongChanged { return }
        object.isAmongChanged = true
        objects.append(object)
    }

    mutating func replaceAll(with new: [ManagedObject]) {
        removeAll()
        for object in new { insert(object) }
    }

    mutating func removeAll() {
        for object in objects { object.isAmongChanged = false }
        objects.removeAll(keepingCapacity: objects.count < 1024)
    }
}
