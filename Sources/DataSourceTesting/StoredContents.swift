internal import CoreDataSource
internal import ManagedModel
internal import RowStore

/// The contents of a store without IDs: for each entity, the number of objects with each content.
struct StoredContents: Sendable {
    private var objects: [String: [String: Int]] = [:]
    /// The number of links in each column that stores links, by the names of the entity and the column.
    private var linkCounts: [String: Int] = [:]
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
            let links = Self.links(stored, entity, attributes)
            let content = ([attributes[stored.key] ?? ""] + links.map { "\($0.name) (\($0.object))" })
                .joined(separator: ", ")
            let name = entity.links.map { "link of \($0.entity).\($0.name)" } ?? entity.name
            objects[name, default: [:]][content, default: 0] += 1
            for link in links { linkCounts["\(name).\(link.name)", default: 0] += 1 }
        }
    }

    /// Derived attributes are left out: they follow from other values, or from the time of the save.
    private static func attributes(_ stored: StoredRow, _ entity: EntityLayout) -> String {
        entity.storedColumns.compactMap { column in
            guard let attribute = entity.columns[column].attribute, attribute.derivationExpression == nil else {
                return nil
            }
            return "\(entity.columns[column].name) \(text(stored.row.value(column, entity.columns[column].storage)))"
        }
        .joined(separator: ", ")
    }

    /// The names of a row's links, each with the attributes of the object that the link leads to.
    private static func links(
        _ stored: StoredRow, _ entity: EntityLayout, _ attributes: [Int64: String]
    ) -> [(name: String, object: String)] {
        entity.storedColumns.filter { entity.columns[$0].attribute == nil }.compactMap { column in
            // Leave out the columns with entity indexes, because the column with the key already determines the object.
            let name = entity.columns[column].name
            guard entity.relationship(named: name) != nil || name == LinkNames.source || name == LinkNames.destination,
                case .integer(let key) = stored.row.value(column, .integer)
            else { return nil }
            return (name, attributes[key] ?? "nothing")
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

    /// Whether a relationship has fewer links than in the other store.
    func lacksLinks(of other: StoredContents) -> Bool {
        other.linkCounts.contains { $0.value > linkCounts[$0.key] ?? 0 }
    }

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
