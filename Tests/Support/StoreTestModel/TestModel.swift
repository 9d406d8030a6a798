package import ManagedModel
internal import ModelMigration
package import RowStore

/// The model of the stores' tests: one entity with a column of each storage, and one sub-entity.
package enum TestModel {
    package static let integer = 0
    package static let real = 1
    package static let text = 2
    package static let blob = 3
    package static let decimal = 4
    package static let code = 5
    package static let flag = 6
    package static let columnCount = 7

    package static let model = ManagedObjectModel(
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

    /// The model of a later release: with an entity before the others, with renamed, new, widened and removed attributes, and
    /// with a many-to-many relationship.
    package static let nextModel: ManagedObjectModel = {
        var model = TestModel.model
        model.entities[0].attributes[0].type = .decimal
        model.entities[0].attributes[2].name = "title"
        model.entities[0].attributes[2].renamingIdentifier = "text"
        model.entities[0].attributes[4] = AttributeDescription(
            name: "price", type: .double, defaultValue: .double(1.5))
        model.entities[0].uniquenessConstraints = [["code"]]
        model.entities[0].relationships = [
            RelationshipDescription(name: "parts", destinationName: "Item", isToMany: true, isOptional: true)
        ]
        model.entities.insert(EntityDescription(name: "Box"), at: 0)
        return model
    }()

    /// A model to which the rows of ``model`` cannot be migrated.
    package static let strictModel: ManagedObjectModel = {
        var model = TestModel.model
        model.entities[0].attributes.append(AttributeDescription(name: "must", type: .string))
        return model
    }()

    /// The model with one more index. The hash is the same.
    package static let indexedModel: ManagedObjectModel = {
        var model = TestModel.model
        model.entities[0].attributes[2].isIndexed = true
        return model
    }()

    /// A model with a to-one and a to-many relationship to the entities of one family. The links of the to-many relationship
    /// have their own table.
    package static let linkModel = ManagedObjectModel(
        name: "Links",
        entities: [
            EntityDescription(
                name: "Person",
                relationships: [
                    RelationshipDescription(name: "home", destinationName: "Place", isOptional: true),
                    RelationshipDescription(
                        name: "visited", destinationName: "Place", isToMany: true, isOptional: true),
                ]),
            EntityDescription(name: "Place"), EntityDescription(name: "Town", parentName: "Place"),
        ])

    package static let layout = ModelLayout(model)
    package static let item = 0

    package static func identity(_ hash: String = "hash", key: String = "1") -> StoreIdentity {
        StoreIdentity(modelHash: hash, entityHashes: ["Item": hash, "SubItem": "sub"], databaseKey: key)
    }

    /// The identity of a model, as a container makes it.
    package static func identity(of model: ManagedObjectModel, keys: [String: String] = [:]) -> StoreIdentity {
        StoreIdentity(
            modelHash: model.hash.description, entityHashes: model.entityHashes.mapValues(\.description),
            databaseKey: "1", entityKeys: keys, entityNames: EntityNames(of: model))
    }

    /// A row with the values in its first columns and nulls in the others.
    package static func row(_ values: RowValue..., columnCount: Int = columnCount) -> RowSnapshot {
        var row = RowSnapshot(columnCount: columnCount)
        for (column, value) in values.enumerated() { row.setValue(value, column) }
        return row
    }

    package static func row(code: String) -> RowSnapshot {
        row(.null, .null, .null, .null, .null, .text(code))
    }
}

extension ChangeSet {
    package static func of(
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
    package static func of(_ key: Int64, _ previous: RowSnapshot, _ row: RowSnapshot, _ layout: EntityLayout)
        -> UpdatedRow
    {
        var columns = ColumnSet()
        for (index, column) in layout.columns.enumerated()
        where !row.isEqual(to: previous, column: index, storage: column.storage) {
            columns.insert(index)
        }
        return UpdatedRow(key: key, row: row, previous: previous, columns: columns)
    }
}
