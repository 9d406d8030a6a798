internal import DeclarationRules
package import Foundation
internal import ManagedModel

/// Writes an attribute as a property of a class with `@StoredEntity`, or of a struct with `@StoredComposite`.
struct AttributeSourceText {
    let attribute: AttributeDescription
    let property: PropertyPlan
    let types: TypeReferences
    /// Whether the property has a uniqueness constraint of its own.
    var isUnique = false
    /// The name of the macro.
    var macro = "Stored"

    func write(to text: inout SourceWriter) {
        let found = storage + model + bounds + [("default", explicitDefault)] + flags + names
        let sorted = SourceNames.attributeLabels.flatMap { label in found.filter { $0.label == label } }
        precondition(sorted.count == found.count, "An argument has a label that @\(macro) does not have.")
        let rendered = Literal.call("@" + macro, sorted).rendered(depth: 0, used: 0)
        let words = rendered == "@\(macro)()" ? "" : rendered + (rendered.contains("\n") ? "\n" : " ")
        let name = Identifier.escaped(property.name)
        text.line("\(words)var \(name): \(property.type.spelling)\(initialValue.map { " = \($0)" } ?? "")")
    }

    private typealias Arguments = [(label: String, value: Literal?)]

    private var storage: Arguments {
        switch property.type.accessor {
        case .transformable: [("", .text(".codable"))]
        case .composite: [("", .text(".composite"))]
        case .attribute where attribute.type == .transformable: [("", .text(".transformable"))]
        case .attribute: [("raw", property.type.rawType.map { .text("\(types.swift($0)).self") })]
        }
    }

    private var model: Arguments {
        [
            ("name", attribute.name == property.name ? nil : .string(attribute.name)),
            ("unique", Literal.flag(isUnique)),
            ("indexed", Literal.flag(attribute.isIndexed)),
            (
                "isOptional",
                attribute.isOptional == property.type.isOptional ? nil : .text("\(attribute.isOptional)")
            ),
            ("isTransient", Literal.flag(attribute.isTransient)),
            ("derived", Literal.string(attribute.derivationExpression)),
        ]
    }

    private var bounds: Arguments {
        let bounds = [attribute.minimum, attribute.maximum].map { $0.flatMap(bound) }
        guard bounds.contains(where: { $0 != nil }) else { return [("matching", Literal.string(attribute.pattern))] }
        // A minus sign after the three dots would make another operator, so a negative bound is in parentheses.
        let upper = bounds[1].map { $0.hasPrefix("-") ? "(\($0))" : $0 } ?? ""
        return [
            (attribute.type == .string ? "length" : "in", .text("\(bounds[0] ?? "")...\(upper)")),
            ("matching", Literal.string(attribute.pattern)),
        ]
    }

    private func bound(_ value: AttributeValue) -> String? {
        switch value {
        case .integer(let number): "\(number)"
        case .double(let number): "\(number)"
        // A literal without a fraction is an Int, which can be too small for the number.
        case .decimal(let number):
            number.isLong ? number.shortDigits : "\(number)".contains(".") ? "\(number)" : "\(number).0"
        case .date(let seconds): date(seconds)
        case .boolean, .string, .uuid: nil
        }
    }

    private func date(_ seconds: Double) -> String {
        "\(types.foundation("Date"))(timeIntervalSinceReferenceDate: \(seconds))"
    }

    private var flags: Arguments {
        [
            ("allowsExternalStorage", Literal.flag(attribute.allowsExternalBinaryDataStorage)),
            ("isPreservedAfterDeletion", Literal.flag(attribute.preservesValueInHistoryOnDeletion)),
            ("isCloudEncrypted", Literal.flag(attribute.allowsCloudEncryption)),
            ("isIndexedBySpotlight", Literal.flag(attribute.isIndexedBySpotlight)),
        ]
    }

