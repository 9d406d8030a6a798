/// The code that `@StoredComposite` adds to a struct.
struct CompositeExpansion {
    let composite: CompositeSource
    /// Writes lines whose errors the compiler reports at a part of the struct.
    let places: PlacedLines

    /// The members of the struct: an enum in which names of types have the same meaning as in the struct, and an initializer
    /// for other modules.
    var members: String {
        (layout + InitialValues.members(of: composite) + initializer + writing).joined(separator: "\n")
    }

    /// The types and values that need the scope of the struct. An extension of a nested struct cannot see the types around the
    /// struct.
    private var layout: [String] {
        var lines = ["nonisolated enum StoredLayout {"]
        lines.append("    typealias LayoutChecks = CoreDataSource.StoredTypes")
        lines.append("    typealias LayoutClass = \(ReservedMembers.escaped(composite.typeName))")
        lines += CheckedType.aliases(for: composite.attributes, checks: true, places)
        lines += [
            "    enum LayoutDescription: LayoutChecks.CompositeLayout {", "    \(TypeChecks.deprecation)",
            "    static func attributes() -> [LayoutChecks.Attribute] {",
            "        \(composite.attributes.isEmpty ? "let" : "var") attributes: [LayoutChecks.Attribute] = []",
        ]
        lines += composite.attributes.map {
            "        attributes.append(\(DescriptionText.attribute($0)))"
        }
        lines += ["        return attributes", "    }"] + keyPaths + ["    }"]
        lines += TypeChecks.function(for: composite.attributes, areParts: true, places)
        lines += parts
        // Inside of the enum, `Self` would mean the enum, so the name of the struct replaces it.
        return [SwiftSource((lines + ["}"]).joined(separator: "\n")).replacing("Self", by: "LayoutClass")]
    }

    /// A function that returns the key paths that begin at the struct or at an optional struct.
    private var keyPaths: [String] {
        let names = composite.attributes.map { (ReservedMembers.escaped($0.propertyName), $0.name) }
        let paths = ["LayoutClass", "LayoutClass?.?"].flatMap { root in
            // If the type of a part is unknown, the `as` prevents a further error about the key path of the part.
            names.map { "        paths[\\\(root).\($0) as Swift.AnyKeyPath] = \(DescriptionText.string($1))" }
        }
        return [
            "    \(TypeChecks.deprecation)", "    static func partKeyPaths() -> LayoutChecks.KeyPaths {",
            "        \(paths.isEmpty ? "let" : "var") paths: LayoutChecks.KeyPaths = [:]",
        ] + paths + ["        return paths", "    }"]
    }

    /// An initializer for other modules. Swift already adds one for the struct's own module.
    private var initializer: [String] {
        let access = AccessText.prefix(composite.accessLevel)
        guard !access.isEmpty, !composite.hasInitializer else { return [] }
        let parameters = composite.attributes.map { attribute in
            let name = ReservedMembers.escaped(attribute.propertyName)
            let type = attribute.writtenTypeName + (attribute.hasOptionalProperty ? "? = nil" : "")
            return "\(name): \(type)"
        }
        let opening = "\(access)init(\(parameters.joined(separator: ", "))) {"
        let names = composite.attributes.map { ReservedMembers.escaped($0.propertyName) }
        if isDeprecated {
            let arguments = names.map { "\($0): \($0)" }.joined(separator: ", ")
            return [
                opening, "    self = StoredLayout.LayoutChecks.value(of: StoredLayout.LayoutParts(\(arguments)))", "}",
                TypeChecks.deprecation, "private init(_ parts: StoredLayout.LayoutParts) {",
            ] + names.map { "    self.\($0) = parts.\($0)" } + ["}"]
        }
        return [opening] + names.map { "    self.\($0) = \($0)" } + ["}"]
    }

    /// Whether a part of the struct is deprecated. The members that name such a part are then deprecated, too. They are called
    /// only through protocols, so that the compiler does not warn of the calls.
    private var isDeprecated: Bool { composite.attributes.contains(where: \.isDeprecated) }
    private var deprecation: [String] { isDeprecated ? ["    \(TypeChecks.deprecation)"] : [] }

    /// A struct with the arguments of the initializer for other modules. A deprecated initializer makes the composite from
    /// this struct.
    private var parts: [String] {
        guard isDeprecated, !AccessText.prefix(composite.accessLevel).isEmpty, !composite.hasInitializer else {
            return []
        }
        return ["    struct LayoutParts: LayoutChecks.CompositeParts {"]
            + composite.attributes.map { attribute in
                let type = attribute.writtenTypeName + (attribute.hasOptionalProperty ? "?" : "")
                return "        let \(ReservedMembers.escaped(attribute.propertyName)): \(type)"
            } + [
                "        \(TypeChecks.deprecation)", "        func value() -> LayoutClass { LayoutClass(self) }",
                "    }",
            ]
    }

    /// - Parameter type: The struct, with the names of its enclosing types.
    func conformance(of type: String) -> String {
        let access = AccessText.prefix(composite.accessLevel)
        var lines = [
            "nonisolated extension \(type): CoreDataSource.StoredCompositeValue {",
            "    \(access)static var compositeName: Swift.String { \(DescriptionText.string(composite.name)) }",
            "    \(access)static var columnCount: Swift.Int { \(offset(of: composite.attributes.count)) }",
        ]
        lines += reading(access)
        lines += absence(access)
        lines += initialValues(access)
        lines += description(access)
        return (lines + ["}"]).joined(separator: "\n")
    }

    private static func parameters(after object: String) -> String {
        "\(object): CoreDataSource.ManagedObject, at column: Swift.Int"
    }

