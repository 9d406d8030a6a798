/// The members that `@StoredEntity` adds to a class.
///
/// The members name types through the layout of the superclass, `SuperLayout`. If the superclass has no layout, the compiler
/// reports this error once, and no further errors about the types.
///
/// An app can have a type or a property of any name. So the members name the library's types through aliases in `StoredLayout`.
/// The aliases also name the app's types, because a property can have the same name as a type. In an alias, the compiler looks
/// up only types.
struct EntityExpansion {
    let entity: EntitySource
    /// Writes lines whose errors the compiler reports at a part of the class.
    var places = PlacedLines(nil)

    var text: String {
        let access = AccessText.prefix(entity.accessLevel)
        // A subclass in another module also overrides these members.
        let overrideAccess = entity.accessLevel == "open" ? "open " : access
        var lines = [
            "\(overrideAccess)override class var entityName: \(Self.types).Name { \(DescriptionText.string(entity.name)) }",
            "\(overrideAccess)override class var attributeKeyPaths: \(Self.types).KeyPaths { StoredLayout.attributeKeyPaths(of: StoredLayout.LayoutClass.self) }",
            "\(overrideAccess)override class var relationshipKeyPaths: \(Self.types).KeyPaths { StoredLayout.relationshipKeyPaths(of: StoredLayout.LayoutClass.self) }",
            "\(overrideAccess)override class var optionalKeyPaths: \(Self.types).KeyPaths { StoredLayout.optionalKeyPaths(of: StoredLayout.LayoutClass.self) }",
            "\(overrideAccess)override class var declaredEntity: \(Self.types).Entity? { StoredLayout.LayoutChecks.entity(of: StoredLayout.LayoutDescription.self) }",
        ]
        lines += initialValues(overrideAccess)
        lines.append("\(access)nonisolated enum StoredLayout {")
        lines += layout(access)
        lines += CheckedType.aliases(for: entity.attributes, checks: true, places)
        lines += entity.relationships.map {
            "    \(TypeChecks.deprecation) private typealias destination_\($0.propertyName) = \($0.destination)"
        }
        lines += entity.relationships.flatMap(inverse)
        for kind in KeyPathKind.allCases { lines += keyPaths(access, kind) }
        lines += description
        // Check the superclass, not the class. If the superclass is unknown, a check of the class would fail, too, and add
        // an error.
        lines += TypeChecks.function(
            for: entity.attributes, areParts: false, places,
            places.lines(
                "        LayoutChecks", ".checkClass(LayoutParent.self)", at: entity.superclassOffset, skipping: 1))
        lines.append("}")
        lines += InitialValues.members(of: entity)
        return lines.joined(separator: "\n")
    }

    /// The members of a class with errors. These members keep the compiler from reporting further errors about other
    /// properties and about subclasses.
    var fallbackText: String {
        var faulty = entity
        var names: Set<String> = []
        faulty.attributes = entity.attributes.filter { names.insert($0.propertyName).inserted }
        faulty.relationships = entity.relationships.filter { names.insert($0.propertyName).inserted }
        let access = AccessText.prefix(entity.accessLevel)
        let expansion = EntityExpansion(entity: faulty)
        // The compiler expands no macro whose arguments have an error. The property is then a stored property without a value,
        // and the class would need an initializer.
        let seed = "_ seed: borrowing CoreDataSource.ManagedObjectSeed"
        let initializer =
            entity.hasRequiredInitializer ? [] : ["\(access)required init(\(seed)) { Swift.fatalError() }"]
        // The compiler also expands the accessors of properties that could not be read. The subscript returns a column for
        // them.
        var lines = [
            "@dynamicMemberLookup \(access)nonisolated enum StoredLayout {",
            "    \(access)static subscript(dynamicMember name: Swift.String) -> Swift.Int { 0 }",
        ]
        lines += expansion.layout(access)
        lines += CheckedType.aliases(for: faulty.attributes, checks: false, places)
        let initialValues = InitialValues.members(of: faulty, areSet: false)
        faulty.attributes = []
        faulty.relationships = []
        // A type in the class can hide the class, so name the superclass instead.
        faulty.className = "LayoutParent"
        for kind in KeyPathKind.allCases { lines += EntityExpansion(entity: faulty).keyPaths(access, kind) }
        return (lines + ["}"] + initialValues + initializer).joined(separator: "\n")
    }

    /// The types that the layout of `ManagedObject` provides.
    static let types = "StoredLayout.LayoutTypes"
    /// The object itself. The cast fails to compile if the class does not inherit from `ManagedObject`.
    static let object = "(self as \(types).Object)"

