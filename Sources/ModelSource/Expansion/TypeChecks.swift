/// The checks of attribute types in an expansion. The compiler performs the checks when it compiles the expansion.
enum TypeChecks {
    static func lines(for attributes: [AttributeSource]) -> [String] {
        attributes.filter(CheckedType.needsCheck(in: attributes)).map { attribute in
            let type = "\(CheckedType.checkedName(of: attribute)).self"
            let argument =
                switch attribute.form {
                case .plain, .bytes: "\(type), LayoutChecks.Checked.\(attribute.typeName.lowercased())"
                case .raw:
                    ([.integer16: "int16", .integer32: "int32", .string: "string"][attribute.type] ?? "int64")
                        + ": \(type)"
                case .codable: "codable: \(type)"
                case .composite: "composite: \(type)"
                }
            return "        LayoutChecks.check(\(argument))"
        }
    }
}

/// Names in `StoredLayout` for types that must conform to a protocol. If a type does not conform, the compiler reports an error
/// once for the name, and no further errors about the property.
enum CheckedType {
    static func name(of attribute: AttributeSource) -> String {
        // A private type gets no alias, because an alias must be at least as private as its type.
        if attribute.isPrivate { return attribute.typeName }
        return switch attribute.form {
        case .codable, .composite: "StoredLayout.type_\(attribute.propertyName)"
        case .plain, .raw, .bytes: attribute.typeName
        }
    }

    /// The types of the composite structs that the attributes use, without duplicates.
    static func composites(of attributes: [AttributeSource]) -> [String] {
        var seen: Set<String> = []
        return attributes.filter { $0.form == .composite && seen.insert($0.typeName).inserted }.map { name(of: $0) }
    }

    /// The name of the attribute's type inside of `StoredLayout`, where the type can be private. The type is not checked.
    static func checkedName(of attribute: AttributeSource) -> String { "check_\(attribute.propertyName)" }

    /// The aliases of the types.
    ///
    /// - Parameter checks: Whether the checks of the types are part of the expansion.
    static func aliases(for attributes: [AttributeSource], checks: Bool) -> [String] {
        let aliases = attributes.compactMap(alias).map { "    \($0)" }
        guard checks else { return aliases }
        return aliases
            + attributes.filter(needsCheck(in: attributes)).map {
                "    private typealias \(checkedName(of: $0)) = \($0.typeName)"
            }
    }

    private static func alias(for attribute: AttributeSource) -> String? {
        if attribute.isPrivate { return nil }
        let name = "typealias type_\(attribute.propertyName)"
        return switch attribute.form {
        case .codable: "\(name) = LayoutChecks.JSON<\(attribute.typeName)>.Checked"
        case .composite: "\(name) = LayoutChecks.Composite<\(attribute.typeName)>.Checked"
        case .plain, .raw, .bytes: nil
        }
    }

    /// Returns a function that says whether the type of an attribute has a check of its own. Attributes of one plain type
    /// share a check.
    static func needsCheck(in attributes: [AttributeSource]) -> (AttributeSource) -> Bool {
        var first: [String: String] = [:]
        for attribute in attributes.reversed() where attribute.form == .plain || attribute.form == .bytes {
            first[attribute.typeName] = attribute.propertyName
        }
        return { attribute in
            attribute.form != .plain && attribute.form != .bytes
                || first[attribute.typeName] == attribute.propertyName
        }
    }
}
