package import RowStore

extension PredicateTree {
    /// - Throws: `unreadablePredicate`; `unknownAttribute` for a name that the class does not declare.
    package init(format: String, arguments: [(any Sendable)?], of type: any QueriedObject.Type) throws {
        try self.init(format: format, arguments: arguments)
        try checkNames(of: type)
    }

    /// Checks that a class has the properties that a format names, also along relationships.
    ///
    /// The class knows only the properties that it declares. A class that declares none is not checked, and neither are keys
    /// that follow an attribute, such as `length`, and keys that follow an aggregate. The fetch checks these with the model.
    ///
    /// **Complexity**: linear in the length of the format.
    ///
    /// - Parameter type: The class of the objects.
    /// - Throws: `unknownAttribute` with the names of the class.
    private func checkNames(of type: any QueriedObject.Type) throws(DataSourceError) {
        var rest: [(part: Node.Part, variables: [String: any QueriedObject.Type])] = [(.node(node), [:])]
        while let (part, variables) = rest.popLast() {
            switch part {
            case .expression(.keyPath(let keys)): _ = try DeclaredNames.destination(keys[...], of: type)
            case .expression(.path(.variable(let name), let keys)):
                if let variable = variables[name] { _ = try DeclaredNames.destination(keys[...], of: variable) }
            case .expression(.subquery(let objects, let name, let predicate)):
                rest.append((.expression(objects), variables))
                var inner = variables
                inner[name] = try DeclaredNames.objects(objects, of: type, variables)
                rest.append((.node(predicate), inner))
            default: for inner in part.parts { rest.append((inner, variables)) }
            }
        }
    }
}

/// The names of the properties of a class, as the class declares them.
private enum DeclaredNames {
    /// The class of the objects of a subquery; nil if it is not known.
    static func objects(
        _ expression: FetchExpression, of type: any QueriedObject.Type, _ variables: [String: any QueriedObject.Type]
    ) throws(DataSourceError) -> (any QueriedObject.Type)? {
        switch expression {
        case .keyPath(let keys): try destination(keys[...], of: type)
        case .path(.variable(let name), let keys):
            if let variable = variables[name] { try destination(keys[...], of: variable) } else { nil }
        default: nil
        }
    }

    /// The class of the objects that the keys lead to; nil if they lead to an attribute, or to a class that declares nothing.
    static func destination(
        _ keys: ArraySlice<String>, of type: any QueriedObject.Type
    ) throws(DataSourceError) -> (any QueriedObject.Type)? {
        var keys = keys
        var type = type
        while let key = keys.first, !key.hasPrefix("@") {
            let attributes = AttributeNames.of(type).values
            let relationships = type.relationshipKeyPaths
            if attributes.isEmpty, relationships.isEmpty { return nil }
            if let relationship = relationships.first(where: { $0.value == key })?.key {
                guard let next = related(Swift.type(of: relationship).valueType) else { return nil }
                type = next
                keys = keys.dropFirst()
                continue
            }
            if attributes.contains(where: { $0 == key || $0.hasPrefix(key + ".") }) { return nil }
            throw DataSourceError(
                .unknownAttribute, message(key, type, Array(attributes) + Array(relationships.values)),
                entityName: type.entityName, attributeName: key)
        }
        return type
    }

    private static func related(_ type: Any.Type) -> (any QueriedObject.Type)? {
        optionalObject(type) ?? (type as? any RelatedCollection.Type)?.object
    }

    private static func message(_ key: String, _ type: any QueriedObject.Type, _ names: [String]) -> String {
        let limit = 20
        let sorted = names.sorted()
        let listed = sorted.prefix(limit).joined(separator: ", ")
        let more = sorted.count > limit ? " and \(sorted.count - limit) more" : ""
        return
            "The predicate format names \"\(key)\", but \(type) declares no such property. Use one of these: "
            + "\(listed)\(more). Strings in a format need quotes."
    }
}