    /// A function that sets initial values, which are evaluated for each new object.
    private func initialValues(_ access: String) -> [String] {
        if InitialValues.members(of: entity).isEmpty { return [] }
        return [
            "\(access)override func setInitialValues() -> \(Self.types).Nothing {", "    super.setInitialValues()",
            "    \(InitialValues.typeName).setInitialValues(of: self)", "}",
        ]
    }

    /// The index of each property among the columns or relationships of the class. The number of the ancestors' columns is
    /// known when a container opens. The number of a composite's columns is known when the program is compiled.
    private func layout(_ access: String) -> [String] {
        var lines = [
            "    \(access)typealias LayoutParent = \(entity.writtenSuperclass)",
            "    \(access)typealias SuperLayout = LayoutParent.StoredLayout",
            "    \(access)typealias LayoutTypes = SuperLayout.LayoutTypes",
            "    typealias LayoutChecks = CoreDataSource.StoredTypes",
            "    typealias LayoutClass = \(ReservedMembers.escaped(entity.className))",
            "    \(access)static var depth: Swift.Int { SuperLayout.depth + 1 }",
            "    static func first(_ object: LayoutTypes.Object) -> Swift.Int { \(entity.isRoot ? "0" : "object.firstColumn(ofClassAt: depth)") }",
        ]
        var plain = 0
        var composites: [String] = []
        for attribute in entity.attributes {
            let column = (["\(plain)"] + composites.map { "\($0).columnCount" }).joined(separator: " + ")
            lines.append("    static var column_\(attribute.propertyName): Swift.Int { \(column) }")
            if attribute.form == .composite {
                composites.append(CheckedType.name(of: attribute))
            } else {
                plain += 1
            }
        }
        for (index, relationship) in entity.relationships.enumerated() {
            lines.append(
                "    static var relationship_\(relationship.propertyName): Swift.Int { SuperLayout.relationshipCount + \(index) }"
            )
        }
        let others = entity.otherRelationships?.elements.count ?? 0
        lines.append(
            "    \(access)static var relationshipCount: Swift.Int { SuperLayout.relationshipCount + \(entity.relationships.count + others) }"
        )
        return lines
    }

    enum KeyPathKind: String, CaseIterable { case attribute, relationship, optional }

    /// A function that returns key paths of the class or a subclass. A subclass has other key paths for the same properties.
    private func keyPaths(_ access: String, _ kind: KeyPathKind) -> [String] {
        let name = ReservedMembers.escaped(entity.className)
        // The parameter needs a name that differs from the class.
        let subclass = entity.className + "_"
        let attributes = entity.attributes.map { ($0.propertyName, $0.name, $0.isDeprecated) }
        let relationships = entity.relationships.map { ($0.propertyName, $0.name, $0.isDeprecated) }
        let properties =
            switch kind {
            case .attribute: attributes
            case .relationship: relationships
            case .optional: attributes + relationships
            }
        let root = kind == .optional ? "\\\(subclass)?.?" : "\\\(subclass)"
        let opening =
            "    \(access)static func \(kind)KeyPaths<\(subclass): \(name)>(of type: \(subclass).Type) -> LayoutTypes.KeyPaths {"
        let inherited = "SuperLayout.\(kind)KeyPaths(of: type)"
        if properties.isEmpty { return [opening, "        \(inherited)", "    }"] }
        // If the type of a property is unknown, the `as` prevents a further error about the key path of the property.
        func lines(areDeprecated: Bool) -> [String] {
            properties.filter { $0.2 == areDeprecated }.map { property, name, _ in
                "        paths[\(root).\(ReservedMembers.escaped(property)) as Swift.AnyKeyPath] = \(DescriptionText.string(name))"
            }
        }
        let deprecated = lines(areDeprecated: true)
        let list = "Layout\(kind.rawValue.prefix(1).uppercased() + kind.rawValue.dropFirst())Paths"
        let declaration =
            deprecated.isEmpty
            ? []
            : [
                "    enum \(list)<\(subclass): \(name)>: LayoutChecks.PathList {", "        \(TypeChecks.deprecation)",
                "        static func add(to paths: inout LayoutTypes.KeyPaths) {",
            ] + deprecated + ["        }", "    }"]
        return declaration + [opening, "        var paths = \(inherited)"] + lines(areDeprecated: false)
            + (deprecated.isEmpty ? [] : ["        LayoutChecks.add(\(list)<\(subclass)>.self, to: &paths)"])
            + ["        return paths", "    }"]
    }

