internal import ManagedModel
package import RowStore

/// Resolves the key paths of a class: attributes, parts of composites, relationships, and properties beyond to-one relationships.
///
/// A key path cannot be divided into its properties. Two key paths of the same properties need not be equal: the literal
/// `\.team?.name` differs from `\.team` with the rest appended, because the writable part ends at another property. But both
/// key paths have the same types, hash and description. So the search builds key paths from properties of the model until one
/// has the wanted hash. The description limits the properties to try, so that few key paths are built. No property is ever
/// read.
package enum RelatedKeyPaths {
    /// The names of the properties along a key path.
    ///
    /// - Throws: `unknownAttribute` if a property is not in the model; `unsupportedQuery` if the search ended without a result.
    package static func names(
        _ keyPath: AnyKeyPath, of type: any QueriedObject.Type
    ) throws(DataSourceError) -> [String] {
        switch resolution(of: keyPath, type) {
        case .names(let names): return names
        case .unknown:
            throw DataSourceError(
                .unknownAttribute,
                "A property of \(type) of the type \(Swift.type(of: keyPath).valueType) is neither a stored attribute nor a relationship of \(type.entityName). Fetch by a property of the model.",
                entityName: type.entityName)
        case .partAfterOptional(let part, _): throw partAfterOptional(part, type)
        case .undecided:
            throw DataSourceError(
                .unsupportedQuery,
                "A key path of \(type) to a \(Swift.type(of: keyPath).valueType) could not be found among the relationships of \(type.entityName). Write the predicate or the order as a format.",
                entityName: type.entityName)
        }
    }

    /// The names of the properties along a key path; nil if the key path leads to a computed property of the class.
    ///
    /// - Throws: `unsupportedQuery` for a computed property beyond a relationship, or if the search ended without a result.
    package static func namesUnlessComputed(
        _ keyPath: AnyKeyPath, of type: any QueriedObject.Type
    ) throws(DataSourceError) -> [String]? {
        switch resolution(of: keyPath, type) {
        case .unknown(followsRelationship: false), .partAfterOptional(_, followsRelationship: false): return nil
        case .unknown:
            throw DataSourceError(
                .unsupportedQuery,
                "A property of the type \(Swift.type(of: keyPath).valueType) lies beyond a relationship of \(type), but is not in the model. Use an attribute of the related object, or a property that is computed from attributes of \(type.entityName).",
                entityName: type.entityName)
        case .names, .undecided, .partAfterOptional: return try names(keyPath, of: type)
        }
    }

    private static func partAfterOptional(
        _ part: KeyPathSearch.PartAfterOptional, _ type: any QueriedObject.Type
    ) -> DataSourceError {
        let composite = part.composite.joined(separator: ".")
        let path = (part.composite + part.part).joined(separator: ".")
        return DataSourceError(
            .unsupportedQuery,
            "\"\(path)\" of \(type.entityName) is a part of the composite \"\(composite)\", which is not optional, and a ? in the key path comes before it. Such a key path cannot be resolved. Write ! instead of ?, which means the same in a predicate, or a format, such as FetchPredicate(format: \"\(path) == %@\", value).",
            entityName: type.entityName, attributeName: path)
    }

    /// The number of key paths that a search without a cache builds. For tests.
    package static func pathsBuilt(for keyPath: AnyKeyPath, of type: any QueriedObject.Type) -> Int {
        var search = KeyPathSearch(keyPath)
        _ = search.resolve(from: type)
        return search.built
    }

    private static func resolution(
        of keyPath: AnyKeyPath, _ type: any QueriedObject.Type
    ) -> KeyPathSearch.Resolution {
        if let name = AttributeNames.of(type)[keyPath] {
            return .names(name.parts(separatedBy: ".", omittingEmpty: true))
        }
        let key = Key(type: ObjectIdentifier(type), path: KeyPathIdentity(keyPath))
        if let known = found.withLock({ $0[key] }) { return known }
        // Search outside the lock. Two threads can search for the same key path.
        var search = KeyPathSearch(keyPath)
        let resolution = search.resolve(from: type)
        found.withLock { found in
            // Empty a full cache, because there can be any number of key paths with subscripts.
            if found.count >= maxCachedEntries { found = [:] }
            found[key] = resolution
        }
        return resolution
    }

    private struct Key: Hashable, Sendable {
        let type: ObjectIdentifier
        let path: KeyPathIdentity
    }

    private static let found = Guarded<[Key: KeyPathSearch.Resolution]>([:])
    private static let maxCachedEntries = 4096
}

/// The attribute that each key path of a class leads to. A class builds its table at each call, so this cache keeps the tables.
package enum AttributeNames {
    package static func of(_ type: any QueriedObject.Type) -> [AnyKeyPath: String] {
        if let table = tables.withLock({ $0[ObjectIdentifier(type)] }) { return table.names }
        // Call the class outside the lock, because a class that is written by hand can run any code here.
        let table = Table(names: type.attributeKeyPaths)
        tables.withLock { $0[ObjectIdentifier(type)] = table }
        return table.names
    }

    /// Guarded by: nothing, because the table never changes.
    private struct Table: @unchecked Sendable {
        let names: [AnyKeyPath: String]
    }

    private static let tables = Guarded<[ObjectIdentifier: Table]>([:])
}

/// A class whose objects can be queried. Managed objects conform to this protocol.
package protocol QueriedObject: AnyObject, SendableMetatype {
    /// The name of the entity in the model.
    static var entityName: String { get }
    /// The attribute that each key path of the class leads to.
    static var attributeKeyPaths: [AnyKeyPath: String] { get }
    /// The relationship that each key path of the class leads to.
    static var relationshipKeyPaths: [AnyKeyPath: String] { get }
    /// The names of all properties of the entity in the model; nil if the class does not know them.
    static var propertyNames: Set<String>? { get }
    /// The attribute or relationship that each key path of an optional object of the class leads to.
    static var optionalKeyPaths: [AnyKeyPath: String] { get }
    /// The key path of the object's id. Objects are compared by their ids.
    static var identification: AnyKeyPath { get }
    var layout: EntityLayout { get }
}
