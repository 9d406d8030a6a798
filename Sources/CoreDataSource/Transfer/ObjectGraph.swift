public import Foundation
internal import RowStore

/// A value with objects and their links. Use a graph for test fixtures, to seed a store, or to copy objects to another store.
///
/// Any context exports a graph. A container imports a graph in one save:
///
/// ```swift
/// let graph = try await container.read {
///     try $0.exportGraph(of: [GroupEntity.self, ContactEntity.self])
/// }
/// try await other.importGraph(graph)
/// ```
///
/// In the JSON of a graph, objects are listed by entity. A link is the key of its destination object. The key is an attribute
/// with its own uniqueness constraint:
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
/// Numbers, booleans and strings are JSON numbers, booleans and strings. Infinite numbers are the strings `"inf"` and
/// `"-inf"`. Decimals, UUIDs and URLs are strings. Data is a base 64 string. A date is an ISO 8601 string, or a number
/// of seconds since 2001 if the string would lose precision. A composite is an object. A transformable is the JSON of
/// its value, or an object with its bytes if the JSON would change the bytes. An import restores every value exactly.
/// Transient and derived attributes are left out.
///
/// The objects of an entity are sorted by their keys, and names are sorted too. Therefore equal graphs give equal files, and
/// each changed value changes one line.
public struct ObjectGraph: Sendable, Hashable {
    /// The objects by entity. Each object has its values by property name.
    private(set) var records: [String: [[JSONName: JSONValue]]] = [:]

    /// Makes a graph without objects.
    ///
    /// ```swift
    /// #expect(graph != ObjectGraph())
    /// ```
    public init() {}

    /// Makes a graph from JSON. The names are not checked against the model until the import.
    ///
    /// ```swift
    /// let graph = try ObjectGraph(json: Data(contentsOf: file))
    /// ```
    ///
    /// **Complexity**: linear in the size of the data.
    ///
    /// - Throws: `invalidGraph`, with the line, if the data is not JSON; `invalidGraph` if the JSON does not list objects by
    ///   entity.
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

    /// The graph as JSON. Equal graphs have the same bytes, because names are sorted. Each value is on its own line.
    ///
    /// **Complexity**: linear in the size of the graph.
    ///
    /// ```swift
    /// try graph.json.write(to: file)
    /// ```
    public var json: Data { Data((value.prettyText + "\n").utf8) }

    /// The names of the entities, in alphabetical order.
    public var entityNames: [String] { records.keys.sorted() }

    /// Returns the number of objects of an entity, without the objects of sub-entities.
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
    /// The number of objects of each entity, for example `ObjectGraph (3 ContactEntity, 1 GroupEntity)`.
    public var description: String {
        "ObjectGraph (\(entityNames.map { "\(objectCount(ofEntity: $0)) \($0)" }.joined(separator: ", ")))"
    }
}

extension JSONReader {
    /// Reads a graph object by object.
    ///
    /// - Parameters:
    ///   - body: Gets each object: the name of its entity, its index in the list of that entity, and its properties.
    ///   - list: Gets the name of each entity before the objects of the entity are read.
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
                throw DataSourceError(.invalidGraph, "The value of \"\(name)\" in a graph must be a list of objects.")
            }
            try list(name)
            var index = 0
            try reader.forEachElement { reader in
                guard case .object(let record) = try reader.value() else {
                    throw DataSourceError(.invalidGraph, "\(name)[\(index)] must be an object in braces.")
                }
                try body(name, index, record)
                index += 1
            }
        }
        try expectEnd()
    }
}

extension ObjectGraph {
    /// Describes the first difference from another graph, with the values that differ; nil if the graphs are equal.
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
