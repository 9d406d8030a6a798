internal import ManagedModel

/// Writes the class or the extension of an entity, or a comment that says why there is neither.
struct EntityWriter {
    let plan: EntityPlan
    let access: AccessLevel

    func write(to text: inout SourceWriter) {
        switch (plan.generation, plan.className) {
        case (.class, let name?): writeClass(named: Identifier.escaped(name), to: &text)
        case (.category, let name?): writeExtension(of: Identifier.escaped(name), to: &text)
        case (.category, nil): writeComment(plan.omissionReason ?? "its class has no name that Swift allows", to: &text)
        case (_, let name?): writeComment("its class \(name) is written by hand", to: &text)
        case (_, nil): writeComment("it has no class of its own", to: &text)
        }
    }

    private func writeClass(named name: String, to text: inout SourceWriter) {
        let superclass = Identifier.escaped(plan.superclassName)
        text.documentation([entityLine])
        text.block("nonisolated \(access.prefix)class \(name): \(superclass) {") { text in
            text.line("\(access.prefix)override class var entityName: String { \(entityName) }")
            writeKeyPaths(of: name, as: "override class var", inheritedFrom: "super", to: &text)
            text.line()
            text.block("\(access.prefix)override class var propertyNames: Set<String>? {") { text in
                // The generator does not know the properties of a subclass that is written by hand, so the code returns nil
                // for such a subclass.
                text.line("guard entityName == \(entityName) else { return nil }")
                writePropertyNames(to: &text)
            }
            writeProperties(modifiers: "\(access.prefix)final ", to: &text)
        }
    }

    /// Writes a nested type with values for the author's overrides, because an extension cannot override members. The values
    /// are not static properties of the class, because a subclass cannot declare such a property again. But a subclass can
    /// declare a nested type again.
    private func writeExtension(of name: String, to text: inout SourceWriter) {
        text.documentation(
            [
                entityLine, "", "The class is yours to write, in this module, with these overrides:", "",
                "    override class var entityName: String { \(name).Generated.entityName }",
                "    override class var attributeKeyPaths: [AnyKeyPath: String] { \(name).Generated.attributeKeyPaths }",
            ]
                + (relationships.isEmpty
                    ? []
                    : [
                        "    override class var relationshipKeyPaths: [AnyKeyPath: String] { \(name).Generated.relationshipKeyPaths }"
                    ])
                + (plan.isDestination
                    ? [
                        "    override class var optionalKeyPaths: [AnyKeyPath: String] { \(name).Generated.optionalKeyPaths }"
                    ]
                    : []))
        text.block("nonisolated extension \(name) {") { text in
            text.line("/// The names of the entity and its properties, for the overrides of the class.")
            text.block("\(access.prefix)enum Generated {") { text in
                text.line("\(access.prefix)static var entityName: String { \(entityName) }")
                writeKeyPaths(
                    of: name, as: "static var", inheritedFrom: Identifier.escaped(plan.superclassName), to: &text)
            }
            writeProperties(modifiers: access.prefix, to: &text)
        }
    }

    /// Writes the dictionaries of key paths.
    ///
    /// - Parameters:
    ///   - declaration: The keywords before the name of each dictionary.
    ///   - superclass: The expression for the superclass, whose key paths are included.
    private func writeKeyPaths(
        of name: String, as declaration: String, inheritedFrom superclass: String, to text: inout SourceWriter
    ) {
        func write(_ member: String, _ body: (inout SourceWriter) -> Void) {
            text.line()
            text.block("\(access.prefix)\(declaration) \(member): [AnyKeyPath: String] {", body)
        }
        write("attributeKeyPaths") {
            writeKeyPaths(of: name, inherits: "\(superclass).attributeKeyPaths", attributes, to: &$0)
        }
        if !relationships.isEmpty {
            write("relationshipKeyPaths") {
                writeKeyPaths(of: name, inherits: "\(superclass).relationshipKeyPaths", relationships, to: &$0)
            }
        }
        if plan.isDestination { write("optionalKeyPaths") { writeOptionalKeyPaths(of: name, to: &$0) } }
    }

