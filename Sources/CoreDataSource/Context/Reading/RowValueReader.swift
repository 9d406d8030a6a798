internal import QueryLanguage
internal import RowStore

/// Reads the values of rows as the types of attributes, with one object that takes each row in turn.
struct RowValueReader {
    private let object: RowObject
    private let layout: EntityLayout
    /// The reader of each joined column.
    private let joined: [RelatedCell]
    private let current = CurrentRow()

    /// The joined columns of the current row.
    private final class CurrentRow {
        var joined: RowSnapshot?
    }

    /// - Parameter hasAggregateResults: Whether the rows contain results of aggregates, whose types differ from the types of
    ///   the columns.
    init(
        _ context: ManagedObjectContext, _ layout: EntityLayout, _ joined: [JoinedColumn] = [],
        hasAggregateResults: Bool
    ) {
        self.layout = layout
        object = RowObject.make(layout, context, storesAnyValue: hasAggregateResults)
        self.joined = joined.map { RelatedCell($0, layout, context) }
    }

    var row: StoredRow {
        get { StoredRow(key: 0, row: object.row) }
        nonmutating set {
            object.row = newValue.row
            current.joined = newValue.joined
        }
    }

    func read<Value: AttributeStorable>(_ type: Value.Type, _ column: Int?) -> Value {
        let column = column ?? 0
        guard JoinedColumn.isJoined(column) else { return Value.read(from: object, at: column) }
        let index = JoinedColumn.index(column)
        return joined[index].read(type, current.joined, index)
    }

    /// Returns the key of a group.
    ///
    /// - Parameter id: The related object of the group, if the column has keys of related objects.
    func groupKey<Key: GroupableProperty>(
        _ type: Key.Type, _ column: Int, id: ManagedObjectID?
    ) throws(DataSourceError) -> Key.GroupKey {
        let value: GroupValue
        if JoinedColumn.isJoined(column) {
            let index = JoinedColumn.index(column)
            value = joined[index].groupValue(current.joined, index, id)
        } else {
            value = GroupValue(object: object, column: column, id: id)
        }
        do { return try Key.groupKey(of: value) } catch let error as DataSourceError { throw error } catch {
            throw DataSourceError(.invalidRequest, "The key of a group could not be read: \(error)")
        }
    }

    /// - Parameter columns: For results of aggregates, the column that each result was calculated from; nil for a count.
    /// - Throws: `damagedValue` if a value that was read since the last check did not have its type.
    func check(attributes columns: [Int?]? = nil) throws(DataSourceError) {
        for cell in joined { try cell.check() }
        guard let damage = object.damage else { return }
        object.damage = nil
        let column = columns.map { $0[damage] } ?? damage
        guard let column else { return }
        throw damaged(column)
    }

    /// Returns the error for a value that does not have the type of its column's attribute.
    func damaged(_ column: Int) -> DataSourceError {
        if JoinedColumn.isJoined(column) { return joined[JoinedColumn.index(column)].damaged }
        layout.recordDamage(column)
        return DataSourceError(damagedColumn: column, layout)
    }
}

/// Reads a joined column as the attribute at the end of its relationships.
private struct RelatedCell {
    private let object: RowObject
    private let layout: EntityLayout
    private let column: Int
    private let storage: ColumnStorage

    init(_ joined: JoinedColumn, _ layout: EntityLayout, _ context: ManagedObjectContext) {
        storage = joined.kind.storage
        (self.layout, column) = RelatedCell.attribute(joined, layout, context.stack.layout)
        object = RowObject.make(self.layout, context, storesAnyValue: true)
    }

    /// Returns the entity and the column of the attribute. A number that is calculated from many objects has no
    /// attribute. For such a number, the result is the first column, because every row has a first column.
    private static func attribute(
        _ joined: JoinedColumn, _ layout: EntityLayout, _ model: ModelLayout
    ) -> (EntityLayout, Int) {
        switch joined.source {
        case .value(let related, let column), .aggregate(let related, .min, let column?),
            .aggregate(let related, .max, let column?):
            let destination = model.entities[related.destination]
            if !JoinedColumn.isJoined(column) { return (destination, column) }
            return attribute(related.joined[JoinedColumn.index(column)], destination, model)
        default: return (layout, 0)
        }
    }

    func read<Value: AttributeStorable>(_ type: Value.Type, _ row: RowSnapshot?, _ index: Int) -> Value {
        fill(row, index)
        return Value.read(from: object, at: column)
    }

