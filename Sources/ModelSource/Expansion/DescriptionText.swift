internal import Foundation

/// Writes descriptions as calls of their initializers.
enum DescriptionText {
    /// `Name(label: value)`. An argument with a nil value is omitted.
    static func call(_ name: String, _ arguments: [(label: String, value: String?)]) -> String {
        let parts = arguments.compactMap { argument in
            argument.value.map { argument.label.isEmpty ? $0 : "\(argument.label): \($0)" }
        }
        return "\(name)(\(parts.joined(separator: ", ")))"
    }

    static func attribute(_ attribute: AttributeSource) -> String {
        let type = attribute.isPrivate ? CheckedType.checkedName(of: attribute) : CheckedType.name(of: attribute)
        return call(
            "LayoutChecks.Attribute",
            [
                ("name", string(attribute.name)), ("type", ".\(attribute.type)"),
                ("isOptional", flag(attribute.isOptional)),
                ("isTransient", flag(attribute.isTransient)), ("defaultValue", defaultValue(of: attribute)),
                ("usesScalarValueType", flag(attribute.usesScalarValueType)), ("minimum", value(attribute.minimum)),
                ("maximum", value(attribute.maximum)), ("pattern", string(attribute.pattern)),
                ("valueTransformerName", string(attribute.valueTransformerName)),
                ("customClassName", string(attribute.customClassName)),
                ("allowsExternalBinaryDataStorage", flag(attribute.allowsExternalStorage)),
                ("compositeName", attribute.form == .composite ? "\(type).compositeName" : nil),
                ("derivationExpression", string(attribute.derivationExpression)),
                ("isIndexed", flag(attribute.isIndexed)),
                ("preservesValueInHistoryOnDeletion", flag(attribute.preservesValueInHistoryOnDeletion)),
                ("allowsCloudEncryption", flag(attribute.allowsCloudEncryption)),
                ("isIndexedBySpotlight", flag(attribute.isIndexedBySpotlight)),
                ("versionHashModifier", string(attribute.versionHashModifier)),
                ("renamingIdentifier", string(attribute.renamingIdentifier)),
                ("userInfo", userInfo(attribute.userInfo)),
            ])
    }

    static func relationship(_ relationship: RelationshipSource) -> String {
        call(
            "LayoutChecks.Relationship",
            [
                ("name", string(relationship.name)),
                ("destinationName", "name_\(relationship.propertyName)"),
                ("inverseName", relationship.inverse.map { _ in "inverse_\(relationship.propertyName)()" }),
                ("isToMany", flag(relationship.isToMany)), ("isOrdered", flag(relationship.isOrdered)),
                ("isOptional", flag(relationship.isOptional)), ("isTransient", flag(relationship.isTransient)),
                ("minimumCount", relationship.minimumCount == 0 ? nil : "\(relationship.minimumCount)"),
                ("maximumCount", relationship.maximumCount.map { "\($0)" }),
                ("deleteRule", relationship.deleteRule == "nullify" ? nil : ".\(relationship.deleteRule)"),
                ("versionHashModifier", string(relationship.versionHashModifier)),
                ("renamingIdentifier", string(relationship.renamingIdentifier)),
                ("userInfo", userInfo(relationship.userInfo)),
            ])
    }

    /// A list of descriptions that the author wrote as an argument. In the argument, a name means a type of the library. In
    /// the class, the same name could mean a property, so an alias replaces it.
    static func list(_ list: LiteralList) -> String {
        aliases.reduce(list.text) { SwiftSource($0).replacing($1.type, by: "LayoutChecks.\($1.alias)") }
    }

    private static let aliases = [
        (type: "AttributeDescription", alias: "Attribute"), (type: "RelationshipDescription", alias: "Relationship"),
        (type: "FetchIndexDescription", alias: "FetchIndex"),
        (type: "FetchedPropertyDescription", alias: "FetchedProperty"),
        (type: "FetchRequestTemplate", alias: "FetchTemplate"),
    ]

    private static func defaultValue(of attribute: AttributeSource) -> String? {
        switch attribute.defaultValue {
        case nil: return nil
        case .value(let value): return self.value(value)
        case .enumCase(let type, let name):
            let type = type == attribute.typeName ? CheckedType.checkedName(of: attribute) : type
            return ".rawValue(of: \(type).\(ReservedMembers.escaped(name)))"
        }
    }

    static func value(_ value: ValueSource?) -> String? {
        switch value {
        case nil: nil
        case .boolean(let flag): ".boolean(\(flag))"
        case .integer(let number): ".integer(\(number))"
        case .double(let number): ".double(\(number))"
        case .decimal(let number): ".exact(\"\(number)\")"
        case .string(let text): ".string(\(string(text)))"
        case .date(let seconds): ".date(\(seconds))"
        case .uuid(let uuid): ".exact(uuid: \"\(uuid.uuidString)\")"
        }
    }

    private static func flag(_ flag: Bool) -> String? { flag ? "true" : nil }

    private static func string(_ text: String?) -> String? { text.map { string($0) } }

    /// Returns a string literal on one line. Quotes, backslashes, and all characters except printable ASCII are
    /// escaped.
    static func string(_ text: String) -> String {
        var literal = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"", "\\": literal += "\\\(scalar)"
            case " "..."~": literal.unicodeScalars.append(scalar)
            default: literal += "\\u{\(String(scalar.value, radix: 16))}"
            }
        }
        return literal + "\""
    }

    static func strings(_ strings: [String]) -> String { "[\(strings.map { string($0) }.joined(separator: ", "))]" }

    static func userInfo(_ userInfo: [String: String]) -> String? {
        guard !userInfo.isEmpty else { return nil }
        let pairs = userInfo.sorted { $0.key < $1.key }.map { "\(string($0.key)): \(string($0.value))" }
        return "[\(pairs.joined(separator: ", "))]"
    }
}
