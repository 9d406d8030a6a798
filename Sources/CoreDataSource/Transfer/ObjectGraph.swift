public import Foundation
internal import RowStore

/// Objects and their links as a value, for test fixtures, to seed a store, and to move objects to another store.
///
/// Any context exports a graph, and a container imports a graph as one save:
///
/// ```swift
/// let graph = try await container.read {
///     try $0.exportGraph(of: [GroupEntity.self, ContactEntity.self])
/// }
/// try await other.importGraph(graph)
/// ```
///
/// The JSON of a graph has the objects by entity. A link is the value of the destination's key. A key is an attribute with a
/// uniqueness constraint of its own:
///
/// ```json
/// {
///   "ContactEntity": [
///     {"uid": "1", "name": "Guan Yu", "birthday": null, "group": "7"}
///   ],
///   "GroupEntity": [{"gid": "7", "name": "Oath"}]
/// }
/// ```
///
/// Numbers, booleans and strings are those of JSON. Decimals, UUIDs and URLs are strings. Data is a string in base 64. A date
/// is a string in ISO 8601, or a number of seconds since 2001 if the string would lose precision. A composite is an object, and
/// a transformable is the JSON of its value. An import restores every value exactly.
///
/// The objects of an entity are sorted by their keys, and names are sorted too. So equal graphs give equal files, and a changed
/// value is a changed line.
public struct ObjectGraph: Sendable, Hashable {
    /// The objects by entity, each by the names of its properties.
    private(set) var records: [String: [[JSONName: JSONValue]]] = [:]

    /// A graph without objects.
    ///
    /// ```swift
    /// #expect(graph != ObjectGraph())
    /// ```
    public init() {}

    /// Reads the JSON of a graph. The import checks the names against the model.
    ///
    /// ```swift
    /// let graph = try ObjectGraph(json: Data(contentsOf: file))
    /// ```
    ///
    /// **Complexity**: linear in the size of the data.
    ///
    /// - Throws: `invalidGraph`, with the line, if the data is not JSON; `invalidGraph` if the JSON does not have lists of
    ///   objects by entity.
    public init(json: Data) throws {
        var reader = JSONReader(Array(json))
        try reader.forEachRecord { entity, _, record in
            records[entity, default: []].append(record)
        } list: {
            records[$0] = []
        }
    }

    init(_ records: [String: [[JSONName: JSONValue]]]) {
        self.records = records
    }

    /// The graph as JSON, with the same bytes for equal graphs: names are sorted, and each value has its own line. The cost is
    /// proportional to the size of the graph.
    ///
    /// ```swift
    /// try graph.json.write(to: file)
    /// ```
    public var json: Data { Data((value.prettyText + "\n").utf8) }

    /// The names of the entities, sorted.
    public var entityNames: [String] { records.keys.sorted() }

    /// The number of objects of an entity, without the objects of sub-entities.
    ///
    /// ```swift
    /// print(graph.objectCount(ofEntity: "ContactEntity"))  // 3
    /// ```
    public func objectCount(ofEntity name: String) -> Int { records[name]?.count ?? 0 }

    private var value: JSONValue {
        let lists = records.map { (JSONName($0), JSONValue.array($1.map { .object($0) })) }
        return .object(Dictionary(lists) { first, _ in first })
    }
}

extension ObjectGraph: Codable {
    public init(from decoder: any Decoder) throws {
        records = try [String: [[JSONName: JSONValue]]](from: decoder)
    }

    public func encode(to encoder: any Encoder) throws { try records.encode(to: encoder) }
}

extension ObjectGraph: CustomStringConvertible {
    /// The number of objects of each entity: `ObjectGraph (3 ContactEntity, 1 GroupEntity)`.
    public var description: String {
        "ObjectGraph (\(entityNames.map { "\(objectCount(ofEntity: $0)) \($0)" }.joined(separator: ", ")))"
    }
}

extension JSONReader {
    /// Reads a graph object by object.
    ///
    /// - Parameters:
    ///   - body: Called with the name of each object's entity, its index among the objects of the entity, and its properties.
    ///   - list: Called with the name of each entity before its objects.
    mutating func forEachRecord(
        _ body: (String, Int, [JSONName: JSONValue]) throws -> Void, list: (String) throws -> Void = { _ in }
    ) throws {
        var names: Set<String> = []
        try forEachMember { name, reader in
            guard names.insert(name).inserted else {
                throw DataSourceError(
                    .invalidGraph, "\(name) is listed twice in a graph. Put all objects of the entity into one list.")
            }
            guard try reader.peekToken() == UInt8(ascii: "[") else {
                throw DataSourceError(.invalidGraph, "\(name): a list of objects is missing.")
            }
            try list(name)
            var index = 0
            try reader.forEachElement { reader in
                guard case .object(let record) = try reader.value() else {
                    throw DataSourceError(.invalidGraph, "\(name)[\(index)] is not an object.")
                }
                try body(name, index, record)
                index += 1
            }
        }
        try expectEnd()
    }
}

extension ObjectGraph {
    /// The first difference from another graph as a sentence, which may show values; nil if the graphs are equal.
    package func difference(from expected: ObjectGraph) -> String? {
        for entity in Set(entityNames).union(expected.entityNames).sorted() {
            let (found, wanted) = (records[entity] ?? [], expected.records[entity] ?? [])
            for (index, (one, other)) in zip(found, wanted).enumerated() where one != other {
                for name in Set(one.keys).union(other.keys).sorted() where one[name] != other[name] {
                    let texts = [one[name], other[name]].map { $0?.text ?? "absent" }
                    return "\(entity)[\(index)].\(name.text) is \(texts[0]) instead of \(texts[1])"
                }
            }
            if found.count != wanted.count {
                return "the number of objects of \(entity) is \(found.count) instead of \(wanted.count)"
            }
        }
        return nil
    }
}
