internal import CoreDataSource
internal import ManagedModel
internal import RowStore

/// The contents of a store without IDs: for each entity, the number of objects with each content.
struct StoredContents: Sendable {
    private var objects: [String: [String: Int]] = [:]
    private let model: ManagedObjectModel

    init(_ container: PersistentContainer) async throws {
        try await container.flush()
        let layout = container.stack.layout
        model = layout.model
        let rows = try container.stack.root.store.read(.snapshot) { reader throws(DataSourceError) in
            var rows: [(entity: EntityLayout, stored: StoredRow)] = []
            for entity in layout.entities where !entity.isAbstract {
                try reader.forEachRow(RowQuery(entity: entity.index)) { rows.append((entity, $0)) }
            }
            return rows
        }
        let attributes = Dictionary(
            uniqueKeysWithValues: rows.map { ($0.stored.key, Self.attributes($0.stored, $0.entity)) })
        for (entity, stored) in rows {
            let content = ([attributes[stored.key] ?? ""] + Self.links(stored, entity, attributes))
                .joined(separator: ", ")
            let name = entity.links.map { "link of \($0.entity).\($0.name)" } ?? entity.name
            objects[name, default: [:]][content, default: 0] += 1
        }
    }

    private static func attributes(_ stored: StoredRow, _ entity: EntityLayout) -> String {
        entity.storedColumns.filter { entity.columns[$0].attribute != nil }
            .map { column in
                let value = stored.row.value(column, entity.columns[column].storage)
                let isTime = value != .null && isTimestamp(entity.columns[column].attribute, entity)
                return "\(entity.columns[column].name) \(isTime ? "a time" : text(value))"
            }
            .joined(separator: ", ")
    }

    /// Whether a value is the time of a save or a copy of that time. Such a value differs between stores.
    private static func isTimestamp(
        _ attribute: AttributeDescription?, _ entity: EntityLayout, after steps: Int = 0
    ) -> Bool {
        switch attribute?.derivationExpression.flatMap({ DerivationExpression($0) }) {
        case .now: return true
        case .path(let path) where steps < entity.columns.count:
            let source = entity.column(named: path.joined(separator: "."))
            return isTimestamp(source.flatMap { entity.columns[$0].attribute }, entity, after: steps + 1)
        default: return false
        }
    }

    /// The attributes of the objects that a row links to.
    private static func links(
        _ stored: StoredRow, _ entity: EntityLayout, _ attributes: [Int64: String]
    ) -> [String] {
        entity.storedColumns.filter { entity.columns[$0].attribute == nil }.compactMap { column in
            // Leave out the columns with entity indexes, because the column with the key already determines the object.
            let name = entity.columns[column].name
            guard entity.relationship(named: name) != nil || name == LinkNames.source || name == LinkNames.destination,
                case .integer(let key) = stored.row.value(column, .integer)
            else { return nil }
            return "\(name) (\(attributes[key] ?? "nothing"))"
        }
    }

    private static func text(_ value: RowValue) -> String {
        switch value {
        case .null: "nil"
        case .integer(let number): "\(number)"
        case .real(let number): "\(number)"
        case .text(let string): "\"\(string)\""
        case .blob(let bytes): "<\(bytes.map { "\($0)" }.joined(separator: " "))>"
        }
    }

    // MARK: Comparing

    func count<Object: ManagedObject>(of type: Object.Type) -> Int {
        entities(of: type).reduce(0) { $0 + (objects[$1]?.values.reduce(0, +) ?? 0) }
    }

    func isEmpty<Object: ManagedObject>(of type: Object.Type) -> Bool { count(of: type) == 0 }

    /// Returns the difference in the first entity with different contents, as a sentence; nil if all contents are equal.
    func difference(from expected: StoredContents) -> String? {
        for entity in Set(objects.keys).union(expected.objects.keys).sorted() {
            let missing = expected.excess(over: [self], ofEntity: entity)
            let extra = excess(over: [expected], ofEntity: entity)
            switch (missing, extra) {
            case (nil, nil): continue
            case (let missing?, nil): return "there is no \(entity) (\(missing))"
            case (nil, let extra?): return "there is an extra \(entity) (\(extra))"
            case (let missing?, let extra?):
                return "there is a \(entity) (\(extra)) instead of a \(entity) (\(missing))"
            }
        }
        return nil
    }

    /// Returns a content that more objects of the class have in this store than in each of the other stores; nil if there is
    /// none.
    func excess<Object: ManagedObject>(over others: StoredContents..., of type: Object.Type) -> String? {
        entities(of: type).lazy.compactMap { excess(over: others, ofEntity: $0) }.first
    }

    private func excess(over others: [StoredContents], ofEntity entity: String) -> String? {
        objects[entity]?
            .filter { content, count in others.allSatisfy { count > $0.objects[entity]?[content] ?? 0 } }
            .keys.min()
    }

    /// Returns the names of a class's entity and of its sub-entities.
    private func entities<Object: ManagedObject>(of type: Object.Type) -> [String] {
        model.family(ofEntityNamed: type.entityName).map(\.name)
    }
}
