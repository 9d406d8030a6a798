internal import Foundation
internal import ManagedModel

extension Literal {
    static func attribute(_ attribute: AttributeDescription) -> Literal {
        .call(
            "AttributeDescription",
            [
                ("name", string(attribute.name)),
                ("type", .text(".\(attribute.type)")),
                ("isOptional", flag(attribute.isOptional)),
                ("isTransient", flag(attribute.isTransient)),
                ("defaultValue", value(attribute.defaultValue)),
                ("usesScalarValueType", flag(attribute.usesScalarValueType)),
                ("minimum", value(attribute.minimum)),
                ("maximum", value(attribute.maximum)),
                ("pattern", string(attribute.pattern)),
                ("valueTransformerName", string(attribute.valueTransformerName)),
                ("customClassName", string(attribute.customClassName)),
                ("allowsExternalBinaryDataStorage", flag(attribute.allowsExternalBinaryDataStorage)),
                ("compositeName", string(attribute.compositeName)),
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

    static func composite(_ composite: CompositeDescription) -> Literal {
        .call(
            "CompositeDescription",
            [
                ("name", string(composite.name)),
                ("attributes", .list(composite.attributes.map(attribute))),
            ])
    }

    static func value(_ value: AttributeValue?) -> Literal? {
        switch value {
        case nil: nil
        case .boolean(let flag): .text(".boolean(\(flag))")
        case .integer(let number): .text(".integer(\(number))")
        case .double(let number): .text(".double(\(double(number)))")
        // Decimal has no literal that keeps every digit. The string was checked, so the fallback is never used.
        case .decimal(let number): .text(".decimal(Decimal(string: \"\(number)\") ?? 0)")
        case .string(let text): .text(".string(\(StringLiteral.of(text)))")
        case .date(let seconds): .text(".date(\(double(seconds)))")
        case .uuid(let uuid): .text(".uuid(UUID(uuid: (\(bytes(of: uuid)))))")
        }
    }

    private static func double(_ number: Double) -> String {
        if number.isNaN { return ".nan" }
        if number.isInfinite { return number < 0 ? "-.infinity" : ".infinity" }
        return "\(number)"
    }

    private static func bytes(of uuid: UUID) -> String {
        withUnsafeBytes(of: uuid.uuid) { $0.map(String.init).joined(separator: ", ") }
    }
}

extension AttributeValue {
    /// Whether its literal uses a type of Foundation.
    var needsFoundation: Bool {
        switch self {
        case .decimal, .uuid: true
        default: false
        }
    }
}
