/// The expansion of one use of a macro: Swift, and what is wrong with the text.
///
/// It depends on nothing but the texts, so that it can be tested without a compiler.
package struct MacroExpansion: Sendable, Equatable {
    package enum Role: String, Sendable {
        case member, memberAttribute, accessor, peer, `extension`
    }

    package var text = ""
    /// The offsets are counted from the start of the declaration's text, or of the attribute's.
    package var diagnostics: [SourceDiagnostic] = []
    /// Whether the offsets are those of the attribute's text.
    package var isAboutAttribute = false

    /// - Parameters:
    ///   - macro: The name of the macro.
    ///   - attribute: The text of the attribute.
    ///   - declaration: The text of the declaration that has the attribute.
    ///   - surroundings: The text of the declarations around it, without their members, the innermost first; nil if it is not known.
    ///   - extended: The type that an extension extends.
    package init(
        macro: String, role: Role, attribute: String, declaration: String, surroundings: [String]? = nil,
        extended: String? = nil
    ) {
        switch (macro, role) {
        case ("StoredEntity", .member): members(of: declaration)
        case ("StoredEntity", .memberAttribute): memberAttribute(of: declaration)
        case ("Stored", .accessor), ("Related", .accessor): accessor(macro, attribute, declaration, surroundings)
        case ("StoredComposite", .member), ("StoredComposite", .extension): composite(declaration, role, extended)
        default: break
        }
    }

    private static func first(_ source: SwiftSource) -> Declaration? {
        var parser = DeclarationParser(source)
        return parser.declarations().first
    }

    private mutating func members(of text: String) {
        let source = SwiftSource(text)
        guard source.fault == nil, let declaration = Self.first(source) else {
            return diagnostics = [
                source.fault ?? SourceDiagnostic(at: 0, "This declaration cannot be read. Write a class.")
            ]
        }
        var reader = EntityReader(source)
        let entity = reader.entity(declaration)
        diagnostics = reader.diagnostics
        guard let entity else { return }
        let expansion = EntityExpansion(entity: entity)
        self.text = diagnostics.hasErrors ? expansion.faultyText : expansion.text
    }

    /// Every stored property is claimed, even one that cannot be stored: the members' expansion says so, and then the compiler has no
    /// more to say about it.
    private mutating func memberAttribute(of text: String) {
        let source = SwiftSource(text)
        guard source.fault == nil, let property = Self.first(source), property.kind == .variable, !property.isPattern,
            property.accessors == nil, property.type != nil,
            property.attributes.allSatisfy({ PropertyReader.plainAttributes.contains($0.name) }),
            property.modifiers.isDisjoint(with: ["static", "class", "lazy", "weak", "unowned"])
        else { return }
        self.text = "@Stored"
    }

    private mutating func accessor(
        _ macro: String, _ attribute: String, _ declaration: String, _ surroundings: [String]?
    ) {
        // An attribute that the class has added is not part of the declaration.
        let added = SwiftSource(declaration)
        let hasAttribute = Self.first(added)?.attribute(macro) != nil
        let source = hasAttribute ? added : SwiftSource(attribute + " " + declaration)
        guard let property = Self.first(source) else {
            return diagnostics = [SourceDiagnostic(at: 0, "This property cannot be read. Write a var with a type.")]
        }
        if let surroundings {
            switch surroundings.first.flatMap(Owner.init) {
            case .entity: break
            case .unreadable: return text = Self.unreadable
            case nil:
                isAboutAttribute = true
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

    /// The type of a property: the first declaration around the property.
    private enum Owner {
        case entity
        /// The expansion of the type's own macro says why.
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

    /// The class has a diagnostic about the property, so the program is never built.
    private static let unreadable = "get { Swift.fatalError() }\nset { Swift.fatalError() }"

    private static func accessors(of attribute: AttributeSource) -> String {
        let column = "StoredLayout.first(self) + StoredLayout.column_\(attribute.propertyName)"
        let access = AttributeAccess(attribute: attribute, type: CheckedType.name(of: attribute))
        let getter = "get { \(access.reading(EntityExpansion.object, column)) }"
        if attribute.derivationExpression != nil { return getter }
        return "\(getter)\nset { \(access.writing("newValue", EntityExpansion.object, column)) }"
    }

    private mutating func composite(_ text: String, _ role: Role, _ extended: String?) {
        let source = SwiftSource(text)
        guard source.fault == nil, let declaration = Self.first(source) else {
            if role == .member {
                diagnostics = [
                    source.fault ?? SourceDiagnostic(at: 0, "This declaration cannot be read. Write a struct.")
                ]
            }
            return
        }
        var reader = EntityReader(source)
        let composite = reader.composite(declaration)
        // Both roles read the same text; one of them reports.
        if role == .member { diagnostics = reader.diagnostics }
        guard var composite else { return }
        if reader.diagnostics.hasErrors {
            // The classes that have the struct are not to blame.
            composite.attributes = []
            composite.hasInitializer = true
        }
        let expansion = CompositeExpansion(composite: composite)
        self.text = role == .member ? expansion.members : expansion.conformance(of: extended ?? composite.typeName)
    }
}
