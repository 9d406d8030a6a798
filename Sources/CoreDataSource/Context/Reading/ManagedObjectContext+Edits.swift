internal import RowStore

/// How the edits of a batch, and the registered objects, affect a query.
///
/// A query in a batch combines two results: rows of the store that the batch has not changed or deleted, and edited objects
/// that match. So its cost is that of the store plus the edits that can matter. For a query for certain values of a column,
/// these are the objects that have or had one of the values.
extension ManagedObjectContext {
    /// The inserted and edited objects that match, in any order.
    func editedObjects(_ query: RowQuery) throws(DataSourceError) -> [ManagedObject] {
        let binding = bindings[query.entity]
        if let repeated = try repeated(query, isOfRegistered: false) { return Array(repeated.objects) }
        let count = binding.inserted.count + binding.touched.count
        if let (index, values) = index(for: query, insteadOf: count),
            values.reduce(0, { $0 + index.bound($1) }) < count
        {
            return try matching(values.flatMap(index.all), query) { $0.state == .inserted || $0.state == .edited }
        }
        return try matching(binding.inserted, query) { $0.state == .inserted }
            + matching(binding.touched, query) { $0.state == .edited }
    }

    /// How many saved rows match that were edited or deleted in this batch.
    func countOfTouched(_ query: RowQuery) throws(DataSourceError) -> Int {
        let binding = bindings[query.entity]
        if query.predicate == .constant(true) || binding.touched.isEmpty { return binding.touched.count }
        if let repeated = try repeated(query, isOfRegistered: false) { return repeated.savedCount }
        var touched = binding.touched
        if let (index, values) = index(for: query, insteadOf: touched.count) {
            touched = values.flatMap(index.wereSaved)
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

    /// How many rows of one entity match now, minus how many saved ones match.
    func countOfEdits(_ query: RowQuery) throws(DataSourceError) -> Int {
        let binding = bindings[query.entity]
        if !binding.hasEdits { return 0 }
        if query.predicate == .constant(true) { return binding.insertedCount - binding.deletedCount }
        if let repeated = try repeated(query, isOfRegistered: false) { return repeated.count - repeated.savedCount }
        return try editedObjects(query).count - countOfTouched(query)
    }

    /// Whether it is known, without the store, that an object matches.
    func existsEdited(_ plan: FetchPlan) throws(DataSourceError) -> Bool {
        guard plan.tests == nil, plan.query.joined.isEmpty, plan.query.offset == 0, plan.query.limit != 0 else {
            return false
        }
        for entity in plan.family where bindings[entity].hasEdits {
            let query = plan.query.of(entity: entity)
            if let known = try repeated(query, isOfRegistered: isRegistered(query)), known.count > 0 { return true }
        }
        return false
    }

    // MARK: Registered objects

    /// Whether the registered objects answer a query. The store answers it if not all objects are registered, or if it has a
    /// useful index and there are few edits to consider.
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

    /// The registered objects that match, in any order; limit and offset are ignored.
    func registeredObjects(_ query: RowQuery) throws(DataSourceError) -> [ManagedObject] {
        let binding = bindings[query.entity]
        if let repeated = try repeated(query, isOfRegistered: true) { return Array(repeated.objects) }
        if let (index, values) = index(for: query, insteadOf: binding.objects.count) {
            return try matching(values.flatMap(index.all), query) { !$0.isDeleted }
        }
        return try matching(binding.objects.objects, query) { !$0.isDeleted }
    }

    /// How many registered objects match.
    func countOfRegistered(_ query: RowQuery) throws(DataSourceError) -> Int {
        let binding = bindings[query.entity]
        if query.predicate == .constant(true) { return binding.objects.count - binding.deletedCount }
        if let repeated = try repeated(query, isOfRegistered: true) { return repeated.count }
        if index(for: query, insteadOf: binding.objects.count) != nil { return try registeredObjects(query).count }
        var count = 0
        try forEachMatch(binding.objects.objects, query, where: { !$0.isDeleted }) { _ in count += 1 }
        return count
    }

    // MARK: Parts

    /// What matches, if this batch has asked it before and there are so many objects that it is worth remembering.
    private func repeated(
        _ query: RowQuery, isOfRegistered: Bool
    ) throws(DataSourceError) -> MatchingObjects? {
        let binding = bindings[query.entity]
        let count = isOfRegistered ? binding.objects.count : binding.inserted.count + binding.touched.count
        guard binding.rights == .own, count > 64, query.predicate != .constant(true) else { return nil }
        guard let known = binding.repeated(query.predicate, isOfRegistered: isOfRegistered) else { return nil }
        hasValueIndexes = true
        rowsTested += try known.update(binding, query.budget)
        return known
    }

    /// An index for the values that a predicate looks for, if it is worth its cost.
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

/// What happens in a context when a value is edited.
extension ManagedObjectContext {
    func refuseEditOfDeleted(_ object: ManagedObject, _ column: Int) {
        refuse(
            DataSourceError(
                .objectGone,
                "\(object.layout.name).\(object.layout.columns[column].name) was set on a deleted object. Insert a new object.",
                entityName: object.layout.name, attributeName: object.layout.columns[column].name))
    }

    func refuseNaN(_ object: ManagedObject, _ column: Int) {
        refuse(
            DataSourceError(
                .validationFailed,
                "\(object.layout.name).\(object.layout.columns[column].name) was set to NaN, which a store cannot hold. Use nil for no value.",
                entityName: object.layout.name, attributeName: object.layout.columns[column].name))
    }

    /// An object has a new value in a column of a unique key.
    func indexUniqueValue(of object: ManagedObject, _ column: Int) {
        let binding = bindings[object.layout.index]
        for constraint in binding.layout.constraints.indices
        where binding.layout.constraints[constraint].contains(column) {
            binding.indexLater(object, constraint)
        }
    }

    /// An object has a new value in a column.
    func indexValue(of object: ManagedObject, _ column: Int) {
        bindings[object.layout.index].noteValues(of: object, column)
    }
}

/// The objects that a context has changed, in the order of their first change.
///
/// Each is in it once, however often it is added. So no save has a row twice, because a context has one object of each key, and
/// keeps it while it has edits.
struct ChangedObjects: RandomAccessCollection {
    private var objects: [ManagedObject] = []

    var startIndex: Int { 0 }
    var endIndex: Int { objects.count }

    subscript(_ index: Int) -> ManagedObject { objects[index] }

    func makeIterator() -> IndexingIterator<[ManagedObject]> { objects.makeIterator() }

    /// Adds an object that is not there yet.
    mutating func insert(_ object: ManagedObject) {
        if object.isAmongChanged { return }
        object.isAmongChanged = true
        objects.append(object)
    }

    /// Makes these the objects.
    mutating func set(_ new: [ManagedObject]) {
        removeAll()
        for object in new { insert(object) }
    }

    mutating func removeAll() {
        for object in objects { object.isAmongChanged = false }
        objects.removeAll(keepingCapacity: objects.count < 1024)
    }
}