    /// Returns an expression for the number of columns before an attribute.
    private func offset(of index: Int) -> String {
        let attributes = composite.attributes.prefix(index)
        let plain = attributes.count { $0.form != .composite }
        return
            (["\(plain)"]
            + attributes.filter { $0.form == .composite }.map { "\(CheckedType.name(of: $0)).columnCount" }).joined(
                separator: " + ")
    }

    private func column(_ index: Int) -> String { index == 0 ? "column" : "column + \(offset(of: index))" }

    private func reading(_ access: String) -> [String] {
        var lines = deprecation + ["    \(access)init(\(Self.parameters(after: "reading object"))) {"]
        for (index, attribute) in composite.attributes.enumerated() {
            var access = AttributeAccess(attribute: attribute, type: CheckedType.name(of: attribute))
            access.initialValue = InitialValues.expression(for: attribute)
            let reading = access.reading("object", column(index))
            lines.append("        self.\(ReservedMembers.escaped(attribute.propertyName)) = \(reading)")
        }
        return lines + ["    }"]
    }

    private func absence(_ access: String) -> [String] {
        var lines = ["    \(access)static func isAbsent(\(Self.parameters(after: "from object"))) -> Swift.Bool {"]
        for (index, attribute) in composite.attributes.enumerated() {
            let type = CheckedType.name(of: attribute)
            switch attribute.form {
            case .composite:
                lines.append("        guard \(type).isAbsent(from: object, at: \(column(index))) else { return false }")
            default: lines.append("        guard object.isNil(at: \(column(index))) else { return false }")
            }
        }
        return lines + ["        return true", "    }"]
    }

    /// The function that writes a value. The function has a parameter of the struct's type, so the function is in the struct
    /// itself and not in an extension. If the struct is nested in a type that is not public, the compiler refuses such a public
    /// function in an extension.
    private var writing: [String] {
        let access = AccessText.prefix(composite.accessLevel)
        var lines = deprecation
        lines += [
            "nonisolated \(access)static func write(_ value: Self?, \(Self.parameters(after: "to object"))) {"
        ]
        for (index, attribute) in composite.attributes.enumerated() where attribute.derivationExpression == nil {
            let value = "value?.\(ReservedMembers.escaped(attribute.propertyName))"
            let access = AttributeAccess(attribute: attribute, type: CheckedType.name(of: attribute))
            lines.append("    \(access.writing(value, "object", column(index)))")
        }
        return lines + ["}"]
    }

    /// A function that sets initial values, which are evaluated for each new object. Nested structs are included.
    private func initialValues(_ access: String) -> [String] {
        let lines = composite.attributes.enumerated().compactMap { index, attribute -> String? in
            let attributeAccess = AttributeAccess(attribute: attribute, type: CheckedType.name(of: attribute))
            if attribute.initialValue != nil {
                let value = InitialValues.expression(for: attribute)
                return "        \(attributeAccess.writing(value, "object", column(index)))"
            }
            guard attribute.form == .composite, !attribute.hasOptionalProperty else { return nil }
            return "        \(attributeAccess.type).setInitialValues(of: object, at: \(column(index)))"
        }
        if lines.isEmpty { return [] }
        let opening = "    \(access)static func setInitialValues(\(Self.parameters(after: "of object"))) {"
        return [opening] + lines + ["    }"]
    }

    private func description(_ access: String) -> [String] {
        let list = CheckedType.composites(of: composite.attributes).map { "\($0).self" }.joined(separator: ", ")
        return [
            "    \(access)static var parts: [any CoreDataSource.StoredCompositeValue.Type] { [\(list)] }",
            "    \(access)static func attributes() -> [CoreDataSource.AttributeDescription] { StoredLayout.LayoutChecks.attributes(of: StoredLayout.LayoutDescription.self) }",
            "    \(access)static var partKeyPaths: [Swift.AnyKeyPath: Swift.String] { StoredLayout.LayoutChecks.partKeyPaths(of: StoredLayout.LayoutDescription.self) }",
        ]
    }
}

/// Writes the code that reads and writes the columns of an attribute.
struct AttributeAccess {
    let attribute: AttributeSource
    /// The name of the property's type in the expansion.
    let type: String
    /// The expression for the initial value; nil to use the expression of a class's accessor.
    var initialValue: String?

    func reading(_ object: String, _ column: String) -> String {
        let initial =
            attribute.hasOptionalProperty
            ? "" : " ?? \(initialValue ?? InitialValues.accessorExpression(for: attribute))"
        return switch attribute.form {
        case .plain where attribute.derivationExpression != nil: "\(object).derivedAttribute(at: \(column))"
        case .plain, .raw: "\(object).attribute(at: \(column))"
        case .bytes: "(\(object).attribute(at: \(column)) as (\(type))?)\(initial)"
        case .codable: "(\(object).transformable(at: \(column)) as (\(type))?)\(initial)"
        case .composite where attribute.hasOptionalProperty: "\(type).read(from: \(object), at: \(column))"
        case .composite: "StoredLayout.LayoutChecks.value(\(type).self, from: \(object), at: \(column))"
        }
    }

    func writing(_ value: String, _ object: String, _ column: String) -> String {
        switch attribute.form {
        case .codable: "\(object).setTransformable(\(value) as (\(type))?, at: \(column))"
        case .composite:
            "\(object).editTogether { StoredLayout.LayoutChecks.write(\(value) as (\(type))?, to: \(object), at: \(column)) }"
        default: "\(object).setAttribute(\(value), at: \(column))"
        }
    }
}
