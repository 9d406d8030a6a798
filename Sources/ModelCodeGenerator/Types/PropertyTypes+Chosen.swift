internal import ManagedModel

/// Types that the author of a model chooses, with the user info `swiftType` of an attribute.
extension PropertyTypes {
    /// The key of the user info in which the author names a type.
    static let key = "swiftType"

    /// `Int` for Integer 64, or a type of the app with raw values; nil if the author does not choose a type.
    func chosen(for attribute: AttributeDescription, insteadOf plain: PropertyType) -> Decision? {
        guard let choice = attribute.userInfo[Self.key], choice != plain.name else { return nil }
        if choice == "Int" {
            guard attribute.type == .integer64 else {
                return .none(
                    "its \(Self.key) is Int, which needs the type Integer 64, but its type is \(attribute.type.rawValue)"
                )
            }
            var type = plain
            type.name = choice
            return .property(type)
        }
        guard [.string, .integer16, .integer32, .integer64].contains(attribute.type) else {
            return .none(
                "its \(Self.key) needs a string or an integer, but its type is \(attribute.type.rawValue)")
        }
        guard let name = Self.typeName(choice) else {
            return .none("its \(Self.key) \(StringLiteral.of(choice)) is not the name of a type of the app")
        }
        guard attribute.isOptional || attribute.defaultValue != nil else {
            return .none(
                "its \(Self.key) is \(name), so it must be optional or have a default value, for stored values without a case"
            )
        }
        return .property(
            PropertyType(
                name: name, isOptional: attribute.isOptional, accessor: .attribute, needsFoundation: false,
                rawType: plain.name))
    }

    /// A name, optionally with those of the enclosing types: `Contact.Kind`.
    private static func typeName(_ text: String) -> String? {
        guard let name = TypeSpelling(text)?.name, name.allSatisfy({ $0.isLetter || $0.isNumber || "_.".contains($0) }),
            !ReservedNames.types.contains(name)
        else { return nil }
        return name
    }
}
