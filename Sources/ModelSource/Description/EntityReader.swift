internal import DeclarationRules

/// Maps a class or a struct to its description. The macros and `model-reset` both use this reader, so that both get the same
/// model.
package struct EntityReader {
    private let source: SwiftSource
    package private(set) var diagnostics: [SourceDiagnostic] = []

    package init(_ source: SwiftSource) {
        self.source = source
    }

    private mutating func reportError(_ offset: Int, _ message: String) {
        diagnostics.append(SourceDiagnostic(at: offset, message))
    }

    /// Reads the members of a class or a struct. Reports the first token that begins no member, because a property could be
    /// there.
    ///
    /// - Parameter owner: The name of the class or struct.
    private mutating func members(of body: Range<Int>, in owner: String) -> [Declaration] {
        var parser = DeclarationParser(source, in: body)
        let members = parser.declarations()
        if let stray = parser.strayTokens.first {
            let token = source.tokens[stray]
            reportError(
                token.start,
                "No declaration begins with \(source.text(token.start..<token.end)). Correct this line, or remove it.")
        }
        for member in members {
            checkForDoubles(member)
            if member.isType, member.name == owner || LayoutNames.modules.contains(member.name) {
                reportError(
                    member.offset,
                    "The name \(member.name) hides a type or a module that the macro names. Rename this inner type.")
            }
            guard member.kind != .variable, member.kind != .constant, parser.strayTokens.isEmpty,
                let use = ["Stored", "Related", "StoredPart"].lazy.compactMap(member.attribute).first
            else { continue }
            reportError(
                use.offset, "@\(use.name) belongs to a property. Remove the attribute, or write a var after it.")
        }
        return members
    }

    /// Refuses two uses of one macro on one declaration.
    private mutating func checkForDoubles(_ declaration: Declaration) {
        var names: Set<String> = []
        for use in declaration.attributes
        where ["StoredEntity", "StoredComposite", "Stored", "Related", "StoredPart"].contains(use.name) {
            if names.insert(use.name).inserted { continue }
            reportError(use.offset, "This declaration has @\(use.name) already. Remove one of the two.")
        }
    }

    /// Refuses a Swift attribute that isolates the class to a global actor. The source shows only the name of an attribute of
    /// the app, and not whether the attribute is a macro or a global actor. So a class with such an attribute must be
    /// `nonisolated`. If the attribute is a global actor, the compiler then reports an error.
    private mutating func checkIsolation(_ declaration: Declaration) {
        if let actor = declaration.attributes.first(where: { $0.name.hasSuffix("Actor") }) {
            reportError(
                actor.offset,
                "\(declaration.name) is isolated to @\(actor.name), but the library uses it on every actor. Remove @\(actor.name)."
            )
        } else if declaration.kind == .class, !declaration.modifiers.contains("nonisolated"),
            let other = declaration.attributes.first(where: { !Self.isOfCompiler($0.name) })
        {
            reportError(
                other.offset,
                "@\(other.name) can isolate \(declaration.name) to an actor, but the library uses it on every actor. Remove @\(other.name), or write nonisolated before class if @\(other.name) is not an actor."
            )
        }
    }

    /// Whether an attribute before a class, such as `@objc`, is one of Swift or of this library, and not one of an app.
    private static func isOfCompiler(_ attribute: String) -> Bool {
        attribute.hasPrefix("_") || knownAttributes.contains(attribute)
    }

    private static let knownAttributes: Set = [
        "StoredEntity", "available", "objc", "objcMembers", "nonobjc", "usableFromInline", "dynamicMemberLookup",
        "dynamicCallable", "preconcurrency", "export", "resultBuilder", "propertyWrapper",
    ]

    /// Returns the entity of a class with `@StoredEntity`. Returns nil with a diagnostic if the class is not a valid entity.
    package mutating func entity(_ declaration: Declaration) -> EntitySource? {
        guard let superclass = superclass(of: declaration) else { return nil }
        checkForDoubles(declaration)
        checkIsolation(declaration)
        var arguments = ArgumentReader(source, declaration.attribute("StoredEntity"))
        arguments.checkLabels()
        var entity = EntitySource(
            className: declaration.name, superclass: superclass.name, writtenSuperclass: superclass.writtenName,
            name: arguments.name("", mayHaveDots: true) ?? declaration.name,
            offset: declaration.offset, accessLevel: declaration.accessLevel)
        entity.superclassOffset = declaration.inherited.first.map { source.tokens[$0.lowerBound].start } ?? 0
        entity.isAbstract = arguments.flag("isAbstract") ?? false
        readLists(&arguments, &entity)
        entity.versionHashModifier = arguments.string("hashModifier")
        entity.renamingIdentifier = arguments.string("renamedFrom")
        entity.userInfo = arguments.strings("userInfo")
        let constraints = arguments.lists("unique")
        diagnostics += arguments.diagnostics
        if let body = declaration.body {
            readProperties(of: body, &entity)
        } else {
            reportError(declaration.offset, "\(declaration.name) has no braces. Write the properties between braces.")
        }
        entity.uniquenessConstraints = entity.attributes.filter(\.isUnique).map { [$0.name] } + constraints
        checkCalculatedAttributes(entity)
        checkNames(
            entity.attributes.map { ($0.name, $0.offset) } + entity.relationships.map { ($0.name, $0.offset) }, "entity"
        )
        return entity
    }

    /// Returns the superclass of an entity class. Returns nil with a diagnostic if the declaration is not a valid entity
    /// class.
    mutating func superclass(of declaration: Declaration) -> SourceType? {
        guard declaration.kind == .class else {
            reportError(
                declaration.offset,
                "@StoredEntity belongs to a class. Use @StoredComposite for a struct, and raw: for an enum.")
            return nil
        }
        guard !declaration.hasGenericParameters else {
            reportError(declaration.offset, "A generic class cannot be an entity. Remove the generic parameters.")
            return nil
        }
        guard hasAllowedName(declaration, "class", "StoredEntity") else { return nil }
        guard let superclass = declaration.inherited.first.flatMap({ SourceType(source, in: $0) }),
            !superclass.isOptional,
            superclass.element == nil
        else {
            reportError(
                declaration.offset,
                "\(declaration.name) inherits from no class. Make it a subclass of ManagedObject, or of the class of its parent entity."
            )
            return nil
        }
        return superclass
    }

    /// Returns whether the macro can be used on a type with this name. Reports a name that the code of the macro cannot
    /// use for this type, and a name that the macro needs for a type of its own.
    private mutating func hasAllowedName(_ declaration: Declaration, _ kind: String, _ macro: String) -> Bool {
        let name = declaration.name
        if !ReservedMembers.isIdentifier(name) {
            reportError(
                declaration.offset,
                "\(name) is not a name of letters, digits and underscores. Rename the \(kind). To keep the name in the model, write @\(macro)(\"\(name)\")."
            )
        } else if LayoutNames.modules.contains(name) {
            reportError(
                declaration.offset,
                "\(name) is also the name of a module, and the code of @\(macro) uses types of this module. Rename the \(kind). To keep the name in the model, write @\(macro)(\"\(name)\")."
            )
        } else if LayoutNames.isAdded(name) {
            reportError(
                declaration.offset,
                "@\(macro) adds a type with the name \(name) to the \(kind). Rename the \(kind). To keep the name in the model, write @\(macro)(\"\(name)\")."
            )
        } else {
            return true
        }
        return false
    }

    private func readLists(_ arguments: inout ArgumentReader, _ entity: inout EntitySource) {
        entity.indexes = arguments.literals("indexes")
        entity.otherAttributes = arguments.literals("attributes")
        entity.otherRelationships = arguments.literals("relationships")
        entity.fetchedProperties = arguments.literals("fetchedProperties")
        if entity.fetchedProperties?.elements.isEmpty == false {
            arguments.warn("fetchedProperties", .fetchedProperty, of: entity.name)
        }
    }

    private mutating func readProperties(of body: Range<Int>, _ entity: inout EntitySource) {
        let members = members(of: body, in: entity.className)
        checkInitializers(members, entity.className)
        entity.hasRequiredInitializer = members.contains {
            $0.kind == .initializer && $0.modifiers.contains("required")
        }
        for member in members where member.kind == .variable || member.kind == .constant {
            var reader = PropertyReader(source, member)
            switch reader.property() {
            case .attribute(let attribute): entity.attributes.append(attribute)
            case .relationship(let relationship): entity.relationships.append(relationship)
            case .unstored, .invalid: break
            }
            diagnostics += reader.diagnostics
        }
    }

    /// Reports an initializer such as the one that a class of SwiftData needs. Without this message, the compiler would
    /// only demand the initializer of `ManagedObject`.
    private mutating func checkInitializers(_ members: [Declaration], _ className: String) {
        let initializers = members.filter { $0.kind == .initializer }
        guard !initializers.contains(where: { $0.modifiers.contains("required") }),
            let initializer = initializers.first(where: { !$0.modifiers.contains("convenience") })
        else { return }
        reportError(
            initializer.offset,
            "A context makes the objects of \(className). Remove the init, call context.insert(\(className).self), and then set the properties."
        )
    }

    /// Returns the composite of a struct with `@StoredComposite`. Returns nil with a diagnostic if the struct is not a valid
    /// composite.
    package mutating func composite(_ declaration: Declaration) -> CompositeSource? {
        guard declaration.kind == .struct, let body = declaration.body else {
            reportError(declaration.offset, "@StoredComposite belongs to a struct. Use @StoredEntity for a class.")
            return nil
        }
        guard !declaration.hasGenericParameters else {
            reportError(declaration.offset, "A generic struct cannot be a composite. Remove the generic parameters.")
            return nil
        }
        guard hasAllowedName(declaration, "struct", "StoredComposite") else { return nil }
        var arguments = ArgumentReader(source, declaration.attribute("StoredComposite"))
        arguments.checkLabels()
        var composite = CompositeSource(
            typeName: declaration.name, name: arguments.name("", mayHaveDots: true) ?? declaration.name,
            offset: declaration.offset,
            accessLevel: declaration.accessLevel)
        diagnostics += arguments.diagnostics
        checkForDoubles(declaration)
        checkIsolation(declaration)
        for member in members(of: body, in: composite.typeName) {
            if member.kind == .initializer { composite.hasInitializer = true }
            guard member.kind == .variable || member.kind == .constant else { continue }
            var reader = PropertyReader(source, member, isOfComposite: true)
            if case .attribute(let attribute) = reader.property() { composite.attributes.append(attribute) }
            diagnostics += reader.diagnostics
        }
        for attribute in composite.attributes where attribute.isUnique || attribute.isIndexed {
            reportError(
                attribute.offset,
                "A composite has no index of its own. Name \"property.\(attribute.name)\" in the @StoredEntity of the class that uses the composite."
            )
        }
        if composite.attributes.isEmpty, !diagnostics.hasErrors {
            reportError(declaration.offset, "\(declaration.name) has no stored property. Add a stored property.")
        }
        checkNames(composite.attributes.map { ($0.name, $0.offset) }, "composite")
        return composite
    }

    /// Reports an attribute that is derived from other objects, but has an index or must be unique. Such an attribute has
    /// no column.
    private mutating func checkCalculatedAttributes(_ entity: EntitySource) {
        let relationships = Set(entity.relationships.map(\.name))
        for attribute in entity.attributes {
            let isUnique = entity.uniquenessConstraints.contains { $0.contains(attribute.name) }
            guard isUnique || attribute.isIndexed, let expression = attribute.derivationExpression,
                case .path(let path)? = DerivationExpression(expression), let first = path.first,
                relationships.contains(first) || path.contains(where: { $0.hasPrefix("@") })
            else { continue }
            reportError(
                attribute.offset,
                "\(attribute.name) is derived from other objects and has no column, so it can neither have an index nor be unique. Remove indexed: and the uniqueness, or remove derived: and set the attribute in code."
            )
        }
    }

    private mutating func checkNames(_ names: [(name: String, offset: Int)], _ owner: String) {
        var seen: Set<String> = []
        for (name, offset) in names where !seen.insert(name).inserted {
            reportError(
                offset,
                "Two properties of this \(owner) have the name \(name) in the model. Give one of the two another name.")
        }
    }
}
