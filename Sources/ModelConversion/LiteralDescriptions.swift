internal import Foundation
internal import ManagedModel
internal import ModelSource

/// The arguments in a call of an initializer, by their labels.
struct LiteralArguments {
    private let values: [String: SourceExpression]
    /// Whether a required argument is missing, or any argument has the wrong type.
    private(set) var isFaulty = false

    /// Nil if the expression is not a call of the type's initializer.
    init?(_ expression: SourceExpression?, of type: String) {
        guard case .call(let name, let arguments) = expression, name.isEmpty || name == type else { return nil }
        values = Dictionary(arguments.map { ($0.label, $0.value) }) { $1 }
    }

    private mutating func read<Value>(_ label: String, _ read: (SourceExpression) -> Value?) -> Value? {
        guard let expression = values[label], expression != .none else { return nil }
        let value = read(expression)
        if value == nil { isFaulty = true }
        return value
    }

    mutating func string(_ label: String) -> String? {
        read(label) { if case .string(let text) = $0 { text } else { nil } }
    }

    mutating func required(_ label: String) -> String {
        guard let text = string(label) else {
            isFaulty = true
            return ""
        }
        return text
    }

    mutating func flag(_ label: String, defaultValue: Bool = false) -> Bool {
        read(label) { if case .boolean(let flag) = $0 { flag } else { nil } } ?? defaultValue
    }

    mutating func number(_ label: String) -> Int? {
        read(label) { if case .number(let text) = $0 { ValueSource.integer(text).map(Int.init) } else { nil } }
    }

    mutating func member<Value>(_ label: String, _ values: [String: Value]) -> Value? {
        read(label) { if case .member(_, let name) = $0 { values[name] } else { nil } }
    }

    mutating func strings(_ label: String) -> [String] {
        read(label) { expression in
            guard case .list(let elements) = expression else { return nil }
            let strings = elements.compactMap { if case .string(let text) = $0 { text } else { nil } }
            return strings.count == elements.count ? strings : nil
        } ?? []
    }

    mutating func userInfo() -> [String: String] { names("userInfo") }

    mutating func names(_ label: String) -> [String: String] {
        read(label) { expression in
            Self.dictionary(expression) { if case .string(let text) = $0 { text } else { nil } }
        } ?? [:]
    }

    mutating func namesByOwner(_ label: String) -> [String: [String: String]] {
        read(label) { expression in
            Self.dictionary(expression) { names in
                Self.dictionary(names) { if case .string(let text) = $0 { text } else { nil } }
            }
        } ?? [:]
    }

    /// Returns nil if the expression is not a dictionary with strings as keys, or if a value cannot be read.
    private static func dictionary<Value>(
        _ expression: SourceExpression, _ value: (SourceExpression) -> Value?
    ) -> [String: Value]? {
        guard case .dictionary(let pairs) = expression else { return nil }
        let values = pairs.compactMap { pair -> (String, Value)? in
            guard case .string(let key) = pair.key, let value = value(pair.value) else { return nil }
            return (key, value)
        }
        return values.count == pairs.count ? Dictionary(values) { $1 } : nil
    }

    mutating func expression(_ label: String) -> SourceExpression? { values[label] }

    mutating func elements(_ label: String) -> [SourceExpression] {
        read(label) { if case .list(let elements) = $0 { elements } else { nil } } ?? []
    }

    mutating func value(_ label: String, of type: AttributeType) -> AttributeValue? {
        read(label) { expression in
            guard case .call(let name, let arguments) = expression, arguments.count == 1 else { return nil }
            switch (name, arguments[0].value) {
            case (".boolean", .boolean(let flag)): return .boolean(flag)
            case (".integer", .number(let text)): return ValueSource.integer(text).map { .integer($0) }
            case (".double", .number(let text)): return Double(text).map { .double($0) }
            case (".date", .number(let text)): return Double(text).map { .date($0) }
            case (".string", .string(let text)): return .string(text)
            case (".exact", .string(let text)) where arguments[0].label == "uuid":
                return UUID(uuidString: text).map { .uuid($0) }
            case (".exact", .string(let text)):
                return ValueSource(.string(text), of: .decimal).map { AttributeValue($0) }
            default: return nil
            }
        }
    }
}

/// Reads descriptions from calls of their initializers.
enum LiteralDescription {
    static func attribute(_ expression: SourceExpression) -> AttributeDescription? {
        guard var arguments = LiteralArguments(expression, of: "AttributeDescription") else { return nil }
        let types = Dictionary(uniqueKeysWithValues: AttributeType.allCases.map { ("\($0)", $0) })
        guard let type = arguments.member("type", types) else { return nil }
        var found = AttributeDescription(name: arguments.required("name"), type: type)
        found.isOptional = arguments.flag("isOptional")
        found.isTransient = arguments.flag("isTransient")
        found.defaultValue = arguments.value("defaultValue", of: type)
        found.usesScalarValueType = arguments.flag("usesScalarValueType")
        found.minimum = arguments.value("minimum", of: type)
        found.maximum = arguments.value("maximum", of: type)
        found.pattern = arguments.string("pattern")
        found.valueTransformerName = arguments.string("valueTransformerName")
        found.customClassName = arguments.string("customClassName")
        found.allowsExternalBinaryDataStorage = arguments.flag("allowsExternalBinaryDataStorage")
        found.compositeName = arguments.string("compositeName")
        found.derivationExpression = arguments.string("derivationExpression")
        found.isIndexed = arguments.flag("isIndexed")
        found.preservesValueInHistoryOnDeletion = arguments.flag("preservesValueInHistoryOnDeletion")
        found.allowsCloudEncryption = arguments.flag("allowsCloudEncryption")
        found.isIndexedBySpotlight = arguments.flag("isIndexedBySpotlight")
        found.versionHashModifier = arguments.string("versionHashModifier")
        found.renamingIdentifier = arguments.string("renamingIdentifier")
        found.userInfo = arguments.userInfo()
        return arguments.isFaulty ? nil : found
    }

