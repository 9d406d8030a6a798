internal import DeclarationRules

/// The description of a property in a class or a struct.
package enum PropertySource: Sendable {
    case attribute(AttributeSource)
    case relationship(RelationshipSource)
    /// A property that is not stored, because it is computed or static, or is marked with `@Unstored`.
    case unstored
    /// A property with an error, for which there is a diagnostic.
    case invalid
}

/// Maps the declaration of a property to its description.
package struct PropertyReader {
    private let source: SwiftSource
    private let declaration: Declaration
    /// Whether the property belongs to a composite. A property of a composite stays a stored property of the struct.
    private let isOfComposite: Bool
    package private(set) var diagnostics: [SourceDiagnostic] = []

    package init(_ source: SwiftSource, _ declaration: Declaration, isOfComposite: Bool = false) {
        self.source = source
        self.declaration = declaration
        self.isOfComposite = isOfComposite
    }

    private mutating func reportError(_ message: String, at offset: Int? = nil) -> PropertySource {
        diagnostics.append(SourceDiagnostic(at: offset ?? declaration.offset, message))
        return .invalid
    }

    private var name: String { declaration.name }

    package mutating func property() -> PropertySource {
        let stored = declaration.attribute(isOfComposite ? "StoredPart" : "Stored")
        let related = declaration.attribute("Related")
        let storageAttribute = stored ?? related
        if !declaration.modifiers.isDisjoint(with: ["static", "class"]) || declaration.attribute("Unstored") != nil {
            guard let storageAttribute else { return .unstored }
            return reportError(
                "\(name) is static or marked with @Unstored, so it is not stored. Remove @\(storageAttribute.name).",
                at: storageAttribute.offset)
        }
        if isComputed {
            guard let storageAttribute else { return .unstored }
            return reportError(
                "\(name) is computed, so there is no value to store. Remove @\(storageAttribute.name), or the braces of \(name).",
                at: storageAttribute.offset)
        }
        if let faulty = declarationError() ?? misplacementError() { return faulty }
        if let stored, related != nil {
            return reportError(
                "\(name) is either an attribute or a relationship. Remove @Stored or @Related.", at: stored.offset)
        }
        guard let range = declaration.type else {
            return reportError("\(name) has no type. Write the type after a colon: the model cannot infer the type.")
        }
        guard let type = SourceType(source, in: range) else {
            let text = source.text(ofTokens: range)
            let isForced = range.last.map { source.isSymbol($0, "!") } ?? false
            return reportError(
                isForced
                    ? "\(text) cannot be stored. Write a question mark instead of the exclamation mark."
                    : "\(text) cannot be stored. \(PropertyReader.advice(name))",
                at: source.tokens[min(range.lowerBound, source.tokens.count - 1)].start)
        }
        if let name = type.namesOfTypes.first(where: LayoutNames.isAdded) {
            return reportError(
                "The macros add a type with the name \(name), so the type of a stored property cannot have this name. Rename the type \(name).",
                at: source.tokens[range.lowerBound].start)
        }
        let typeOffset = source.tokens[range.lowerBound].start
        if let related { return relationship(type, related, at: typeOffset) }
        return attribute(type, stored, at: typeOffset)
    }

    /// Whether the property has a getter. Braces with observers contain no getter.
    private var isComputed: Bool {
        guard let accessors = declaration.accessors else { return false }
        return !source.beginsObservers(accessors)
    }

    /// Whether an equals sign is followed by nothing, by a second equals sign, or by two literals.
    private var hasFaultyValue: Bool {
        guard let value = declaration.initialValue else { return false }
        guard !value.isEmpty else { return true }
        if source.isSymbol(value.lowerBound, "=") { return true }
        return value.dropLast().contains { index in
            !source.tokens[index + 1].startsLine
                && [index, index + 1].allSatisfy { [.number, .string, .regex].contains(source.tokens[$0].kind) }
        }
    }

    private mutating func declarationError() -> PropertySource? {
        if declaration.isPattern {
            return reportError("Declare one property at a time, each with a var and a type of its own.")
        }
        if declaration.kind == .constant, !isOfComposite || declaration.initialValue != nil {
            return reportError(
                "\(name) is a let, but stored values change. Use var, or mark the property with @Unstored.")
        }
        if declaration.isConditional {
            return reportError(
                "\(name) is in an #if, but a model is the same in every build. Move the property out of the #if, or mark the property with @Unstored."
            )
        }
        if let modifier = ["lazy", "weak", "unowned"].first(where: { word in
            declaration.modifiers.contains { $0.hasPrefix(word) }
        }) {
            return reportError(
                "\(name) is \(modifier), but the store keeps its value. Remove \(modifier), or add @Unstored.")
        }
        if declaration.accessors != nil {
            return reportError(
                "\(name) has observers, which stored properties cannot have. Remove the observers, or add @Unstored.")
        }
        if hasFaultyValue {
            return reportError(
                "What follows the equals sign of \(name) is not one value. Write one value, or remove the equals sign."
            )
        }
        return attributeError() ?? nameError()
    }

    private mutating func attributeError() -> PropertySource? {
        if let wrapper = declaration.attributes.first(where: {
            !Self.storageAttributes.contains($0.name) && !Self.plainAttributes.contains($0.name)
        }) {
            if let replacement = SwiftDataSpellings(source).replacement(of: wrapper) {
                return reportError(
                    "\(name) has the attribute @\(wrapper.name) of SwiftData. Write \(replacement) instead.",
                    at: wrapper.offset)
            }
            return reportError(
                "\(name) has the attribute @\(wrapper.name), which stored properties cannot have. Remove the attribute, or mark the property with @Unstored.",
                at: wrapper.offset)
        }
        if let use = declaration.attribute("available"), let arguments = use.arguments,
            arguments.contains(where: { source.isWord($0, "unavailable") })
        {
            return reportError(
                "\(name) is unavailable, but the library reads and writes it. Remove @available, or add @Unstored.",
                at: use.offset)
        }
        return nil
    }

    private var isDeprecated: Bool {
        declaration.attributes.contains { use in
            use.name == "available" && use.arguments?.contains { source.isWord($0, "deprecated") } == true
        }
    }

    private mutating func nameError() -> PropertySource? {
        if !ReservedMembers.isIdentifier(name) {
            return reportError(
                "\(name) is not a name of letters, digits and underscores. Rename the property. To keep the name in the model, use name:."
            )
        }
        if !isOfComposite, ReservedMembers.names.contains(name) {
            return reportError(
                "\(name) is a member of ManagedObject already. Choose another name for the property; @Stored(name: \"\(name)\") keeps the name in the model."
            )
        }
        return nil
    }

    private static let storageAttributes: Set = ["Stored", "StoredPart", "Related"]
    /// Attributes that do not affect what is stored.
    package static let plainAttributes: Set = [
        "available", "objc", "nonobjc", "usableFromInline", "inlinable", "_documentation",
    ]

    /// Refuses `@Stored` and `@Related` in a struct, and `@StoredPart` in a class, because they would have no effect
    /// there.
    private mutating func misplacementError() -> PropertySource? {
        if isOfComposite, let related = declaration.attribute("Related") {
            return reportError(
                "A composite has no relationships. Move \(name) to the class that has the composite.",
                at: related.offset)
        }
        guard let use = declaration.attribute(isOfComposite ? "Stored" : "StoredPart") else { return nil }
        return reportError(
            isOfComposite
                ? "@Stored belongs to a property of a class. Use @StoredPart in a struct."
                : "@StoredPart belongs to a property of a struct. Use @Stored in a class.",
            at: use.offset)
    }

    private static func advice(_ name: String) -> String {
        "Choose how to store \(name): raw: for an enum, .codable for JSON, .composite for a struct of attributes, @Related for an object; or @Unstored to store nothing."
    }

    // MARK: Relationships

    /// Returns the class that a relationship leads to. Returns nil with a diagnostic if a relationship cannot have the type.
    private mutating func destination(of type: SourceType, at typeOffset: Int) -> String? {
        let isToMany = type.element != nil
        if type.name.hasPrefix("Set<") {
            _ = reportError(
                "A relationship whose objects have no order is not a Set. Write RelatedObjects<\(type.name.dropFirst(4).dropLast())>.",
                at: typeOffset)
            return nil
        }
        if isToMany == type.isOptional {
            _ = reportError(
                isToMany
                    ? "\(name) is a to-many relationship, which is empty rather than nil. Remove the question mark."
                    : "\(name) is a to-one relationship, whose object can be deleted. Add a question mark to its type; isOptional: false makes a save require an object.",
                at: typeOffset)
            return nil
        }
        let destination = type.element ?? type.name
        if destination.contains(where: { "[]<>?: ".contains($0) }) || StorageType.plain[destination] != nil {
            _ = reportError(
                "A relationship leads to a class of the model: write \(isToMany ? "RelatedObjects<Class> or [Class]" : "Class?").",
                at: typeOffset)
            return nil
        }
        if let value = declaration.initialValue {
            _ = reportError(
                "A relationship has no initial value. Remove the value.", at: source.tokens[value.lowerBound].start)
            return nil
        }
        return destination
    }

    private mutating func relationship(
        _ type: SourceType, _ use: AttributeUse, at typeOffset: Int
    ) -> PropertySource {
        guard let destination = destination(of: type, at: typeOffset) else { return .invalid }
        let isToMany = type.element != nil
        var arguments = ArgumentReader(source, use)
        arguments.checkLabels()
        var found = RelationshipSource(
            propertyName: name, name: arguments.name("name") ?? name, offset: declaration.offset,
            destination: destination, typeOffset: typeOffset,
            inverse: arguments.string("inverse"), inverseOffset: arguments.offset(of: "inverse"),
            isDeprecated: isDeprecated, isToMany: isToMany, isOrdered: isToMany && !type.isRelatedObjects)
        found.isOptional = arguments.flag("isOptional") ?? true
        found.isTransient = arguments.flag("isTransient") ?? false
        found.deleteRule =
            arguments.member("onDelete", of: ["noAction", "nullify", "cascade", "deny"], in: "DeleteRule") ?? "nullify"
        found.versionHashModifier = arguments.string("hashModifier")
        found.renamingIdentifier = arguments.string("renamedFrom")
        found.userInfo = arguments.strings("userInfo")
        if let inverse = found.inverse, !ReservedMembers.isIdentifier(inverse) {
            arguments.reportError(
                "inverse",
                "\"\(inverse)\" is not the name of a property. Write the name of the property of \(destination) that points back."
            )
        }
        if found.isTransient, isToMany {
            arguments.reportError(
                "isTransient",
                "A transient to-many relationship has no links. Use @Unstored for a property that is kept only in memory."
            )
        }
        readCount(&found, &arguments)
        diagnostics += arguments.diagnostics
        return .relationship(found)
    }

    private mutating func readCount(_ found: inout RelationshipSource, _ arguments: inout ArgumentReader) {
        guard let range = arguments.range("count") else { return }
        guard found.isToMany else {
            return arguments.reportError(
                "count", "A to-one relationship has no count. Use isOptional: false to require its object.")
        }
        func count(_ expression: SourceExpression?) -> Int? {
            guard case .number(let text) = expression, let count = ValueSource.integer(text), count >= 0 else {
                return nil
            }
            return Int(count)
        }
        let (lower, upper) = (count(range.lower), count(range.upper))
        if range.lower != nil && lower == nil || range.upper != nil && upper == nil {
            return arguments.reportError(
                "count", "A count is a range of whole numbers from 0 on, such as 1...5 or 1....")
        }
        if let lower, let upper, lower > upper { return arguments.reportError("count", ArgumentReader.emptyRange) }
        found.minimumCount = lower ?? 0
        found.maximumCount = upper
    }

    // MARK: Attributes

    private mutating func attribute(_ type: SourceType, _ use: AttributeUse?, at typeOffset: Int) -> PropertySource {
        if type.isRelatedObjects {
            return reportError("\(type.name) is a relationship. Add @Related to the property.", at: typeOffset)
        }
        var arguments = ArgumentReader(source, use)
        arguments.checkLabels()
        let raw = arguments.type("raw")
        let form = arguments.member("", of: ["plain", "codable", "composite", "transformable"], in: "StoredForm")
        // If an argument has an error, it is not known how the property is stored. Then its type cannot be checked.
        let hasNoErrors = arguments.diagnostics.isEmpty
        guard hasNoErrors, let (storage, kind) = storage(of: type, form: form, raw: raw, &arguments, typeOffset) else {
            diagnostics += arguments.diagnostics
            return .invalid
        }
        var found = AttributeSource(
            propertyName: name, name: arguments.name("name") ?? name, offset: declaration.offset, form: kind,
            type: storage,
            typeName: type.name, writtenTypeName: type.writtenName, isDeprecated: isDeprecated,
            hasOptionalProperty: type.isOptional,
            isOptional: arguments.flag("isOptional") ?? type.isOptional)
        found.typeOffset = typeOffset
        found.isPart = isOfComposite
        found.isPrivate = ["private", "fileprivate"].contains(declaration.accessLevel)
        AttributeRules(source, declaration, typeOffset).read(&found, &arguments)
        diagnostics += arguments.diagnostics
        return .attribute(found)
    }

    private mutating func storage(
        of type: SourceType, form: String?, raw: String?, _ arguments: inout ArgumentReader, _ typeOffset: Int
    ) -> (StorageType, AttributeSource.Form)? {
        if let raw {
            guard let storage = StorageType.raw[raw] else {
                arguments.reportError(
                    "raw", "Raw values are stored as Int16, Int32, Int64, Int or String. Use one of these types.")
                return nil
            }
            if form != nil {
                arguments.reportError(
                    "raw", "\(name) is stored in two ways at once. Remove raw:, or the first argument.")
            }
            return (storage, .raw)
        }
        switch form {
        case "codable": return (.transformable, .codable)
        case "composite":
            guard StorageType.plain[type.name] == nil, type.element == nil else { break }
            return (.composite, .composite)
        case "transformable":
            guard type.name == "Data" else {
                _ = reportError(
                    "A transformable whose type Swift cannot name is stored as bytes. Use the type Data?, or replace .transformable with .codable.",
                    at: typeOffset)
                return nil
            }
            return (.transformable, .bytes)
        default:
            if let storage = StorageType.plain[type.name] { return (storage, .plain) }
        }
        _ = reportError("\(type.spelling) cannot be stored. \(PropertyReader.advice(name))", at: typeOffset)
        return nil
    }
}