    func groupValue(_ row: RowSnapshot?, _ index: Int, _ id: ManagedObjectID?) -> GroupValue {
        // A group with an id needs no value: the key of an object is not an attribute.
        if id == nil { fill(row, index) }
        return GroupValue(object: object, column: column, id: id)
    }

    private func fill(_ row: RowSnapshot?, _ index: Int) {
        // Use a new row, because a row that is written repeatedly would grow.
        object.row = RowSnapshot(columnCount: object.row.columnCount)
        object.row.setValue(row?.value(index, storage) ?? .null, column)
    }

    func check() throws(DataSourceError) {
        guard object.damage != nil else { return }
        object.damage = nil
        throw damaged
    }

    var damaged: DataSourceError {
        layout.recordDamage(column)
        return DataSourceError(damagedColumn: column, layout)
    }
}

/// Attributes that are derived from other objects, such as `category.name` and `articles.@count`.
extension ManagedObject {
    /// Returns the value of a column that is derived along relationships. For generated code.
    ///
    /// ```swift
    /// var messageCount: Int64 { calculatedAttribute(at: 0) }
    /// ```
    ///
    /// The value is not stored. Each read calculates the value from the objects in the context. In predicates, sort orders and
    /// `values`, the attribute stands for its path, and the store calculates the value.
    ///
    /// If the objects cannot be read, the result is nil or zero. The save, or ``PersistentContainer/read(_:)``, then
    /// throws the error. In the main context, ``PersistentContainer/failures`` reports the error. After the container
    /// is deinitialized, the result is nil or zero. The call traps for the object of a ``ListRow``, because that object
    /// has no related objects.
    ///
    /// **Isolation**: the isolation of the object's context.
    ///
    /// - Complexity: The first read makes one query for each relationship of the path, for up to 1,000 objects that were
    ///   fetched together. Later reads take constant time. A sum, an average, a minimum or a maximum makes one query at each
    ///   read.
    /// - Parameter column: The index of the column in `ManagedObjectModel.columns(of:)`.
    public final func calculatedAttribute<Value: AttributeStorable>(at column: Int) -> Value {
        guard let path = layout.calculatedPaths[column] else { refuseColumn(column, Value.self) }
        if context == nil { home.uncalculatedColumn = column }
        return readingFromContext { context in try context.calculated(path, column, of: self) }
            ?? home.nullValue(column)
    }
}

extension ManagedObject {
    /// Returns the value of a derived column. If the column is derived along relationships, the value is calculated at each
    /// read. For the macro.
    public final func derivedAttribute<Value: AttributeStorable>(at column: Int) -> Value {
        layout.calculatedPaths[column] == nil ? attribute(at: column) : calculatedAttribute(at: column)
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

    /// Calculates a value from many objects.
    private func aggregate<Value: AttributeStorable>(
        _ path: [String], of object: ManagedObject
    ) throws(DataSourceError) -> Value? {
        let resolver = PredicateResolver(
            object.layout, in: stack.layout, entitiesWithDeletedObjects: entitiesWithDeletedObjects)
        guard case .column(let column) = try resolver.ownPath(path).expression else { return nil }
        let joined = resolver.joins.columns
        let reader = RowValueReader(self, object.layout, joined, hasAggregateResults: true)
        reader.row = try filled([StoredRow(key: object.key, row: object.row)], joined)[0]
        let value = reader.read(Value.self, column)
        try reader.check()
        return value
    }
}

extension ObjectHome {
    /// Returns the value that a type reads from null.
    fileprivate func nullValue<Value: AttributeStorable>(_ column: Int) -> Value {
        scratch.row = RowSnapshot(columnCount: layout.columns.count)
        return Value.read(from: scratch, at: column)
    }

    /// Returns a number as a value of the column's type.
    fileprivate func integer<Value: AttributeStorable>(_ number: Int, _ column: Int) -> Value {
        scratch.row = RowSnapshot(columnCount: layout.columns.count)
        scratch.row.setValue(.integer(Int64(number)), column)
        return Value.read(from: scratch, at: column)
    }
}

extension ManagedObject {
    /// The context of the object. Nil after the container is deinitialized, and for the object that ``ListRow`` creates for one
    /// read.
    public final var context: ManagedObjectContext? {
        // Only a context creates a home with a context.
        home.context.map { unsafeDowncast($0, to: ManagedObjectContext.self) }
    }
}