    private var names: Arguments {
        let className = property.type.accessor == .transformable ? nil : attribute.customClassName
        var userInfo = attribute.userInfo
        if property.type.rawType != nil || property.type.name == "Int",
            userInfo[PropertyTypes.key] == property.type.name
        {
            userInfo[PropertyTypes.key] = nil
        }
        return [
            ("renamedFrom", Literal.string(attribute.renamingIdentifier)),
            ("hashModifier", Literal.string(attribute.versionHashModifier)),
            ("transformer", Literal.string(attribute.valueTransformerName)),
            ("className", Literal.string(className)),
            ("userInfo", Literal.userInfo(userInfo)),
        ]
    }

    // MARK: Default values

    /// The default value, if the type of the property has no literal for the value.
    private var explicitDefault: Literal? {
        switch (attribute.type, attribute.defaultValue) {
        case (_, nil): nil
        case (.uri, .string(let text)): .string(text)
        case (.uuid, .uuid(let uuid)): .string(uuid.uuidString)
        case (.decimal, .decimal(let number)) where number.isLong: .string(number.shortDigits)
        case (_, .string(let text)) where property.type.rawType != nil: .string(text)
        case (_, .integer(let number)) where property.type.rawType != nil: .text("\(number)")
        default: nil
        }
    }

    private var initialValue: String? {
        guard explicitDefault == nil, let value = attribute.defaultValue else { return nil }
        return switch value {
        case .boolean(let flag): "\(flag)"
        case .integer(let number): "\(number)"
        case .double(let number): "\(number)"
        case .decimal(let number): "\(number)"
        case .string(let text): StringLiteral.of(text)
        case .date(let seconds): date(seconds)
        case .uuid: nil
        }
    }

}

extension Decimal {
    /// Whether the number has no fraction and might be too large for an Int.
    var isLong: Bool { !"\(self)".contains(".") && "\(self)".count > 18 }

    /// The digits of the number. In a long number without a fraction, an exponent replaces the zeros at the end.
    package var shortDigits: String {
        guard isLong else { return "\(self)" }
        var digits = "\(self)"
        let count = digits.count
        while digits.last == "0", digits.count > 1 { digits.removeLast() }
        return "\(digits)e\(count - digits.count)"
    }
}

/// Writes a relationship as a property of a class with `@StoredEntity`.
struct RelationshipSourceText {
    let relationship: RelationshipDescription
    let plan: RelationshipPlan
    /// The name of the destination's property that points back.
    let inverse: String?

    func write(to text: inout SourceWriter) {
        let arguments = Literal.call(
            "@Related",
            [
                ("inverse", Literal.string(inverse)),
                ("onDelete", relationship.deleteRule == .nullify ? nil : .text(".\(relationship.deleteRule)")),
                ("isOptional", Literal.flag(relationship.isOptional, unless: true)),
                ("count", count.map { .text($0) }),
                ("isTransient", Literal.flag(relationship.isTransient)),
                ("name", relationship.name == plan.name ? nil : .string(relationship.name)),
                ("renamedFrom", Literal.string(relationship.renamingIdentifier)),
                ("hashModifier", Literal.string(relationship.versionHashModifier)),
                ("userInfo", Literal.userInfo(relationship.userInfo)),
            ])
        let rendered = arguments.rendered(depth: 0, used: 0)
        let words = rendered == "@Related()" ? "@Related" : rendered
        let type =
            switch plan.kind {
            case .toOne: "\(plan.destination)?"
            case .toMany: "RelatedObjects<\(plan.destination)>"
            case .ordered: "[\(plan.destination)]"
            }
        text.line("\(words)\(rendered.contains("\n") ? "\n" : " ")var \(Identifier.escaped(plan.name)): \(type)")
    }

    private var count: String? {
        guard relationship.isToMany else { return nil }
        let (minimum, maximum) = (relationship.minimumCount, relationship.maximumCount)
        if minimum <= 0, maximum <= 0 { return nil }
        return "\(max(0, minimum))...\(maximum > 0 ? "\(maximum)" : "")"
    }
}
