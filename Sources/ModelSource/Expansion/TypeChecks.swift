/// The checks of attribute types in an expansion. The compiler performs the checks when it compiles the expansion.
enum TypeChecks {
    /// A function that compiles only if each type can be stored. Nothing calls the function. It is deprecated, so that the
    /// compiler does not warn of a deprecated type.
    ///
    /// - Parameters:
    ///   - areParts: Whether the attributes are parts of a composite.
    ///   - places: Makes the compiler report the error of a check at the type.
    ///   - others: Lines with further checks.
    static func function(
        for attributes: [AttributeSource], areParts: Bool, _ places: PlacedLines, _ others: [String] = []
    ) -> [String] {
        let lines = others + lines(for: attributes, areParts: areParts, places)
        return lines.isEmpty ? [] : ["    \(deprecation)", "    static func check() {"] + lines + ["    }"]
    }

    /// With this attribute, a declaration can name deprecated declarations without a warning.
    static let deprecation = "@available(*, deprecated)"

    private static func lines(
        for attributes: [AttributeSource], areParts: Bool, _ places: PlacedLines
    ) -> [String] {
        attributes.filter(CheckedType.needsCheck(in: attributes)).flatMap { attribute in
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
            let isPart = areParts && (attribute.form == .codable || attribute.form == .raw)
            return ([argument] + (isPart ? ["part: \(type)"] : [])).flatMap {
                places.lines("        LayoutChecks", ".check(\($0))", at: attribute.typeOffset, skipping: 1)
            }
        }
    }
}

/// Names in `StoredLayout` for types that must conform to a protocol. If a type does not conform, the compiler reports an error
/// once for the name, and no further errors about the property.
enum CheckedType {
    static func name(of attribute: AttributeSource) -> String {
        // In an expression, the name of the type could be the name of a property. Between angle brackets, it is always the name
        // of a type.
        if !hasAlias(attribute) {
            let isExpression = attribute.form == .composite
            return isExpression
                ? "StoredLayout.LayoutChecks.Composite<\(attribute.writtenTypeName)>.Checked"
                : attribute.writtenTypeName
        }
        return switch attribute.form {
        case .codable, .composite: "StoredLayout.type_\(attribute.propertyName)"
        case .plain, .raw, .bytes: attribute.writtenTypeName
        }
    }

    /// In a class, a private type gets no alias, because an alias must be at least as private as its type. In a struct, the alias
    /// is private to the file: the extension of a nested struct needs the alias.
    private static func hasAlias(_ attribute: AttributeSource) -> Bool { !attribute.isPrivate || attribute.isPart }

    /// The types of the composite structs that the attributes use, without duplicates.
    static func composites(of attributes: [AttributeSource]) -> [String] {
        var seen: Set<String> = []
        return attributes.filter { $0.form == .composite && seen.insert($0.typeName).inserted }.map { name(of: $0) }
    }

    /// The name of the attribute's type inside of `StoredLayout`, where the type can be private. The type is not checked.
    static func checkedName(of attribute: AttributeSource) -> String { "check_\(attribute.propertyName)" }

    /// The aliases of the types.
    ///
    /// - Parameters:
    ///   - checks: Whether the checks of the types are part of the expansion.
    ///   - places: Makes the compiler report the error of an alias at the type.
    static func aliases(
        for attributes: [AttributeSource], checks: Bool, _ places: PlacedLines
    ) -> [String] {
        let needsCheck = needsCheck(in: attributes)
        return attributes.flatMap { attribute -> [String] in
            let alias = alias(for: attribute)
            guard alias != nil || checks && needsCheck(attribute) else { return [] }
            // An alias for the accessors contains the checked name instead of the type, so that the compiler reports an unknown
            // type only once.
            let access = alias == nil ? "private " : attribute.isPrivate ? "fileprivate " : ""
            // The alias of a composite is never deprecated, because the code that counts the columns of the composite is
            // not deprecated, and would cause a warning.
            let warns = alias != nil && !(attribute.isDeprecated && attribute.form == .codable)
            return [
                "    \(warns ? "" : TypeChecks.deprecation + " ")\(access)typealias \(checkedName(of: attribute)) = \(attribute.writtenTypeName)"
            ]
                + (alias.map { alias in
                    places.lines(
                        "    \(warns ? "" : TypeChecks.deprecation + " ")\(access)typealias type_\(attribute.propertyName) = LayoutChecks",
                        ".\(alias)<\(checkedName(of: attribute))>.Checked", at: attribute.typeOffset, skipping: 1)
                } ?? [])
        }
    }

    /// The type in `LayoutChecks` that checks the attribute's type; nil if the type has no such check.
    private static func alias(for attribute: AttributeSource) -> String? {
        if !hasAlias(attribute) { return nil }
        return switch attribute.form {
        case .codable: "JSON"
        case .composite: "Composite"
        case .plain, .raw, .bytes: nil
        }
    }

    /// Returns a function that says whether the type of an attribute has a check of its own. Attributes of one plain type
    /// share a check.
    static func needsCheck(in attributes: [AttributeSource]) -> (AttributeSource) -> Bool {
        var first: [String: String] = [:]
        for attribute in attributes.reversed() where attribute.form == .plain || attribute.form == .bytes {
            first[attribute.writtenTypeName] = attribute.propertyName
        }
        return { attribute in
            attribute.form != .plain && attribute.form != .bytes
                || first[attribute.writtenTypeName] == attribute.propertyName
        }
    }
}
