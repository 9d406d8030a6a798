import Foundation
import ManagedModel
import RowStore
import SQLiteStore
import StoreTestModel

/// Fills a store of any model, and reads what is in the tables without knowing how they are written.
struct FilledStore {
    let folder: TemporaryFolder
    let model: ManagedObjectModel
    private let layout: ModelLayout

    static let rowCount = 3

    /// - Parameter keys: Those of data sources, by entity.
    init(_ model: ManagedObjectModel, keys: [String: String] = [:]) throws {
        folder = try TemporaryFolder()
        self.model = model
        layout = ModelLayout(model)
        let store = try SQLiteStore.open(.of(model, folder, keys: keys))
        for entity in layout.entities where !entity.isAbstract && entity.links == nil {
            try store.write([.of(entity.index, insert: (0..<FilledStore.rowCount).map { row(entity, $0) })])
        }
        store.close()
        try fillJoins()
    }

    private func key(_ entity: EntityLayout, _ number: Int) -> Int64 { Int64(entity.index * 10 + number + 1) }

    /// The first row has nothing that it need not have.
    private func row(_ entity: EntityLayout, _ number: Int) -> StoredRow {
        let columns = model.columns(of: model.entities[entity.index])
        let key = key(entity, number)
        var row = RowSnapshot(columnCount: columns.count)
        for (index, column) in columns.enumerated() where column.isStored {
            switch column.role {
            case .attribute(let attribute):
                let isDerived = attribute.derivationExpression != nil
                if !isDerived, number > 0 || !attribute.isOptional { row.setValue(value(attribute, key), index) }
            case .destinationKey(let relationship):
                guard let other = destination(relationship, number) else { continue }
                row.setInteger(self.key(other, number), index)
            case .destinationEntity(let relationship):
                if let other = destination(relationship, number) { row.setInteger(Int64(other.index), index) }
            case .position: if number != 1 { row.setInteger(Int64(10 - number), index) }
            }
        }
        derive(&row, columns)
        return StoredRow(key: key, row: row)
    }

    /// Gives derived attributes the values that a save would give them, as far as they come from another attribute.
    private func derive(_ row: inout RowSnapshot, _ columns: [ColumnDescription]) {
        for (index, column) in columns.enumerated() {
            guard let expression = column.attribute?.derivationExpression, column.isStored else { continue }
            let parts = expression.split(separator: ":")
            let name = (parts.last ?? "").trimmingCharacters(in: ["(", ")"])
            guard let source = columns.firstIndex(where: { $0.name == name }) else { continue }
            guard !row.isNull(source) else { continue }
            let text = row.text(source)
            let isCopy = parts.count == 1
            row.setValue(.text(isCopy ? text : parts[0] == "lowercase" ? text.lowercased() : text.uppercased()), index)
        }
    }

    private func destination(_ relationship: RelationshipDescription, _ number: Int) -> EntityLayout? {
        let family = layout.entity(named: relationship.destinationName)?.concreteFamily ?? []
        return family.isEmpty ? nil : layout.entities[family[number % family.count]]
    }

    private func value(_ attribute: AttributeDescription, _ key: Int64) -> RowValue {
        switch ColumnStorage(attribute.type) {
        case .integer: .integer(attribute.type == .boolean ? key % 2 : key * 7)
        case .real: .real(Double(key) + 0.5)
        case .text: .text(attribute.type == .decimal ? "\(key).25" : "\(attribute.name) \(key) é\0'")
        case .blob: .blob(Array("\(attribute.name) \(key)".utf8))
        }
    }

    private func fillJoins() throws {
        let raw = try RawDatabase(folder.store)
        var nextKey = Int64(layout.entities.count * 10)
        for (entity, relationship) in joins {
            let table = "_\(entity.name)_\(relationship.name)"
            let columns = Set(try raw.run("SELECT name FROM pragma_table_info('\(table)')"))
            guard !columns.isEmpty else { continue }
            let sources = entity.concreteFamily.map { layout.entities[$0] }
            for number in 0..<FilledStore.rowCount {
                guard !sources.isEmpty, let other = destination(relationship, number) else { continue }
                let source = sources[number % sources.count]
                nextKey += 1
                var values = ["_key": nextKey, "_source": key(source, number), "_destination": key(other, number)]
                values["_source.entity"] = Int64(source.index)
                values["_destination.entity"] = Int64(other.index)
                values["_source.position"] = Int64(number)
                values["_destination.position"] = Int64(10 - number)
                let used = values.filter { columns.contains($0.key) }.sorted { $0.key < $1.key }
                try raw.run(
                    "INSERT OR IGNORE INTO [\(table)] (\(used.map { "[\($0.key)]" }.joined(separator: ", "))) VALUES "
                        + "(\(used.map { "\($0.value)" }.joined(separator: ", ")))")
            }
        }
    }

    /// The to-many relationships, some of which have a table.
    private var joins: [(EntityLayout, RelationshipDescription)] {
        model.entities.enumerated().flatMap { index, entity in
            entity.relationships.filter { $0.isToMany && !$0.isTransient }.map { (layout.entities[index], $0) }
        }
    }
}

/// All tables as texts of SQL: by table, by key (or pair), by column.
struct TableContents {
    var tables: [String: [String: [String: String]]] = [:]

    init(_ folder: TemporaryFolder) throws { try self.init(folder.store) }

    init(_ url: URL) throws {
        let raw = try RawDatabase(url)
        for table in try raw.run("SELECT name FROM sqlite_schema WHERE type = 'table' AND name <> '_metadata'") {
            let columns = try raw.run("SELECT name FROM pragma_table_info('\(table)') ORDER BY name")
            let isJoin = columns.contains("_destination") && columns.contains("_source")
            let list = columns.map { "quote([\($0)])" }.joined(separator: ", ")
            let values = try raw.run("SELECT \(list) FROM [\(table)]")
            tables[table] = [:]
            for start in stride(from: 0, to: values.count, by: columns.count) {
                let row = Dictionary(uniqueKeysWithValues: zip(columns, values[start..<start + columns.count]))
                let key = isJoin ? "\(row["_source"] ?? "") \(row["_destination"] ?? "")" : row["_key"] ?? ""
                tables[table]?[key] = row
            }
        }
    }
}
