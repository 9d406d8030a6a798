/// A nested enum with the initial values that are evaluated for each new object.
///
/// In the enum, a name has the same meaning as in the initial value of a stored property: it can be a static member, but not a
/// member of the object. The enum has no other members whose names could hide the app's names.
enum InitialValues {
    static let typeName = "StoredInitialValues"

    /// The expression for an initial value.
    static func expression(for attribute: AttributeSource) -> String { "\(typeName).initial_\(attribute.propertyName)" }

    /// The expression for an initial value in an accessor. If the type is private, the enum has the value as `Any`, because a
    /// visible member cannot have a private type.
    static func accessorExpression(for attribute: AttributeSource) -> String {
        guard attribute.isPrivate else { return expression(for: attribute) }
        return "(\(typeName).any_\(attribute.propertyName) as! \(CheckedType.name(of: attribute)))"
    }

    /// The values of a class.
    ///
    /// - Parameter areSet: Whether the enum also has a function that sets the values.
    static func members(of entity: EntitySource, areSet: Bool = true) -> [String] {
        var lines: [String] = []
        for attribute in entity.attributes where attribute.initialValue != nil {
            if attribute.isDeprecated { lines.append("    \(TypeChecks.deprecation)") }
            lines.append(value(of: attribute, access: attribute.isPrivate ? "private " : ""))
            if attribute.isPrivate, !attribute.hasOptionalProperty {
                let name = attribute.propertyName
                if attribute.isDeprecated { lines.append("    \(TypeChecks.deprecation)") }
                lines.append("    static var any_\(name): Any { initial_\(name) }")
            }
        }
        guard areSet else { return declaration(lines) }
        func setting(_ attribute: AttributeSource) -> String? {
            let name = attribute.propertyName
            let column = "StoredLayout.first(object) + StoredLayout.column_\(name)"
            if attribute.initialValue != nil {
                let access = AttributeAccess(attribute: attribute, type: CheckedType.name(of: attribute))
                return "        \(access.writing("initial_\(name)", "object", column))"
            }
            guard attribute.form == .composite, !attribute.hasOptionalProperty else { return nil }
            return "        \(CheckedType.name(of: attribute)).setInitialValues(of: object, at: \(column))"
        }
        var settings = entity.attributes.filter { !$0.isDeprecated }.compactMap(setting)
        let deprecated = entity.attributes.filter(\.isDeprecated).compactMap(setting)
        if !deprecated.isEmpty {
            lines +=
                [
                    "    enum LayoutInitialValues: StoredLayout.LayoutChecks.InitialValueList {",
                    "        \(TypeChecks.deprecation)",
                    "        static func set(in object: StoredLayout.LayoutTypes.Object) {",
                ] + deprecated.map { "    \($0)" } + ["        }", "    }"]
            settings.append("        StoredLayout.LayoutChecks.set(LayoutInitialValues.self, in: object)")
        }
        if settings.isEmpty { return [] }
        lines +=
            ["    static func setInitialValues(of object: StoredLayout.LayoutTypes.Object) {"] + settings + ["    }"]
        return declaration(lines)
    }

    /// The values of a struct. The extension that reads the values is outside of the struct, so the value of a private
    /// property is private to the file.
    static func members(of composite: CompositeSource) -> [String] {
        declaration(
            composite.attributes.filter { $0.initialValue != nil }.map {
                value(of: $0, access: $0.isPrivate ? "fileprivate " : "")
            })
    }

    private static func declaration(_ lines: [String]) -> [String] {
        lines.isEmpty ? [] : ["nonisolated enum \(typeName) {"] + lines + ["}"]
    }

    private static func value(of attribute: AttributeSource, access: String) -> String {
        let type = CheckedType.name(of: attribute) + (attribute.hasOptionalProperty ? "?" : "")
        // In the enum, `Self` would mean the enum, so the name of the class or struct replaces it.
        let text = SwiftSource("\(type) { return \(attribute.initialValue ?? "") }")
        return
            "    \(access)static var initial_\(attribute.propertyName): "
            + text.replacing("Self", by: "StoredLayout.LayoutClass")
    }
}
