internal import QueryLanguage
internal import RowStore

/// Values of rows, without objects.
extension ManagedObjectContext {
    /// The ids of the objects of a request, in its order.
    ///
    /// - Throws: What ``fetch(_:)`` throws.
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
    /// - Parameters:
    ///   - request: Which objects, in which order.
    ///   - keyPaths: Attributes, also those that to-one relationships lead to.
    /// - Throws: What ``fetch(_:)`` throws, and `damagedValue`.
    public func values<Object: ManagedObject, each Value: AttributeStorable>(
        _ request: FetchRequest<Object>, _ keyPaths: repeat KeyPath<Object, each Value>
    ) throws -> [(repeat each Value)] {
        try reading(request) { () throws(DataSourceError) in
            let (rows, columns, reader) = try valueRows(request, repeat each keyPaths)
            var values: [(repeat each Value)] = []
            values.reserveCapacity(rows.count)
            for row in rows {
                reader.row = row
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
    /// - Parameters:
    ///   - request: Which objects, in which order.
    ///   - keyPath: An attribute, also one that to-one relationships lead to.
    /// - Throws: What ``fetch(_:)`` throws, and `damagedValue`.
    public func values<Object: ManagedObject, Value: AttributeStorable>(
        _ request: FetchRequest<Object>, _ keyPath: KeyPath<Object, Value>
    ) throws -> [Value] {
        try reading(request) { () throws(DataSourceError) in
            let (rows, columns, reader) = try valueRows(request, keyPath)
            var values: [Value] = []
            values.reserveCapacity(rows.count)
            for row in rows {
                reader.row = row
                values.append(reader.read(Value.self, columns[0]))
                try reader.check()
            }
            return values
        }
    }

    /// The rows of a request, the columns of the key paths, and the reader of their values.
    private func valueRows<Object: ManagedObject, each Value: AttributeStorable>(
        _ request: FetchRequest<Object>, _ keyPaths: repeat KeyPath<Object, each Value>
    ) throws(DataSourceError) -> (rows: [StoredRow], columns: [Int], reader: RowValueReader) {
        var plan = try plan(request)
        let layout = bindings[plan.query.entity].layout
        let resolver = resolver(for: plan.query)
        var columns: [Int] = []
        for keyPath in repeat each keyPaths { columns.append(try column(keyPath, of: Object.self, resolver)) }
        plan.query.joined = resolver.joins.columns
        let window = plan.query
        if request.isDistinct { plan.query = plan.query.unlimited }
        var rows = try rows(plan, columns: columns)
        if request.isDistinct { rows = window.window(distinct(rows, columns, layout)) }
        return (rows, columns, RowValueReader(self, layout, plan.query.joined, holdsResults: false))
    }

    private func distinct(_ rows: [StoredRow], _ columns: [Int], _ layout: EntityLayout) -> [StoredRow] {
        var met: Set<[RowValue]> = []
        return rows.filter { row in
            met.insert(columns.map { row.value($0, layout.order(of: $0).storage) }).inserted
        }
    }

    /// What finds further columns for a query.
    func resolver(for query: RowQuery) -> PredicateResolver {
        PredicateResolver(
            bindings[query.entity].layout, in: stack.layout, joined: query.joined, withGoneObjects: withGoneObjects)
    }

    /// The column that a key path leads to; it can be a joined one.
    func column(
        _ keyPath: AnyKeyPath, of type: ManagedObject.Type, _ resolver: PredicateResolver
    ) throws(DataSourceError) -> Int {
        let path = try RelatedKeyPaths.names(keyPath, of: type)
        if case .column(let column) = try resolver.ownPath(path).expression { return column }
        throw DataSourceError(
            .unsupportedQuery,
            "\"\(path.joined(separator: "."))\" of \(type.entityName) is calculated from a value of a row. Read the value, and calculate it in code.",
            entityName: type.entityName, attributeName: path.joined(separator: "."))
    }
}
