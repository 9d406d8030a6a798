internal import QueryLanguage
internal import RowStore

/// Attributes that are derived from other objects, such as `category.name` and `articles.@count`.
extension ManagedObject {
    /// The value of a column that is derived along relationships, by its index in `ManagedObjectModel.columns(of:)`. For generated
    /// code.
    ///
    /// It is calculated when it is read, and so is as new as the objects in the context; the store keeps nothing of it. In
    /// predicates, orders and `values` the attribute stands for its path, and the store calculates it.
    ///
    /// If the objects cannot be read, the result is nil or zero, and the save or the read then throws; on main,
    /// ``PersistentContainer/failures`` reports it. It is nil or zero, too, once the container is gone. A ``ListRow`` has no other
    /// objects to calculate it from, so it traps.
    ///
    /// **Isolation**: that of the object's context.
    ///
    /// - Complexity: The first time one query for up to 1,000 objects that were fetched together for each relationship of
    ///   the path, then constant. A sum, a mean, a minimum and a maximum: one query each time.
    public final func calculatedAttribute<Value: AttributeStorable>(at column: Int) -> Value {
        guard let path = layout.calculatedPaths[column] else { refuseColumn(column, Value.self) }
        if context == nil { home.uncalculatedColumn = column }
        return following { context in try context.calculated(path, column, of: self) } ?? home.nothing(column)
    }
}

extension ManagedObjectContext {
    fileprivate func calculated<Value: AttributeStorable>(
        _ path: [String], _ column: Int, of object: ManagedObject
    ) throws -> Value? {
        var (owner, keys) = (object, path[...])
        while let key = keys.first, let index = owner.layout.relationship(named: key),
            !owner.layout.relationships[index].isToMany
        {
            guard let next = try destination(of: owner, at: index) else { return nil }
            (owner, keys) = (next, keys.dropFirst())
        }
        if let index = keys.first.flatMap({ owner.layout.relationship(named: $0) }) {
            guard keys.last == "@count" else { return try aggregate(Array(keys), of: owner) }
            return object.home.integer(try ends(of: owner, at: index).count, column)
        }
        guard let source = owner.layout.column(named: keys.joined(separator: ".")) else { return nil }
        return Value.read(from: owner, at: source)
    }

    /// A value that is calculated from many objects.
    private func aggregate<Value: AttributeStorable>(
        _ path: [String], of object: ManagedObject
    ) throws(DataSourceError) -> Value? {
        let resolver = PredicateResolver(object.layout, in: stack.layout, withGoneObjects: withGoneObjects)
        guard case .column(let column) = try resolver.ownPath(path).expression else { return nil }
        let joined = resolver.joins.columns
        let reader = RowValueReader(self, object.layout, joined, holdsResults: true)
        reader.row = try filled([StoredRow(key: object.key, row: object.row)], joined)[0]
        let value = reader.read(Value.self, column)
        try reader.check()
        return value
    }
}

extension ObjectHome {
    /// What a type reads where there is no value.
    fileprivate func nothing<Value: AttributeStorable>(_ column: Int) -> Value {
        scratch.row = RowSnapshot(columnCount: layout.columns.count)
        return Value.read(from: scratch, at: column)
    }

    /// A number as the type of a column.
    fileprivate func integer<Value: AttributeStorable>(_ number: Int, _ column: Int) -> Value {
        scratch.row = RowSnapshot(columnCount: layout.columns.count)
        scratch.row.setValue(.integer(Int64(number)), column)
        return Value.read(from: scratch, at: column)
    }
}
