internal import ManagedModel

/// Decides the Swift type of each attribute of a model.
struct PropertyTypes {
    let model: ManagedObjectModel
    let names: TypeNames

    enum Decision {
        case property(PropertyType)
        /// The attribute has no property, for the given reason.
        case none(String)
    }

    func type(of attribute: AttributeDescription) -> Decision {
        let decision = typeDecision(attribute)
        guard case .property(let type) = decision else { return decision }
        return chosen(for: attribute, insteadOf: type) ?? decision
    }

    /// The Swift type for the attribute's type in the model.
    private func typeDecision(_ attribute: AttributeDescription) -> Decision {
        switch attribute.type {
        case .transformable: .property(transformable(attribute))
        case .composite: composite(attribute)
        default: plain(attribute)
        }
    }

    private func plain(_ attribute: AttributeDescription) -> Decision {
        guard let plain = Self.plainTypes[attribute.type] else {
            return .none("attributes of type \(attribute.type.rawValue) have no Swift type")
        }
        let isScalar = plain.canBeScalar && attribute.usesScalarValueType
        return .property(
            PropertyType(
                name: plain.name, isOptional: attribute.isOptional && !isScalar, accessor: .attribute,
                needsFoundation: plain.needsFoundation))
    }

    /// The declared type if Swift can name it; otherwise `Data` with the stored bytes.
    private func transformable(_ attribute: AttributeDescription) -> PropertyType {
        guard let spelling = attribute.customClassName.flatMap(TypeSpelling.init) else {
            return PropertyType(name: "Data", isOptional: true, accessor: .attribute, needsFoundation: true)
        }
        return PropertyType(
            name: spelling.name, isOptional: true, accessor: .transformable, needsFoundation: spelling.needsFoundation)
    }

    private func composite(_ attribute: AttributeDescription) -> Decision {
        guard let name = attribute.compositeName, let structName = names.structs[name] else {
            return .none("the model has no composite \(attribute.compositeName ?? "for it")")
        }
        if reaches(name, from: name) { return .none("the composite \(name) contains itself") }
        if model.columns(of: EntityDescription(name: "", attributes: [attribute])).isEmpty {
            return .none("the composite \(name) has no attributes")
        }
        return .property(
            PropertyType(
                name: Identifier.escaped(structName), isOptional: attribute.isOptional, accessor: .composite,
                needsFoundation: false))
    }

    private func reaches(_ target: String, from name: String) -> Bool {
        var seen: Set<String> = []
        var waiting = [name]
        while let next = waiting.popLast() {
            for inner in compositesInside(next) where seen.insert(inner).inserted { waiting.append(inner) }
        }
        return seen.contains(target)
    }

    private func compositesInside(_ name: String) -> [String] {
        let composite = model.composites.first { $0.name == name }
        return composite?.attributes.filter { $0.type == .composite }.compactMap(\.compositeName) ?? []
    }

    private typealias PlainType = (name: String, canBeScalar: Bool, needsFoundation: Bool)

    private static let plainTypes: [AttributeType: PlainType] = [
        .integer16: ("Int16", true, false),
        .integer32: ("Int32", true, false),
        .integer64: ("Int64", true, false),
        .double: ("Double", true, false),
        .float: ("Float", true, false),
        .boolean: ("Bool", true, false),
        .decimal: ("Decimal", false, true),
        .string: ("String", false, false),
        .date: ("Date", false, true),
        .binary: ("Data", false, true),
        .uuid: ("UUID", false, true),
        .uri: ("URL", false, true),
    ]
}

/// The Swift type of a property, with the accessor of `ManagedObject` that reads the property.
struct PropertyType {
    enum Accessor {
        /// `attribute(at:)` and `setAttribute(_:at:)`.
        case attribute
        /// `transformable(at:)` and `setTransformable(_:at:)`.
        case transformable
        /// The code of a composite's generated struct, which reads and writes the leaves.
        case composite
    }

    var name: String
    var isOptional: Bool
    var accessor: Accessor
    var needsFoundation: Bool
    /// The type of the raw values, if the property has an app's own type that is stored by raw value.
    var rawType: String?

    var spelling: String { isOptional ? name + "?" : name }

    /// Whether the property has the stored value itself.
    var isPlain: Bool { accessor == .attribute && rawType == nil }

    /// Returns an expression for the stored form of a value, which is the value itself or its raw value. The compiler checks
    /// that the raw value has the type of the attribute.
    ///
    /// - Parameter isOptional: Whether the value is optional.
    func stored(_ value: String, isOptional: Bool) -> String {
        guard let rawType else { return value }
        func raw(_ value: String) -> String {
            // The raw values of an Integer 64 attribute can also be of type Int. The type's name follows `as`, because a name
            // before a parenthesis could mean a property.
            rawType == "Int64"
                ? ".init(truncatingIfNeeded: \(value).rawValue) as Int64" : "\(value).rawValue as \(rawType)"
        }
        if !isOptional { return raw(value) }
        let optional = value.contains("?") ? "(\(value))" : value
        return "\(optional).map { \(raw("$0")) }"
    }
}

/// Types that the author of a model chooses with the user info key `swiftType`.
extension PropertyTypes {
    /// The user info key whose value is the name of the type.
    static let key = "swiftType"

    /// Returns `Int` for Integer 64, or the app's own type with raw values. Returns a reason if the chosen type does
    /// not fit, and nil if the author chooses no type.
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
                "its \(Self.key) is \(name), so the attribute must be optional or have a default value, for stored values without a case"
            )
        }
        return .property(
            PropertyType(
                name: name, isOptional: attribute.isOptional, accessor: .attribute, needsFoundation: false,
                rawType: plain.name))
    }

    /// Returns the name of an app's type, such as `Contact.Kind`; nil if the string is not such a name.
    private static func typeName(_ text: String) -> String? {
        guard let name = TypeSpelling(text)?.name, name.allSatisfy({ $0.isLetter || $0.isNumber || "_.".contains($0) }),
            !ReservedNames.types.contains(name)
        else { return nil }
        return name
    }
}
