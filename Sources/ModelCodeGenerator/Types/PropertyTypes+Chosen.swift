internal import ManagedModel

/// Types that the author of a model chooses, by the user info `swiftType` of an attribute.
extension PropertyTypes {
    private static let key = "swiftType"

    /// `Int` for Integer 64, or a type of the app's own that has raw values; nil if the author leaves the type as it is.
    func chosen(for attribute: AttributeDescription, insteadOf plain: PropertyType) -> Decision? {
        guard let choice = attribute.userInfo[Self.key], choice != plain.name else { return nil }
        if choice == "Int" {
            guard attribute.type == .integer64 else {
                return .none("its \(Self.key) Int is for Integer 64, and it is of the type \(attribute.type.rawValue)")
            }
            var type = plain
            type.name = choice
            return .property(type)
        }
        guard [.string, .integer16, .integer32, .integer64].contains(attribute.type) else {
            return .none(
                "its \(Self.key) is for strings and integers, and it is of the type \(attribute.type.rawValue)")
        }
        guard let name = Self.typeName(choice) else {
            return .none("its \(Self.key) \(StringLiteral.of(choice)) is no name of a type of the app")
        }
        guard attribute.isOptional || attribute.defaultValue != nil else {
            return .none(
                "its \(Self.key) is \(name), so it has to be optional or to have a default value, which is read where a stored one is of no case"
            )
        }
        return .property(
            PropertyType(
                name: name, isOptional: attribute.isOptional, accessor: .attribute, needsFoundation: false,
                rawType: plain.name))
    }

    /// A name, maybe with those of the types around it: `Contact.Kind`.
    private static func typeName(_ text: String) -> String? {
        guard let name = TypeSpelling(text)?.name, name.allSatisfy({ $0.isLetter || $0.isNumber || "_.".contains($0) }),
            !ReservedNames.types.contains(name)
        else { return nil }
        return name
    }
}
