/// Writes a computed property of a managed object.
struct PropertyText {
    let property: PropertyPlan

    func write(to text: inout SourceText, modifiers: String) {
        text.documentation(property.notes)
        let opening = "\(modifiers)var \(Identifier.escaped(property.name)): \(property.type.spelling) {"
        if property.isReadOnly { return text.line("\(opening) \(getter) }") }
        text.line("\(opening) get { \(getter) } set { \(setter) } }")
    }

    private var getter: String {
        let column = property.column
        return switch property.type.accessor {
        case .attribute where property.isCalculated: "calculatedAttribute(at: \(column))"
        case .attribute: "attribute(at: \(column))"
        case .transformable: "transformable(at: \(column))"
        case .composite where property.type.isOptional: "\(property.type.name).read(from: self, at: \(column))"
        case .composite: "\(property.type.name)(reading: self, at: \(column))"
        }
    }

    private var setter: String {
        let column = property.column
        return switch property.type.accessor {
        case .attribute:
            "setAttribute(\(property.type.stored("newValue", isOptional: property.type.isOptional)), at: \(column))"
        case .transformable: "setTransformable(newValue, at: \(column))"
        case .composite: "editTogether { \(property.type.name).write(newValue, to: self, at: \(column)) }"
        }
    }
}

extension SourceText {
    /// Says why some attributes have no property.
    mutating func omissions(_ omissions: [PropertyList.Omission]) {
        if !omissions.isEmpty { line() }
        for omission in omissions {
            let name = Self.comment(omission.attributeName)
            line("// `\(name)` has no property: \(Self.comment(omission.reason)).")
        }
    }
}
