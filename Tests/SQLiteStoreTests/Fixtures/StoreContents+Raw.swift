import CSQLite
import Foundation
import ManagedModel
import RowStore
import TestSupport

extension StoreContents {
    /// What a file holds, read by SQLite alone. Only the names of tables and columns are known here: a table per concrete
    /// entity with a column per attribute, `x`, `x.entity` and `x.position` for a to-one relationship, and
    /// `_Entity_relationship` for links that are in no such column.
    init(rawFile: URL, _ model: ManagedObjectModel) throws {
        let raw = try RawDatabase(rawFile)
        let metadata = try raw.values("SELECT name, value FROM _metadata")
        func texts(after prefix: String) -> [String: String] {
            var texts: [String: String] = [:]
            for row in metadata {
                if case .text(let name) = row[0], case .text(let value) = row[1], name.hasPrefix(prefix) {
                    texts[String(name.dropFirst(prefix.count))] = value
                }
            }
            return texts
        }
        self.init(
            modelHash: texts(after: "modelHash")[""] ?? "", entityHashes: texts(after: "entity "),
            databaseKey: texts(after: "databaseKey")[""] ?? "", entityKeys: texts(after: "key "))
        let format = try raw.format
        for entity in model.entities where !entity.isAbstract { try readRows(of: entity, model, raw, format) }
        links.merge(try StoreContents.joinLinks(model, raw)) { one, _ in one }
    }

    private mutating func readRows(
        of entity: EntityDescription, _ model: ManagedObjectModel, _ raw: RawDatabase, _ format: Int64
    ) throws {
        let columns = model.columns(of: entity, format: format).filter(\.isStored)
        let list = columns.map { "[\($0.name)]" }.joined(separator: ", ")
        var found: [String: [String: String]] = [:]
        for row in try raw.values("SELECT _key, \(list) FROM [\(entity.name)]") {
            guard case .integer(let key) = row[0] else { continue }
            var values: [String: String] = [:]
            for (column, value) in zip(columns, row.dropFirst()) where column.attribute != nil {
                values[column.name] = value.spelling
            }
            found["\(key)"] = values
            for (place, column) in columns.enumerated() {
                guard case .destinationKey(let relationship) = column.role else { continue }
                func other(_ name: String) -> RowValue {
                    columns.firstIndex { $0.name == "\(column.name).\(name)" }.map { row[$0 + 1] } ?? .null
                }
                addLink(
                    "\(entity.name) \(key)", relationship, row[place + 1], entity: other("entity"),
                    position: other("position"), model)
                guard format > 1 else { continue }
                addInverseLink("\(entity.name) \(key)", relationship, row[place + 1], entity: other("entity"), model)
            }
        }
        rows[entity.name] = found
    }

    /// Notes where a to-one relationship leads to.
    mutating func addLink(
        _ source: String, _ relationship: RelationshipDescription, _ key: RowValue, entity: RowValue,
        position: RowValue = .null, _ model: ManagedObjectModel
    ) {
        guard case .integer(let key) = key else { return }
        var destination = relationship.destinationName
        if case .integer(let number) = entity { destination = model.entities[Int(number)].name }
        var source = source
        if case .integer(let position) = position { source += "@\(position)" }
        let owner = model.entities.first { $0.relationships.contains { $0 == relationship } }?.name ?? ""
        addLink("\(owner).\(relationship.name)", "\(source) > \(destination) \(key)")
    }

    /// Notes the other side of a one-to-one relationship, which has a column in the first format only.
    mutating func addInverseLink(
        _ source: String, _ relationship: RelationshipDescription, _ key: RowValue, entity: RowValue,
        _ model: ManagedObjectModel
    ) {
        guard case .integer(let key) = key, let inverse = model.inverse(of: relationship),
            let other = model.relationship(inverse), !other.isToMany, !other.isTransient, other != relationship
        else { return }
        var destination = relationship.destinationName
        if case .integer(let number) = entity { destination = model.entities[Int(number)].name }
        addLink("\(inverse.entity).\(inverse.name)", "\(destination) \(key) > \(source)")
    }

    private mutating func addLink(_ name: String, _ link: String) {
        links[name] = ((links[name] ?? []) + [link]).sorted()
    }

    /// The links of those relationships that have a table.
    static func joinLinks(_ model: ManagedObjectModel, _ raw: RawDatabase) throws -> [String: [String]] {
        var links: [String: [String]] = [:]
        let prefix = try raw.format == 1 ? "" : "_"
        for entity in model.entities {
            for relationship in entity.relationships where relationship.isToMany && !relationship.isTransient {
                let table = "_\(entity.name)_\(relationship.name)"
                let columns = try raw.run("SELECT name FROM pragma_table_info('\(table)')")
                guard !columns.isEmpty else { continue }
                func end(_ name: String, _ entityName: String, _ row: [String: RowValue]) -> String {
                    var entity = entityName
                    let name = prefix + name
                    if case .integer(let number) = row["\(name).entity"] { entity = model.entities[Int(number)].name }
                    var text = entity
                    if case .integer(let key) = row[name] { text += " \(key)" }
                    if case .integer(let position) = row["\(name).position"] { text += "@\(position)" }
                    return text
                }
                links["\(entity.name).\(relationship.name)"] = try raw.values("SELECT * FROM [\(table)]").map {
                    values in
                    let row = Dictionary(uniqueKeysWithValues: zip(columns, values))
                    return end("source", entity.name, row) + " > "
                        + end("destination", relationship.destinationName, row)
                }.sorted()
            }
        }
        return links
    }
}

extension RawDatabase {
    /// The format that the file says it has.
    var format: Int64 {
        get throws {
            guard
                case .integer(let format) = try values("SELECT value FROM _metadata WHERE name = 'format'").first?.first
            else { throw Failure(message: "no format") }
            return format
        }
    }
}

extension RowValue {
    /// As ``StoreContents`` spells it; nil for null.
    var spelling: String? {
        switch self {
        case .null: nil
        case .integer(let value): StoreContents.integer(value)
        case .real(let value): StoreContents.real(value)
        case .text(let value): StoreContents.text(value)
        case .blob(let value): StoreContents.bytes(value)
        }
    }
}
