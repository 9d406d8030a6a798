import ManagedModel
import RowStore

/// The model that most tests use: one entity with a column of each storage, one that inherits from it.
enum TestModel {
    static let integer = 0
    static let real = 1
    static let text = 2
    static let blob = 3
    static let decimal = 4
    static let code = 5
    static let flag = 6
    static let columnCount = 7

    static let model = ManagedObjectModel(
        name: "Test",
        entities: [
            EntityDescription(
                name: "Item",
                attributes: [
                    AttributeDescription(name: "integer", type: .integer64, isOptional: true, isIndexed: true),
                    AttributeDescription(name: "real", type: .double, isOptional: true),
                    AttributeDescription(name: "text", type: .string, isOptional: true),
                    AttributeDescription(name: "blob", type: .binary, isOptional: true),
                    AttributeDescription(name: "decimal", type: .decimal, isOptional: true),
                    AttributeDescription(name: "code", type: .string, isOptional: true),
                    AttributeDescription(name: "flag", type: .boolean, isOptional: true, isTransient: true),
                ],
                uniquenessConstraints: [["code"], ["integer", "text"]]),
            EntityDescription(
                name: "SubItem", parentName: "Item",
                attributes: [AttributeDescription(name: "extra", type: .string, isOptional: true)]),
        ])

    static let layout = ModelLayout(model)
    static let item = 0

    static func identity(_ hash: String = "hash", key: String = "1") -> StoreIdentity {
        StoreIdentity(modelHash: hash, entityHashes: ["Item": hash, "SubItem": "sub"], databaseKey: key)
    }

    /// A row with these values in its first columns and nulls in the others.
    static func row(_ values: RowValue..., columnCount: Int = columnCount) -> RowSnapshot {
        var row = RowSnapshot(columnCount: columnCount)
        for (column, value) in values.enumerated() { row.setValue(value, column) }
        return row
    }

    static func row(code: String) -> RowSnapshot {
        row(.null, .null, .null, .null, .null, .text(code))
    }
}

extension ChangeSet {
    /// A save of one entity.
    static func of(
        _ entity: Int = TestModel.item, insert: [StoredRow] = [], update: [UpdatedRow] = [], delete: [StoredRow] = [],
        number: Int64 = 0
    ) -> ChangeSet {
        var changes = EntityChanges(entity: entity)
        changes.inserted = insert
        changes.updated = update
        changes.deleted = delete
        var set = ChangeSet(entities: [changes])
        set.number = number
        return set
    }
}

extension UpdatedRow {
    /// An update of the columns in which the rows differ.
    static func of(_ key: Int64, _ previous: RowSnapshot, _ row: RowSnapshot, _ layout: EntityLayout) -> UpdatedRow {
        var columns = ColumnSet()
        for (index, column) in layout.columns.enumerated()
        where !row.isEqual(to: previous, column: index, storage: column.storage) {
            columns.insert(index)
        }
        return UpdatedRow(key: key, row: row, previous: previous, columns: columns)
    }
}
