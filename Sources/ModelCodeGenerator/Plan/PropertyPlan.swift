internal import ManagedModel

/// The plan for one property of a class or of a composite's struct.
struct PropertyPlan {
    /// The attribute's name, which is also the name of its column.
    var attributeName: String
    /// The identifier, not yet escaped.
    var name: String
    var type: PropertyType
    /// The index of the column, or of the first leaf of a composite. In a composite, it is counted from the composite's first
    /// leaf.
    var column: Int
    var isReadOnly: Bool
    /// Whether it is calculated from other objects when it is read.
    var isCalculated = false
    /// Notes for the reader that the declaration does not show.
    var notes: [String]
}

/// The properties of an entity or a composite, and why some attributes have none.
struct PropertyList {
    var properties: [PropertyPlan] = []
    var omissions: [Omission] = []

    struct Omission {
        var attributeName: String
        var reason: String
        /// Whether the author of the model chose a type for the attribute.
        var isOfChosenType = false
    }

    static func + (one: PropertyList, other: PropertyList) -> PropertyList {
        PropertyList(properties: one.properties + other.properties, omissions: one.omissions + other.omissions)
    }
}

extension PropertyPlan {
    /// Notes on an attribute with that type and identifier.
    static func notes(on attribute: AttributeDescription, as name: String, type: PropertyType) -> [String] {
        var notes: [String] = []
        if name != attribute.name { notes.append("The attribute `\(attribute.name)`.") }
        if let expression = attribute.derivationExpression { notes.append("Derived: `\(expression)`.") }
        if attribute.isTransient { notes.append("Transient: not in the store.") }
        if attribute.type == .transformable, type.accessor == .attribute {
            notes.append("Transformable, with a type that Swift cannot name: the stored bytes.")
        }
        return notes
    }
}
