internal import Foundation
internal import ManagedModel

extension Literal {
    static func attribute(_ attribute: AttributeDescription) -> Literal { literal(of: attribute, value) }

    /// The literal of an attribute for an argument of a macro. The macro reads decimals and UUIDs in only one spelling.
    static func sourceAttribute(_ attribute: AttributeDescription) -> Literal {
        literal(of: attribute) { value in
            switch value {
            case .decimal(let number): .text(".exact(\"\(number.shortDigits)\")")
            case .uuid(let uuid): .text(".exact(uuid: \"\(uuid.uuidString)\")")
            default: self.value(value)
            }
        }
    }

    private static func literal(
        of attribute: AttributeDescription, _ value: (AttributeValue?) -> Literal?
    ) -> Literal {
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
        // A literal of Decimal can lose digits, so a string is used. The string is always a valid number, so the 0 is
        // never used.
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
    /// Whether the literal of the value uses a type of Foundation.
    var needsFoundation: Bool {
        switch self {
        case .decimal, .uuid: true
        default: false
        }
    }
}

/// A Swift expression, broken into lines that fit the line width.
indirect enum Literal {
    case text(String)
    /// `Name(label: value)`. An argument with a nil value is omitted.
    case call(String, [(label: String, value: Literal?)])
    case list([Literal])
    case dictionary([(key: Literal, value: Literal)])

    /// Returns the source of the expression.
    ///
    /// - Parameters:
    ///   - depth: The number of indentation steps.
    ///   - used: The number of characters that are already on the line.
    func rendered(depth: Int, used: Int) -> String {
        let line = inline
        if used + line.count < Self.width { return line }
        let step = String(repeating: "    ", count: depth + 1)
        let parts = self.parts.map { part in
            step + part.prefix + part.value.rendered(depth: depth + 1, used: step.count + part.prefix.count)
        }
        let end = "\n" + String(repeating: "    ", count: depth)
        return switch self {
        case .text(let text): text
        case .call(let name, _): "\(name)(\n\(parts.joined(separator: ",\n")))"
        case .list, .dictionary: "[\n\(parts.map { $0 + "," }.joined(separator: "\n"))\(end)]"
        }
    }

    /// The source on one line.
    var inline: String {
        let parts = self.parts.map { $0.prefix + $0.value.inline }.joined(separator: ", ")
        return switch self {
        case .text(let text): text
        case .call(let name, _): "\(name)(\(parts))"
        case .list: "[\(parts)]"
        case .dictionary(let pairs): pairs.isEmpty ? "[:]" : "[\(parts)]"
        }
    }

    private var parts: [(prefix: String, value: Literal)] {
        switch self {
        case .text: []
        case .call(_, let arguments):
            arguments.compactMap { argument in
                argument.value.map { (argument.label.isEmpty ? "" : "\(argument.label): ", $0) }
            }
        case .list(let elements): elements.map { ("", $0) }
        case .dictionary(let pairs): pairs.map { ("\($0.key.inline): ", $0.value) }
        }
    }

    private static let width = 180
}

extension Literal {
    static func string(_ string: String) -> Literal { .text(StringLiteral.of(string)) }

    /// Returns nil for a nil string. The argument is then omitted, because nil is the default of every optional field of a
    /// model.
    static func string(_ string: String?) -> Literal? { string.map { .text(StringLiteral.of($0)) } }

    static func strings(_ strings: [String]) -> Literal? { strings.isEmpty ? nil : .list(strings.map { string($0) }) }

    /// Returns nil for the default value of a field. The argument is then omitted.
    static func flag(_ flag: Bool, unless standard: Bool = false) -> Literal? {
        flag == standard ? nil : .text("\(flag)")
    }

    static func number(_ number: Int, unless standard: Int = 0) -> Literal? {
        number == standard ? nil : .text("\(number)")
    }

    static func list<Element>(_ elements: [Element], of literal: (Element) -> Literal) -> Literal? {
        elements.isEmpty ? nil : .list(elements.map(literal))
    }

    /// Sorted by key, because a dictionary has no order.
    static func userInfo(_ userInfo: [String: String]) -> Literal? {
        guard !userInfo.isEmpty else { return nil }
        return .dictionary(userInfo.sorted { $0.key < $1.key }.map { (string($0.key), string($0.value)) })
    }
}
