internal import RowStore

/// Values of rows, without objects.
extension ObjectContext {
    func ids<Object: ManagedObject>(_ request: FetchRequest<Object>) throws(DataSourceError) -> [ManagedObjectID] {
        let plan = try plan(request)
        if plan.tests == nil && plan.family.count == 1 {
            let layout = bindings[plan.family[0]].layout
            return try rows(plan, columns: []).map { ManagedObjectID(layout, key: $0.key) }
        }
        return try objects(plan).map(\.objectID)
    }

    func values<Object: ManagedObject, each Value: AttributeStorable>(
        _ request: FetchRequest<Object>, _ keyPaths: repeat KeyPath<Object, each Value>
    ) throws(DataSourceError) -> [(repeat each Value)] {
        var plan = try plan(request)
        let layout = bindings[plan.query.entity].layout
        var columns: [Int] = []
        for keyPath in repeat each keyPaths { columns.append(try column(keyPath, of: Object.self, layout)) }
        let window = plan.query
        if request.isDistinct { plan.query = plan.query.unlimited }
        var rows = try rows(plan, columns: columns)
        if request.isDistinct { rows = window.window(distinct(rows, columns, layout)) }
        let reader = RowValueReader(self, layout)
        var values: [(repeat each Value)] = []
        values.reserveCapacity(rows.count)
        for row in rows {
            reader.row = row.row
            var next = columns.makeIterator()
            values.append((repeat reader.read((each Value).self, next.next())))
        }
        return values
    }

    private func distinct(_ rows: [StoredRow], _ columns: [Int], _ layout: EntityLayout) -> [StoredRow] {
        var met: Set<[RowValue]> = []
        return rows.filter { row in
            met.insert(columns.map { row.row.value($0, layout.columns[$0].storage) }).inserted
        }
    }

    // MARK: Aggregates

    func aggregate<Object: ManagedObject, each Result: AttributeStorable>(
        _ request: FetchRequest<Object>, _ aggregates: repeat FetchAggregate<Object, each Result>
    ) throws(DataSourceError) -> (repeat each Result) {
        let plan = try plan(request)
        let layout = bindings[plan.query.entity].layout
        var set = AggregationSet()
        for aggregate in repeat each aggregates { try set.add(aggregate, layout) }
        let rows = try rows(plan, columns: set.columns)
        for row in rows { set.add(row.row, layout) }
        let reader = RowValueReader(self, layout)
        reader.row = try set.results()
        var next = 0..<set.count
        return (repeat reader.read((each Result).self, next.popFirst()))
    }

    func aggregate<Object: ManagedObject, Key: AttributeStorable, each Result: AttributeStorable>(
        _ request: FetchRequest<Object>, groupBy keyPath: KeyPath<Object, Key>,
        _ aggregates: repeat FetchAggregate<Object, each Result>
    ) throws(DataSourceError) -> [(key: Key, values: (repeat each Result))] {
        let plan = try plan(request)
        let layout = bindings[plan.query.entity].layout
        let keyColumn = try column(keyPath, of: Object.self, layout)
        var empty = AggregationSet()
        for aggregate in repeat each aggregates { try empty.add(aggregate, layout) }
        var groups: [(row: RowSnapshot, set: AggregationSet)] = []
        var positions: [RowValue: Int] = [:]
        for row in try rows(plan, columns: empty.columns + [keyColumn]) {
            let key = row.row.value(keyColumn, layout.columns[keyColumn].storage)
            let position = positions[key] ?? groups.count
            if position == groups.count {
                positions[key] = position
                groups.append((row.row, empty))
            }
            groups[position].set.add(row.row, layout)
        }
        let reader = RowValueReader(self, layout)
        var results: [(key: Key, values: (repeat each Result))] = []
        for group in groups {
            reader.row = group.row
            let key = reader.read(Key.self, keyColumn)
            reader.row = try group.set.results()
            var next = 0..<empty.count
            results.append((key, (repeat reader.read((each Result).self, next.popFirst()))))
        }
        return results
    }
}

/// Several aggregates over the same rows.
private struct AggregationSet {
    private var aggregations: [(column: Int?, aggregation: Aggregation)] = []

    var count: Int { aggregations.count }
    var columns: [Int] { aggregations.compactMap(\.column) }

    mutating func add<Object, Result>(
        _ aggregate: FetchAggregate<Object, Result>, _ layout: EntityLayout
    ) throws(DataSourceError) {
        guard let attribute = aggregate.attribute else {
            aggregations.append((nil, Aggregation(aggregate.operation, .integer)))
            return
        }
        let typed = try PredicateResolver(layout).expression(attribute.get())
        guard case .column(let column) = typed.expression, let kind = typed.kind else { return }
        aggregations.append((column, Aggregation(aggregate.operation, kind)))
    }

    mutating func add(_ row: RowSnapshot, _ layout: EntityLayout) {
        for index in aggregations.indices {
            let value =
                aggregations[index].column.map { row.value($0, layout.columns[$0].storage) } ?? .integer(1)
            aggregations[index].aggregation.add(value)
        }
    }

    /// All results as the columns of one row.
    func results() throws(DataSourceError) -> RowSnapshot {
        var row = RowSnapshot(columnCount: max(1, count))
        for (index, aggregation) in aggregations.enumerated() {
            row.setValue(try aggregation.aggregation.result(), index)
        }
        return row
    }
}

/// Reads the values of rows as the types of attributes, through one object that stands for all of them.
private struct RowValueReader {
    private let object: ManagedObject

    init(_ context: ObjectContext, _ layout: EntityLayout) {
        object = ManagedObject(
            ManagedObjectSeed(
                layout: layout, key: 0, row: RowSnapshot(columnCount: layout.columns.count), context: context,
                state: .gone, isEditable: false, asOf: 0))
    }

    var row: RowSnapshot {
        get { object.row }
        nonmutating set { object.row = newValue }
    }

    func read<Value: AttributeStorable>(_ type: Value.Type, _ column: Int?) -> Value {
        Value.read(from: object, at: column ?? 0)
    }
}