    /// A function that returns the name of the inverse relationship, which is a property of another class. That class might
    /// lack the property, or the property might be deprecated. The compiler reports a missing property at the argument that
    /// names it, because the line of the expansion gets the argument's place.
    private func inverse(of relationship: RelationshipSource) -> [String] {
        guard let name = relationship.inverse else { return [] }
        let path = "\\destination_\(relationship.propertyName).\(ReservedMembers.escaped(name))"
        return [
            "    \(TypeChecks.deprecation)",
            "    static func inverse_\(relationship.propertyName)() -> LayoutTypes.Name {",
        ] + places.lines("        let inverse = LayoutChecks.inverse(", "\(path))", at: relationship.inverseOffset)
            + places.lines(
                "        return LayoutChecks", ".name(ofInverse: inverse) ?? \(DescriptionText.string(name))",
                at: relationship.inverseOffset, skipping: 1)
            + ["    }"]
    }

    private var description: [String] {
        let list = CheckedType.composites(of: entity.attributes).map { "\($0).self" }.joined(separator: ", ")
        let changes = descriptionChanges
        // The compiler warns of a `var` that is not changed.
        let keyword = changes.isEmpty ? "let" : "var"
        return [
            "    enum LayoutDescription: LayoutChecks.EntityLayout {", "    \(TypeChecks.deprecation)",
            "    static func entity() -> LayoutTypes.Entity {",
            "        \(keyword) entity = LayoutChecks.Entity(name: \(DescriptionText.string(entity.name)), className: \(DescriptionText.string(entity.className)), codeGeneration: .class)",
        ] + changes + [
            "        return LayoutTypes.Entity(LayoutClass.self, superclass: LayoutParent.self, entity, composites: [\(list)])",
            "    }", "    }",
        ]
    }

    /// The statements that add everything except the names to the description.
    private var descriptionChanges: [String] {
        var lines = entity.isAbstract ? ["        entity.isAbstract = true"] : []
        lines += entity.attributes.map {
            "        entity.attributes.append(\(DescriptionText.attribute($0)))"
        }
        lines += entity.relationships.flatMap { relationship in
            let property = relationship.propertyName
            return places.lines(
                "        let name_\(property) = LayoutChecks", ".entityName(of: destination_\(property).self)",
                at: relationship.typeOffset, skipping: 1)
                + ["        entity.relationships.append(\(DescriptionText.relationship(relationship)))"]
        }
        let lists = [
            ("attributes +=", entity.otherAttributes), ("relationships +=", entity.otherRelationships),
            ("fetchedProperties =", entity.fetchedProperties), ("indexes =", entity.indexes),
        ]
        for (assignment, list) in lists {
            if let list { lines.append("        entity.\(assignment) \(DescriptionText.list(list))") }
        }
        if !entity.uniquenessConstraints.isEmpty {
            let constraints = entity.uniquenessConstraints.map(DescriptionText.strings).joined(separator: ", ")
            lines.append("        entity.uniquenessConstraints = [\(constraints)]")
        }
        if let userInfo = DescriptionText.userInfo(entity.userInfo) {
            lines.append("        entity.userInfo = \(userInfo)")
        }
        if let modifier = entity.versionHashModifier {
            lines.append("        entity.versionHashModifier = \(DescriptionText.string(modifier))")
        }
        if let identifier = entity.renamingIdentifier {
            lines.append("        entity.renamingIdentifier = \(DescriptionText.string(identifier))")
        }
        return lines
    }
}

/// The access modifier of added members. Members of an `open` or `public` declaration get `public`, members of a
/// `package` declaration get `package`, and other members get no modifier.
enum AccessText {
    /// Returns the access level of a declaration, but at most the access level of each type around it. If a public type is
    /// inside a type that is not public, the compiler refuses public members in an extension of the public type.
    static func level(_ level: String?, in lexicalContext: [String]) -> String? {
        let ranks = ["open": 3, "public": 3, "package": 2]
        return lexicalContext.reduce(level) { lowest, text in
            guard let declaration = MacroExpansion.first(SwiftSource(text)), declaration.kind != .extension else {
                return lowest
            }
            let isLower = ranks[declaration.accessLevel ?? "", default: 1] < ranks[lowest ?? "", default: 1]
            return isLower ? declaration.accessLevel : lowest
        }
    }

    static func prefix(_ level: String?) -> String {
        switch level {
        case "open", "public": "public "
        case "package": "package "
        default: ""
        }
    }
}
