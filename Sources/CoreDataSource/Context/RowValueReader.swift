internal import RowStore

/// Reads the values of rows as the types of attributes, through one object that is reused for all of them.
struct RowValueReader {
    private let object: RowObject
    private let layout: EntityLayout
    /// What reads each of the joined columns.
    private let joined: [RelatedCell]
    private let current = CurrentRow()

    /// The row whose values are read now.
    private final class CurrentRow {
        var joined: RowSnapshot?
    }

    /// - Parameter holdsResults: Whether the rows hold results of aggregates, whose types are not those of the columns.
    init(
        _ context: ManagedObjectContext, _ layout: EntityLayout, _ joined: [JoinedColumn] = [], holdsResults: Bool
    ) {
        self.layout = layout
        object = RowObject.make(layout, context, holdsAnyValue: holdsResults)
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

    /// - Parameter columns: The attribute's column for each column that was read, where they differ; nil for a count.
    /// - Throws: `damagedValue` if a value since the last check could not be read as it is stored.
    func check(attributes columns: [Int?]? = nil) throws(DataSourceError) {
        for cell in joined { try cell.check() }
        guard let damage = object.damage else { return }
        object.damage = nil
        let column = columns.map { $0[damage] } ?? damage
        guard let column else { return }
        throw damaged(column)
    }

    /// The error for a column with a value that does not have its attribute's type.
    func damaged(_ column: Int) -> DataSourceError {
        if JoinedColumn.isJoined(column) { return joined[JoinedColumn.index(column)].damaged }
        layout.noteDamage(column)
        return DataSourceError(damagedColumn: column, layout)
    }
}

/// Reads a joined column as the attribute that it is at the end of its relationships.
private struct RelatedCell {
    private let object: RowObject
    private let layout: EntityLayout
    private let column: Int
    private let storage: ColumnStorage

    init(_ joined: JoinedColumn, _ layout: EntityLayout, _ context: ManagedObjectContext) {
        storage = joined.kind.storage
        (self.layout, column) = RelatedCell.attribute(joined, layout, context.stack.layout)
        object = RowObject.make(self.layout, context, holdsAnyValue: true)
    }

    /// The entity and the column at the end. A number that is calculated from many objects has no attribute; it is put into the
    /// first column, which always has room.
    private static func attribute(
        _ joined: JoinedColumn, _ layout: EntityLayout, _ model: ModelLayout
    ) -> (EntityLayout, Int) {
        switch joined.source {
        case .value(let related, let column):
            let destination = model.entities[related.destination]
            if !JoinedColumn.isJoined(column) { return (destination, column) }
            return attribute(related.joined[JoinedColumn.index(column)], destination, model)
        case .aggregate(let related, let function, let column?) where function == .min || function == .max:
            let destination = model.entities[related.destination]
            if !JoinedColumn.isJoined(column) { return (destination, column) }
            return attribute(related.joined[JoinedColumn.index(column)], destination, model)
        default: return (layout, 0)
        }
    }

    func read<Value: AttributeStorable>(_ type: Value.Type, _ row: RowSnapshot?, _ index: Int) -> Value {
        // A row that is written repeatedly would grow.
        object.row = RowSnapshot(columnCount: object.row.columnCount)
        object.row.setValue(row?.value(index, storage) ?? .null, column)
        return Value.read(from: object, at: column)
    }

    func check() throws(DataSourceError) {
        guard object.damage != nil else { return }
        object.damage = nil
        throw damaged
    }

    var damaged: DataSourceError {
        layout.noteDamage(column)
        return DataSourceError(damagedColumn: column, layout)
    }
}
