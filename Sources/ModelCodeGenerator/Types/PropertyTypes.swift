internal import ManagedModel

/// Decides the Swift type of each attribute of a model.
struct PropertyTypes {
    let model: ManagedObjectModel
    let names: TypeNames

    enum Decision {
        case property(PropertyType)
        /// The attribute has no property, for this reason.
        case none(String)
    }

    func type(of attribute: AttributeDescription) -> Decision {
        let decision = modelled(attribute)
        guard case .property(let type) = decision else { return decision }
        return chosen(for: attribute, insteadOf: type) ?? decision
    }

    /// The types that follow from the model's types alone.
    private func modelled(_ attribute: AttributeDescription) -> Decision {
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

    /// The declared type if Swift can name it, otherwise the stored bytes.
    private func transformable(_ attribute: AttributeDescription) -> PropertyType {
        guard let spelling = attribute.customClassName.flatMap(TypeSpelling.init) else {
            return PropertyType(name: "Data", isOptional: true, accessor: .attribute, needsFoundation: true)
        }
        return PropertyType(
            name: spelling.name, isOptional: true, accessor: .transformable, needsFoundation: spelling.needsFoundation)
    }

    private func composite(_ attribute: AttributeDescription) -> Decision {
        guard let name = attribute.compositeName, let structName = names.structs[name] else {
            return .none("the model has no composite \(attribute.compositeName ?? "of no name")")
        }
        if reaches(name, from: name) { return .none("the composite \(name) holds itself") }
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
