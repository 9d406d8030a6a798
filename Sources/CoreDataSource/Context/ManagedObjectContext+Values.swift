internal import RowStore

/// Values of rows, without objects.
extension ManagedObjectContext {
    /// The ids of the objects of a request, in its order.
    ///
    /// - Throws: As ``fetch(_:)``.
    public func ids<Object: ManagedObject>(_ request: FetchRequest<Object>) throws -> [ManagedObjectID] {
        try reading(request) { () throws(DataSourceError) in
            let plan = try plan(request)
            if plan.tests == nil && plan.family.count == 1 {
                let layout = bindings[plan.family[0]].layout
                return try rows(plan, columns: []).map { ManagedObjectID(layout, key: $0.key) }
            }
            return try objects(plan).map(\.objectID)
        }
    }

    /// Some attributes of the objects of a request, in its order. Nothing else is read, and no objects are made.
    ///
    /// ```swift
    /// for (name, age) in try context.values(FetchRequest<ContactEntity>(), \.name, \.age) { ... }
    /// ```
    ///
    /// - Throws: As ``fetch(_:)``, and `damagedValue`.
    public func values<Object: ManagedObject, each Value: AttributeStorable>(
        _ request: FetchRequest<Object>, _ keyPaths: repeat KeyPath<Object, each Value>
    ) throws -> [(repeat each Value)] {
        try reading(request) { () throws(DataSourceError) in
            let (rows, columns, reader) = try valueRows(request, repeat each keyPaths)
            var values: [(repeat each Value)] = []
            values.reserveCapacity(rows.count)
            for row in rows {
                reader.row = row.row
                var next = columns.makeIterator()
                values.append((repeat reader.read((each Value).self, next.next())))
                try reader.check()
            }
            return values
        }
    }

    /// One attribute of the objects of a request, in its order.
    ///
    /// ```swift
    /// let known = Set(try context.values(FetchRequest<ContactEntity>(), \.uid))
    /// ```
    ///
    /// - Throws: As ``fetch(_:)``, and `damagedValue`.
    public func values<Object: ManagedObject, Value: AttributeStorable>(
        _ request: FetchRequest<Object>, _ keyPath: KeyPath<Object, Value>
    ) throws -> [Value] {
        try reading(request) { () throws(DataSourceError) in
            let (rows, columns, reader) = try valueRows(request, keyPath)
            var values: [Value] = []
            values.reserveCapacity(rows.count)
            for row in rows {
                reader.row = row.row
                values.append(reader.read(Value.self, columns[0]))
                try reader.check()
            }
            return values
        }
    }

    /// The rows of a request, the columns of the key paths, and what reads their values.
    private func valueRows<Object: ManagedObject, each Value: AttributeStorable>(
        _ request: FetchRequest<Object>, _ keyPaths: repeat KeyPath<Object, each Value>
    ) throws(DataSourceError) -> (rows: [StoredRow], columns: [Int], reader: RowValueReader) {
        var plan = try plan(request)
        let layout = bindings[plan.query.entity].layout
        var columns: [Int] = []
        for keyPath in repeat each keyPaths { columns.append(try column(keyPath, of: Object.self, layout)) }
        let window = plan.query
        if request.isDistinct { plan.query = plan.query.unlimited }
        var rows = try rows(plan, columns: columns)
        if request.isDistinct { rows = window.window(distinct(rows, columns, layout)) }
        return (rows, columns, RowValueReader(self, layout))
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
    private let layout: EntityLayout

    init(_ context: ManagedObjectContext, _ layout: EntityLayout) {
        self.layout = layout
        object = RowObject(
            ManagedObjectSeed(
                layout: layout, key: 0, row: RowSnapshot(columnCount: layout.columns.count), context: context,
                state: .gone, editing: .not, asOf: 0))
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
    func check(attributes columns: [Int?]? = nil) throws(DataSourceError) {
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
