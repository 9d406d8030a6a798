/// The expansion of one use of a macro: the Swift code, and the diagnostics about the source.
///
/// The expansion depends only on the strings that are passed in, so it can be tested without a compiler.
package struct MacroExpansion: Sendable, Equatable {
    package enum Role: String, Sendable {
        case member, memberAttribute, accessor, peer, `extension`
    }

    package var text = ""
    /// The diagnostics. Their offsets count from the start of the declaration, or of the attribute if ``diagnosesAttribute`` is
    /// true.
    package var diagnostics: [SourceDiagnostic] = []
    /// Whether the offsets of the diagnostics count from the start of the attribute.
    package var diagnosesAttribute = false

    /// - Parameters:
    ///   - macro: The name of the macro.
    ///   - attribute: The source of the attribute.
    ///   - declaration: The source of the declaration that has the attribute.
    ///   - lexicalContext: The source of the enclosing declarations without their members, innermost first; nil if unknown.
    ///   - extendedType: The type that an extension extends.
    ///   - place: The place of the declaration in its file; nil if unknown.
    package init(
        macro: String, role: Role, attribute: String, declaration: String, lexicalContext: [String]? = nil,
        extendedType: String? = nil, place: SourcePlace? = nil
    ) {
        switch (macro, role) {
        case ("StoredEntity", .member): members(of: declaration, place)
        case ("StoredEntity", .memberAttribute): memberAttribute(of: declaration)
        case ("Stored", .accessor), ("Related", .accessor): accessor(macro, attribute, declaration, lexicalContext)
        case ("StoredComposite", .member), ("StoredComposite", .extension):
            composite(declaration, role, extendedType, in: lexicalContext ?? [], at: place)
        default: break
        }
    }

    /// Returns the first declaration.
    static func first(_ source: SwiftSource) -> Declaration? {
        var parser = DeclarationParser(source)
        return parser.declarations().first { $0.kind != .other }
    }

    /// Returns the first declaration. If its members cannot be read, returns the declaration without members, and the reason.
    private static func readable(
        _ text: String
    ) -> (source: SwiftSource, declaration: Declaration?, syntaxError: SourceDiagnostic?) {
        let source = SwiftSource(text)
        guard let syntaxError = source.syntaxError else { return (source, first(source), nil) }
        guard let brace = source.tokens.indices.first(where: { source.isSymbol($0, "{") }) else {
            return (source, nil, syntaxError)
        }
        let header = SwiftSource(source.text(0..<source.tokens[brace].end) + "}")
        return (header, first(header), syntaxError)
    }

    private mutating func members(of text: String, _ place: SourcePlace?) {
        let (source, declaration, syntaxError) = Self.readable(text)
        guard let declaration else {
            return diagnostics = [
                syntaxError ?? SourceDiagnostic(at: 0, "This declaration cannot be read. Write a class.")
            ]
        }
        var reader = EntityReader(source)
        let entity = reader.entity(declaration)
        diagnostics = syntaxError.map { [$0] } ?? reader.diagnostics
        guard let entity else { return }
        let expansion = EntityExpansion(entity: entity, places: PlacedLines(place))
        self.text = diagnostics.hasErrors ? expansion.fallbackText : expansion.text
    }

    /// Adds `@Stored` even to a property that cannot be stored. The expansion of the class's members reports the error.
    /// With `@Stored`, the compiler reports no further error about the property.
    private mutating func memberAttribute(of text: String) {
        let source = SwiftSource(text)
        guard source.syntaxError == nil, let property = Self.first(source), property.kind == .variable,
            !property.isPattern,
            property.accessors == nil, property.type != nil,
            property.attributes.allSatisfy({ PropertyReader.plainAttributes.contains($0.name) }),
            property.modifiers.isDisjoint(with: ["static", "class", "lazy", "weak", "unowned"])
        else { return }
        self.text = "@Stored"
    }

    private mutating func accessor(
        _ macro: String, _ attribute: String, _ declaration: String, _ lexicalContext: [String]?
    ) {
        // If `@StoredEntity` added the attribute, the declaration does not contain the attribute, so write it before the
        // declaration.
        let added = SwiftSource(declaration)
        let hasAttribute = Self.first(added)?.attribute(macro) != nil
        let source = hasAttribute ? added : SwiftSource(attribute + " " + declaration)
        guard let property = Self.first(source) else {
            return diagnostics = [SourceDiagnostic(at: 0, "This property cannot be read. Write a var with a type.")]
        }
        if let lexicalContext {
            switch lexicalContext.first.flatMap(Owner.init) {
            case .entity: break
            case .unreadable: return text = Self.unreadable
            case nil:
                diagnosesAttribute = true
                text = Self.unreadable
                return diagnostics = [
                    SourceDiagnostic(
                        at: attribute.utf8.count - attribute.drop { $0.isWhitespace }.utf8.count,
                        "@\(macro) belongs to a property of a class with @StoredEntity. Add @StoredEntity to the class."
                    )
                ]
            }
        }
        var reader = PropertyReader(source, property)
        let name = property.name
        switch reader.property() {
        case .attribute(let attribute) where !reader.diagnostics.hasErrors: text = Self.accessors(of: attribute)
        case .relationship(let relationship) where !reader.diagnostics.hasErrors:
            let (object, index) = (EntityExpansion.object, "StoredLayout.relationship_\(name)")
            switch (relationship.isToMany, relationship.isOrdered) {
            case (false, _):
                text =
                    "get { \(object).relatedObject(at: \(index)) }\nset { \(object).setRelatedObject(newValue, at: \(index)) }"
            case (true, false): text = "get { \(object).relatedObjects(at: \(index)) }"
            case (true, true):
                text =
                    "get { \(object).relatedList(at: \(index)) }\nset { \(object).setRelatedList(newValue, at: \(index)) }"
            }
        default: text = Self.unreadable
        }
    }

    /// The type that declares a property: the innermost enclosing declaration.
    private enum Owner {
        case entity
        /// A type with an error, which the type's own macro reports.
        case unreadable

        init?(_ text: String) {
            let source = SwiftSource(text)
            guard let declaration = MacroExpansion.first(source) else { return nil }
            if declaration.attribute("StoredComposite") != nil { self = .unreadable; return }
            guard declaration.attribute("StoredEntity") != nil else { return nil }
            var reader = EntityReader(source)
            self = reader.superclass(of: declaration) == nil ? .unreadable : .entity
        }
    }

    /// Accessors of a property with an error. The accessors never run, because the program is not built.
    private static let unreadable = "get { Swift.fatalError() }\nset { Swift.fatalError() }"

    private static func accessors(of attribute: AttributeSource) -> String {
        let column = "StoredLayout.first(self) + StoredLayout.column_\(attribute.propertyName)"
        let access = AttributeAccess(attribute: attribute, type: CheckedType.name(of: attribute))
        let getter = "get { \(access.reading(EntityExpansion.object, column)) }"
        if attribute.derivationExpression != nil { return getter }
        return "\(getter)\nset { \(access.writing("newValue", EntityExpansion.object, column)) }"
    }

    private mutating func composite(
        _ text: String, _ role: Role, _ extendedType: String?, in lexicalContext: [String], at place: SourcePlace?
    ) {
        let (source, declaration, syntaxError) = Self.readable(text)
        guard let declaration else {
            if role == .member {
                diagnostics = [
                    syntaxError ?? SourceDiagnostic(at: 0, "This declaration cannot be read. Write a struct.")
                ]
            }
            return
        }
        var reader = EntityReader(source)
        let composite = reader.composite(declaration)
        // Both roles read the same struct, so only one role reports the errors.
        if role == .member { diagnostics = syntaxError.map { [$0] } ?? reader.diagnostics }
        guard var composite else { return }
        composite.accessLevel = AccessText.level(composite.accessLevel, in: lexicalContext)
        if reader.diagnostics.hasErrors {
            // Omits the attributes, so that classes that use the struct get no further errors.
            composite.attributes = []
            composite.hasInitializer = true
        }
        let expansion = CompositeExpansion(
            composite: composite, places: PlacedLines(role == .member ? place : nil))
        // The compiler leaves the backticks of some words out, such as those of `some`.
        let type = (extendedType ?? composite.typeName).split(separator: ".").map {
            ReservedMembers.escaped(String($0))
        }
        self.text = role == .member ? expansion.members : expansion.conformance(of: type.joined(separator: "."))
    }
}