    private func writeComment(_ reason: String, to text: inout SourceWriter) {
        text.line("// The entity \(SourceWriter.comment(plan.entity.name)): \(reason).")
    }

    private var entityLine: String {
        "The \(plan.entity.isAbstract ? "abstract " : "")entity `\(plan.entity.name)`."
    }

    private var entityName: String { StringLiteral.of(plan.entity.name) }

    private typealias NamedProperty = (property: String, name: String)

    private var attributes: [NamedProperty] {
        (plan.inherited + plan.list.properties).map { ($0.name, $0.attributeName) }
    }

    private var relationships: [NamedProperty] {
        (plan.inheritedRelationships + plan.relationships.relationships).map { ($0.name, $0.relationshipName) }
    }

    private func writeKeyPaths(
        of name: String, inherits: String, _ properties: [NamedProperty], to text: inout SourceWriter
    ) {
        let isPartial = !plan.manualAncestors.isEmpty
        if properties.isEmpty { return text.line(isPartial ? inherits : "[:]") }
        // The generator does not know the key paths of an ancestor whose class is written by hand. So the generated code asks
        // the superclass for these key paths.
        text.block(isPartial ? "let own: [AnyKeyPath: String] = [" : "[", closing: "]") { text in
            text.wrappedList(
                properties.map { "\\\(name).\(Identifier.escaped($0.property)): \(StringLiteral.of($0.name))," })
        }
        if isPartial { text.line("return \(inherits).merging(own) { $1 }") }
    }

    /// Writes the key paths that begin at an optional object, because the value of a to-one relationship is optional.
    private func writeOptionalKeyPaths(of name: String, to text: inout SourceWriter) {
        let properties = attributes + relationships
        if properties.isEmpty { return text.line("[:]") }
        text.block("[", closing: "]") { text in
            text.wrappedList(
                properties.map { "\\\(name)?.?.\(Identifier.escaped($0.property)): \(StringLiteral.of($0.name))," })
        }
    }

    private func writePropertyNames(to text: inout SourceWriter) {
        if plan.propertyNames.isEmpty { return text.line("return []") }
        text.block("return [", closing: "]") { text in
            text.wrappedList(plan.propertyNames.map { "\(StringLiteral.of($0))," })
        }
    }

    private func writeProperties(modifiers: String, to text: inout SourceWriter) {
        text.line()
        for property in plan.list.properties {
            PropertyWriter(property: property).write(to: &text, modifiers: modifiers)
        }
        for relationship in plan.relationships.relationships {
            RelationshipText(relationship: relationship).write(to: &text, modifiers: modifiers)
        }
        text.omissions(plan.list.omissions + plan.relationships.omissions)
    }
}

/// Writes a computed property of a managed object.
struct PropertyWriter {
    let property: PropertyPlan

    func write(to text: inout SourceWriter, modifiers: String) {
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

extension SourceWriter {
    /// Adds a comment for each property of the model that the code omits.
    mutating func omissions(_ omissions: [PropertyList.Omission]) {
        if !omissions.isEmpty { line() }
        for omissionReason in omissions {
            let name = Self.comment(omissionReason.propertyName)
            line("// `\(name)` has no property: \(Self.comment(omissionReason.reason)).")
        }
    }
}

/// Writes the property of a relationship.
struct RelationshipText {
    let relationship: RelationshipPlan

    func write(to text: inout SourceWriter, modifiers: String) {
        if relationship.name != relationship.relationshipName {
            text.documentation(["The relationship `\(relationship.relationshipName)`."])
        }
        let (index, destination) = (relationship.index, relationship.destination)
        let opening = "\(modifiers)var \(Identifier.escaped(relationship.name)): "
        switch relationship.kind {
        case .toMany:
            text.line("\(opening)RelatedObjects<\(destination)> { relatedObjects(at: \(index)) }")
        case .toOne:
            text.line(
                "\(opening)\(destination)? { get { relatedObject(at: \(index)) } set { setRelatedObject(newValue, at: \(index)) } }"
            )
        case .ordered:
            text.line(
                "\(opening)[\(destination)] { get { relatedList(at: \(index)) } set { setRelatedList(newValue, at: \(index)) } }"
            )
        }
    }
}
