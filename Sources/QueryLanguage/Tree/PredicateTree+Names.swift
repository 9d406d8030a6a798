package import RowStore

extension PredicateTree {
    /// Checks the names of the properties in the predicate. A name is not checked if the class does not know the names of
    /// its entity's properties.
    ///
    /// The fetch checks all names against the model. This check can come earlier, because it needs no container.
    ///
    /// - Parameter type: The class of the objects that the predicate is for.
    /// - Throws: `unknownAttribute`, with the names that the entity has.
    package func checkNames(of type: any QueriedObject.Type) throws(DataSourceError) {
        var rest: [(part: Node.Part, variables: [String: NamedProperties?])] = [(.node(node), [:])]
        let root = NamedProperties(type)
        while let (part, variables) = rest.popLast() {
            switch part {
            case .expression(.subquery(let objects, let name, let predicate)):
                // The variable of this subquery hides the variable of an outer subquery with the same name.
                var inner = variables
                switch objects {
                case .keyPath(let keys): inner[name] = .some(try root.end(of: keys))
                case .path(.variable(let outer), let keys): inner[name] = .some(try variables[outer]??.end(of: keys))
                default: inner[name] = .some(nil)
                }
                rest.append((.expression(objects), variables))
                rest.append((.node(predicate), inner))
                continue
            case .expression(.keyPath(let keys)): _ = try root.end(of: keys)
            case .expression(.path(.variable(let name), let keys)): _ = try variables[name]??.end(of: keys)
            default: break
            }
            for next in part.parts { rest.append((next, variables)) }
        }
    }
}

/// The names of the properties of a class's entity.
private struct NamedProperties {
    private let type: any QueriedObject.Type

    init(_ type: any QueriedObject.Type) {
        self.type = type
    }

    /// Follows keys from an object of the class.
    ///
    /// - Returns: The properties of the objects at the end; nil if the end is a value, or if a class does not know its names.
    /// - Throws: `unknownAttribute`.
    func end(of keys: [String]) throws(DataSourceError) -> NamedProperties? {
        var owner = self
        for key in keys {
            // Aggregates such as @count follow a relationship, and lead to a value or back to the related objects.
            if key.utf8.first == UInt8(ascii: "@") { continue }
            guard let names = PropertyNames.of(owner.type) else { return nil }
            guard names.contains(key) || names.contains(where: { $0.utf8.starts(with: (key + ".").utf8) }) else {
                throw owner.unknown(key, names)
            }
            guard let next = owner.destination(of: key) else { return nil }
            owner = next
        }
        return owner
    }

    /// The properties at the end of a relationship; nil for an attribute, or for a relationship for which the class has no
    /// property.
    private func destination(of key: String) -> NamedProperties? {
        guard let keyPath = type.relationshipKeyPaths.first(where: { $0.value == key })?.key else { return nil }
        return relatedClass(Swift.type(of: keyPath).valueType).map(NamedProperties.init)
    }

    private func unknown(_ key: String, _ names: Set<String>) -> DataSourceError {
        DataSourceError(
            .unknownAttribute,
            "\(type.entityName) has no attribute or relationship \"\(key)\"; strings in a format need quotes. The entity has: "
                + "\(names.sorted().joined(separator: ", ")).",
            entityName: type.entityName, attributeName: key)
    }
}

/// The class of the objects that a relationship's property has; nil for other types.
private func relatedClass(_ type: Any.Type) -> (any QueriedObject.Type)? {
    type as? any QueriedObject.Type ?? optionalObject(type) ?? (type as? any RelatedCollection.Type)?.object
}

/// The names of the properties of each class's entity. A class makes its set at each call of `propertyNames`, so this cache
/// keeps the sets.
private enum PropertyNames {
    static func of(_ type: any QueriedObject.Type) -> Set<String>? {
        if let known = names.withLock({ $0[ObjectIdentifier(type)] }) { return known }
        // Call the class outside the lock, because a class that is written by hand can run any code here.
        let new = type.propertyNames
        names.withLock { $0[ObjectIdentifier(type)] = .some(new) }
        return new
    }

    private static let names = Guarded<[ObjectIdentifier: Set<String>?]>([:])
}
