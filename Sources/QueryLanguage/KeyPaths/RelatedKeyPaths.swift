internal import ManagedModel
internal import RowStore

/// Resolves the key paths of a class: attributes, relationships, and properties beyond to-one relationships.
///
/// A key path cannot be taken apart. So all key paths along relationships are built and compared with it, one relationship
/// further with each look-up that finds nothing. The types at its ends and its hash identify it.
package enum RelatedKeyPaths {
    /// The names of the properties along a key path; nil if one of them is not in the model.
    package static func names(_ keyPath: AnyKeyPath, of type: any QueriedObject.Type) -> [String]? {
        if let name = AttributeNames.of(type)[keyPath] { return name.parts(separatedBy: ".", omittingEmpty: true) }
        let name = Name(keyPath)
        return tables.withLock { tables in
            var table = tables[ObjectIdentifier(type)] ?? Table(type)
            defer { tables[ObjectIdentifier(type)] = table }
            return table.names(name)
        }
    }

    private static let tables = Guarded<[ObjectIdentifier: Table]>([:])

    private struct Name: Hashable, Sendable {
        let hash: Int
        let value: ObjectIdentifier

        init(_ keyPath: AnyKeyPath) {
            hash = keyPath.hashValue
            value = ObjectIdentifier(type(of: keyPath).valueType)
        }
    }

    /// A key path to an object that a to-one relationship leads to.
    private struct Way {
        let keyPath: AnyKeyPath
        let names: [String]
        let destination: any OptionalObject.Type
    }

    private struct Table {
        private var names: [Name: [String]] = [:]
        /// The ends of the key paths that have been built so far, from which one more relationship leads on.
        private var ways: [Way] = []
        private var relationships = 0

        /// The most relationships along which key paths are built, and the most key paths.
        private static let (mostRelationships, mostNames) = (4, 10_000)

        init(_ type: any QueriedObject.Type) {
            for (keyPath, name) in type.relationshipKeyPaths { add(keyPath, [name]) }
        }

        mutating func names(_ name: Name) -> [String]? {
            while true {
                if let known = names[name] { return known }
                if relationships == Table.mostRelationships || ways.isEmpty || names.count > Table.mostNames {
                    return nil
                }
                lengthen()
            }
        }

        private mutating func lengthen() {
            relationships += 1
            let starts = ways
            ways = []
            for start in starts where names.count <= Table.mostNames {
                for (keyPath, name) in start.destination.object.optionalKeyPaths {
                    guard let longer = start.keyPath.appending(path: keyPath) else { continue }
                    add(longer, start.names + name.parts(separatedBy: ".", omittingEmpty: true))
                }
                guard let unwrapped = start.keyPath.appending(path: start.destination.unwrapping) else { continue }
                let type = start.destination.object
                for (keyPath, name) in AttributeNames.of(type).merging(
                    type.relationshipKeyPaths, uniquingKeysWith: { $1 })
                {
                    guard let longer = unwrapped.appending(path: keyPath) else { continue }
                    add(longer, start.names + name.parts(separatedBy: ".", omittingEmpty: true))
                }
            }
        }

        private mutating func add(_ keyPath: AnyKeyPath, _ path: [String]) {
            names[Name(keyPath)] = path
            let value = type(of: keyPath).valueType
            if let destination = value as? any OptionalObject.Type {
                ways.append(Way(keyPath: keyPath, names: path, destination: destination))
            } else if let objects = value as? any RelatedCollection.Type {
                for (aggregate, own) in objects.aggregates {
                    guard let longer = keyPath.appending(path: aggregate) else { continue }
                    names[Name(longer)] = path + own
                }
            }
        }
    }
}

/// The value of a to-one relationship.
protocol OptionalObject {
    static var object: any QueriedObject.Type { get }
    static var unwrapping: AnyKeyPath { get }
}

extension Optional: OptionalObject where Wrapped: QueriedObject {
    static var object: any QueriedObject.Type { Wrapped.self }
    static var unwrapping: AnyKeyPath { \Self.! }
}

/// The value of a to-many relationship.
package protocol RelatedCollection {
    static var object: any QueriedObject.Type { get }
    static var counting: AnyKeyPath { get }
    static var emptiness: AnyKeyPath { get }
    /// A value that is calculated from the objects.
    static var aggregates: [(keyPath: AnyKeyPath, names: [String])] { get }
}

extension Array: RelatedCollection where Element: QueriedObject {
    package static var aggregates: [(keyPath: AnyKeyPath, names: [String])] { [(counting, ["@count"])] }
    package static var object: any QueriedObject.Type { Element.self }
    package static var counting: AnyKeyPath { \Self.count }
    package static var emptiness: AnyKeyPath { \Self.isEmpty }
}
