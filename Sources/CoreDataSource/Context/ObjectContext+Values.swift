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
            try reader.check(layout)
        }
        return values
    }

    private func distinct(_ rows: [StoredRow], _ columns: [Int], _ layout: EntityLayout) -> [StoredRow] {
        var met: Set<[RowValue]> = []
        return rows.filter { row in
            met.insert(columns.map { row.row.value($0, layout.columns[$0].storage) }).inserted
        }
    }
}

/// Reads the values of rows as the types of attributes, through one object that stands for all of them.
struct RowValueReader {
    private let object: RowObject

    init(_ context: ObjectContext, _ layout: EntityLayout) {
        object = RowObject(
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

    /// - Parameter columns: The attribute's column for each column that was read, where they differ; nil for a count.
    /// - Throws: `damagedValue` if what was read since the last check is not what is stored.
    func check(_ layout: EntityLayout, attributes columns: [Int?]? = nil) throws(DataSourceError) {
        guard let damage = object.damage else { return }
        object.damage = nil
        let column = columns.map { $0[damage] } ?? damage
        guard let column else { return }
        layout.noteDamage(column)
        throw DataSourceError(damagedColumn: column, layout)
    }
}

/// Stands for rows whose values are read.
private final class RowObject: ManagedObject {
    /// The column of the first value that could not be read.
    var damage: Int?

    override func noteDamage(_ column: Int) { damage = damage ?? column }
}