    static func relationship(_ expression: SourceExpression) -> RelationshipDescription? {
        guard var arguments = LiteralArguments(expression, of: "RelationshipDescription") else { return nil }
        var found = RelationshipDescription(
            name: arguments.required("name"), destinationName: arguments.required("destinationName"),
            inverseName: arguments.string("inverseName"), isToMany: arguments.flag("isToMany"),
            maximumCount: arguments.number("maximumCount"))
        found.isOrdered = arguments.flag("isOrdered")
        found.isOptional = arguments.flag("isOptional")
        found.isTransient = arguments.flag("isTransient")
        found.minimumCount = arguments.number("minimumCount") ?? 0
        found.deleteRule = arguments.member("deleteRule", DeleteRule.byName) ?? .nullify
        found.versionHashModifier = arguments.string("versionHashModifier")
        found.renamingIdentifier = arguments.string("renamingIdentifier")
        found.userInfo = arguments.userInfo()
        return arguments.isFaulty ? nil : found
    }

    static func index(_ expression: SourceExpression) -> FetchIndexDescription? {
        guard var arguments = LiteralArguments(expression, of: "FetchIndexDescription") else { return nil }
        var elements: [FetchIndexDescription.Element] = []
        for element in arguments.elements("elements") {
            guard var part = LiteralArguments(element, of: "FetchIndexDescription.Element") else { return nil }
            elements.append(
                FetchIndexDescription.Element(
                    property: part.required("property"), isAscending: part.flag("isAscending", defaultValue: true)))
            if part.isFaulty { return nil }
        }
        let found = FetchIndexDescription(
            name: arguments.required("name"), elements: elements, isCompound: arguments.flag("isCompound"))
        return arguments.isFaulty ? nil : found
    }

    static func fetchRequest(_ expression: SourceExpression?) -> FetchRequestTemplate? {
        guard var arguments = LiteralArguments(expression, of: "FetchRequestTemplate") else { return nil }
        let types: [String: FetchRequestTemplate.ResultType] = [
            "objects": .objects, "objectIDs": .objectIDs, "dictionaries": .dictionaries,
        ]
        let found = FetchRequestTemplate(
            name: arguments.required("name"), entityName: arguments.required("entityName"),
            predicateFormat: arguments.string("predicateFormat"),
            resultType: arguments.member("resultType", types) ?? .objects,
            fetchLimit: arguments.number("fetchLimit") ?? 0,
            includesSubentities: arguments.flag("includesSubentities", defaultValue: true))
        return arguments.isFaulty ? nil : found
    }

    static func fetchedProperty(_ expression: SourceExpression) -> FetchedPropertyDescription? {
        guard var arguments = LiteralArguments(expression, of: "FetchedPropertyDescription"),
            let request = fetchRequest(arguments.expression("fetchRequest"))
        else { return nil }
        let found = FetchedPropertyDescription(
            name: arguments.required("name"), isOptional: arguments.flag("isOptional"), fetchRequest: request,
            userInfo: arguments.userInfo())
        return arguments.isFaulty ? nil : found
    }

    static func earlierVersion(_ expression: SourceExpression) -> EarlierVersion? {
        guard var arguments = LiteralArguments(expression, of: "EarlierVersion") else { return nil }
        let found = EarlierVersion(
            hashes: Set(arguments.strings("hashes")), entityNames: arguments.names("entityNames"),
            propertyNames: arguments.namesByOwner("propertyNames"))
        return arguments.isFaulty ? nil : found
    }

    static func configuration(_ expression: SourceExpression) -> EntityConfiguration? {
        guard var arguments = LiteralArguments(expression, of: "EntityConfiguration") else { return nil }
        let found = EntityConfiguration(name: arguments.required("name"), entityNames: arguments.strings("entityNames"))
        return arguments.isFaulty ? nil : found
    }
}

extension DeleteRule {
    static let byName: [String: DeleteRule] = [
        "noAction": .noAction, "nullify": .nullify, "cascade": .cascade, "deny": .deny,
    ]
}

extension AttributeValue {
    init(_ value: ValueSource) {
        self =
            switch value {
            case .boolean(let flag): .boolean(flag)
            case .integer(let number): .integer(number)
            case .double(let number): .double(number)
            case .decimal(let number): .decimal(number)
            case .string(let text): .string(text)
            case .date(let seconds): .date(seconds)
            case .uuid(let uuid): .uuid(uuid)
            }
    }
}
