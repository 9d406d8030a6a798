/// The description of a property in a class or a struct.
package enum PropertySource: Sendable {
    case attribute(AttributeSource)
    case relationship(RelationshipSource)
    /// A property that is not stored, because it is computed or static, or is marked with `@Unstored`.
    case unstored
    /// A property with an error, for which there is a diagnostic.
    case refused
}

/// Maps the declaration of a property to its description.
package struct PropertyReader {
    private let source: SwiftSource
    private let declaration: Declaration
    /// Whether the property belongs to a composite, in which it stays a stored property of the struct.
    private let isOfComposite: Bool
    package private(set) var diagnostics: [SourceDiagnostic] = []

    package init(_ source: SwiftSource, _ declaration: Declaration, isOfComposite: Bool = false) {
        self.source = source
        self.declaration = declaration
        self.isOfComposite = isOfComposite
    }

    private mutating func refuse(_ message: String, at offset: Int? = nil) -> PropertySource {
        diagnostics.append(SourceDiagnostic(at: offset ?? declaration.offset, message))
        return .refused
    }

    private var name: String { declaration.name }

    package mutating func property() -> PropertySource {
        let stored = declaration.attribute(isOfComposite ? "StoredPart" : "Stored")
        let related = declaration.attribute("Related")
        let claim = stored ?? related
        if !declaration.modifiers.isDisjoint(with: ["static", "class"]) || declaration.attribute("Unstored") != nil {
            guard let claim else { return .unstored }
            return refuse(
                "\(name) is static or marked with @Unstored, so it is not stored. Remove @\(claim.name).",
                at: claim.offset)
        }
        if isComputed {
            guard let claim else { return .unstored }
            return refuse(
                "\(name) is computed, so there is no value to store. Remove @\(claim.name), or the braces of \(name).",
                at: claim.offset)
        }
        if let faulty = faultOfDeclaration() ?? faultOfPlace() { return faulty }
        if let stored, related != nil {
            return refuse(
                "\(name) is either an attribute or a relationship. Remove @Stored or @Related.", at: stored.offset)
        }
        guard let range = declaration.type else {
            return refuse("\(name) has no type. Write the type after a colon: the model cannot infer the type.")
        }
        guard let type = SourceType(source, in: range) else {
            return refuse(
                "\(source.text(ofTokens: range)) cannot be stored. \(PropertyReader.advice(name))",
                at: source.tokens[min(range.lowerBound, source.tokens.count - 1)].start)
        }
        if let related { return relationship(type, related) }
        return attribute(type, stored, at: source.tokens[range.lowerBound].start)
    }

    /// Whether the property has a getter. Braces with observers contain no getter.
    private var isComputed: Bool {
        guard let accessors = declaration.accessors else { return false }
        return !hasObservers(accessors)
    }

    private func hasObservers(_ accessors: Range<Int>) -> Bool {
        accessors.contains { source.isWord($0, "didSet") || source.isWord($0, "willSet") }
            && !accessors.contains { source.isWord($0, "get") }
    }

    private mutating func faultOfDeclaration() -> PropertySource? {
        if declaration.isPattern {
            return refuse("Declare one property at a time, each with a var and a type of its own.")
        }
        if declaration.kind == .constant, !isOfComposite || declaration.initialValue != nil {
            return refuse("\(name) is a let, but stored values change. Use var, or mark the property with @Unstored.")
        }
        if declaration.isConditional {
            return refuse(
                "\(name) is in an #if, but a model is the same in every build. Move the property out of the #if, or mark the property with @Unstored."
            )
        }
        if let modifier = ["lazy", "weak", "unowned"].first(where: { word in
            declaration.modifiers.contains { $0.hasPrefix(word) }
        }) {
            return refuse(
                "\(name) is \(modifier), but the store keeps its value. Remove \(modifier), or add @Unstored.")
        }
        if declaration.accessors != nil {
            return refuse(
                "\(name) has observers, which stored properties cannot have. Remove the observers, or add @Unstored.")
        }
        if let wrapper = declaration.attributes.first(where: {
            !Self.claims.contains($0.name) && !Self.plainAttributes.contains($0.name)
        }) {
            return refuse(
                "\(name) has the attribute @\(wrapper.name), which stored properties cannot have. Remove the attribute, or mark the property with @Unstored.",
                at: wrapper.offset)
        }
        if !ReservedMembers.isIdentifier(name) {
            return refuse(
                "\(name) is not a name of letters, digits and underscores. Rename the property. To keep the name in the model, use name:."
            )
        }
        if !isOfComposite, ReservedMembers.names.contains(name) {
            return refuse(
                "\(name) is a member of ManagedObject already. Choose another name for the property; @Stored(name: \"\(name)\") keeps the name in the model."
            )
        }
        return nil
    }

    private static let claims: Set = ["Stored", "StoredPart", "Related"]
    /// Attributes that do not affect what is stored.
    package static let plainAttributes: Set = [
        "available", "objc", "nonobjc", "usableFromInline", "inlinable", "_documentation",
    ]

    /// Refuses `@Stored` and `@Related` in a struct, and `@StoredPart` in a class, because they would have no effect
    /// there.
    private mutating func faultOfPlace() -> PropertySource? {
        if isOfComposite, let related = declaration.attribute("Related") {
            return refuse(
                "A composite has no relationships. Move \(name) to the class that has the composite.",
                at: related.offset)
        }
        guard let use = declaration.attribute(isOfComposite ? "Stored" : "StoredPart") else { return nil }
        return refuse(
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
    private mutating func destination(of type: SourceType) -> String? {
        let isToMany = type.element != nil
        let typeOffset = declaration.type.map { source.tokens[$0.lowerBound].start } ?? declaration.offset
        if isToMany == type.isOptional {
            _ = refuse(
                isToMany
                    ? "\(name) is a to-many relationship, which is empty rather than nil. Remove the question mark."
                    : "\(name) is a to-one relationship, whose object can be deleted. Add a question mark to its type; isOptional: false makes a save require an object.",
                at: typeOffset)
            return nil
        }
        let destination = type.element ?? type.name
        if destination.contains(where: { "[]<>?: ".contains($0) }) || StorageType.plain[destination] != nil {
            _ = refuse(
                "A relationship leads to a class of the model: write \(isToMany ? "RelatedObjects<Class> or [Class]" : "Class?").",
                at: typeOffset)
            return nil
        }
        if let value = declaration.initialValue {
            _ = refuse(
                "A relationship has no initial value. Remove the value.", at: source.tokens[value.lowerBound].start)
            return nil
        }
        return destination
    }

    private mutating func relationship(_ type: SourceType, _ use: AttributeUse) -> PropertySource {
        guard let destination = destination(of: type) else { return .refused }
        let isToMany = type.element != nil
        var arguments = ArgumentReader(source, use)
        arguments.checkLabels()
        var found = RelationshipSource(
            propertyName: name, name: arguments.name("name") ?? name, offset: declaration.offset,
            destination: destination,
            inverse: arguments.string("inverse"), isToMany: isToMany, isOrdered: isToMany && !type.isRelatedObjects)
        found.isOptional = arguments.flag("isOptional") ?? true
        found.isTransient = arguments.flag("isTransient") ?? false
        found.deleteRule = arguments.member("onDelete", of: ["noAction", "nullify", "cascade", "deny"]) ?? "nullify"
        found.versionHashModifier = arguments.string("hashModifier")
        found.renamingIdentifier = arguments.string("renamedFrom")
        found.userInfo = arguments.strings("userInfo")
        if let inverse = found.inverse, !ReservedMembers.isIdentifier(inverse) {
            arguments.refuse(
                "inverse",
                "\"\(inverse)\" is not the name of a property. Write the name of the property of \(destination) that points back."
            )
        }
        if found.isTransient, isToMany {
            arguments.refuse(
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
            return arguments.refuse(
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
            return arguments.refuse("count", "A count is a range of whole numbers from 0 on, such as 1...5 or 1....")
        }
        found.minimumCount = lower ?? 0
        found.maximumCount = upper
    }

    // MARK: Attributes

    private mutating func attribute(_ type: SourceType, _ use: AttributeUse?, at typeOffset: Int) -> PropertySource {
        if type.isRelatedObjects {
            return refuse("\(type.name) is a relationship. Add @Related to the property.", at: typeOffset)
        }
        var arguments = ArgumentReader(source, use)
        arguments.checkLabels()
        let raw = arguments.type("raw")
        let form = arguments.member("", of: ["plain", "codable", "composite", "transformable"])
        // Without a valid way to store the property, its type cannot be checked.
        let isSaid = arguments.diagnostics.isEmpty
        guard isSaid, let (storage, kind) = storage(of: type, form, raw, &arguments, typeOffset) else {
            diagnostics += arguments.diagnostics
            return .refused
        }
        var found = AttributeSource(
            propertyName: name, name: arguments.name("name") ?? name, offset: declaration.offset, form: kind,
            type: storage,
            typeName: type.name, hasOptionalProperty: type.isOptional,
            isOptional: arguments.flag("isOptional") ?? type.isOptional)
        found.isPrivate = ["private", "fileprivate"].contains(declaration.accessLevel)
        AttributeRules(source, declaration, typeOffset).read(&found, &arguments)
        diagnostics += arguments.diagnostics
        return .attribute(found)
    }

    private mutating func storage(
        of type: SourceType, _ form: String?, _ raw: String?, _ arguments: inout ArgumentReader, _ typeOffset: Int
    ) -> (StorageType, AttributeSource.Form)? {
        if let raw {
            guard let storage = StorageType.raw[raw] else {
                arguments.refuse(
                    "raw", "Raw values are stored as Int16, Int32, Int64, Int or String. Use one of these types.")
                return nil
            }
            if form != nil {
                arguments.refuse("raw", "\(name) is stored in two ways at once. Remove raw:, or the first argument.")
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
                _ = refuse(
                    "A transformable whose type Swift cannot name is stored as bytes. Use the type Data?, or replace .transformable with .codable.",
                    at: typeOffset)
                return nil
            }
            return (.transformable, .bytes)
        default:
            if let storage = StorageType.plain[type.name] { return (storage, .plain) }
        }
        _ = refuse("\(type.spelling) cannot be stored. \(PropertyReader.advice(name))", at: typeOffset)
        return nil
    }
}
