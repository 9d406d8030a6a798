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
            lines.append(value(of: attribute, access: attribute.isPrivate ? "private " : ""))
            if attribute.isPrivate, !attribute.hasOptionalProperty {
                let name = attribute.propertyName
                lines.append("    static var any_\(name): Any { initial_\(name) }")
            }
        }
        guard areSet else { return declaration(lines) }
        let settings = entity.attributes.compactMap { attribute -> String? in
            let name = attribute.propertyName
            if attribute.initialValue != nil {
                return "        object.\(ReservedMembers.escaped(name)) = initial_\(name)"
            }
            guard attribute.form == .composite, !attribute.hasOptionalProperty else { return nil }
            let column = "StoredLayout.first(object) + StoredLayout.column_\(name)"
            return "        \(CheckedType.name(of: attribute)).setInitialValues(of: object, at: \(column))"
        }
        if settings.isEmpty { return [] }
        lines += ["    static func setInitialValues(of object: StoredLayout.LayoutClass) {"] + settings + ["    }"]
        return declaration(lines)
    }

    /// The values of a struct. The extension that reads the values is outside of the struct.
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
        // In the enum, `Self` would mean the enum.
        let text = SwiftSource("\(type) { return \(attribute.initialValue ?? "") }")
        return
            "    \(access)static var initial_\(attribute.propertyName): "
            + text.replacing("Self", by: "StoredLayout.LayoutClass")
    }
}
