internal import DeclarationRules

/// Reads the settings of an attribute, and checks whether they fit the attribute's type.
struct AttributeRules {
    private let source: SwiftSource
    private let declaration: Declaration
    private let typeOffset: Int

    init(_ source: SwiftSource, _ declaration: Declaration, _ typeOffset: Int) {
        self.source = source
        self.declaration = declaration
        self.typeOffset = typeOffset
    }

    func read(_ found: inout AttributeSource, _ arguments: inout ArgumentReader) {
        found.isTransient = arguments.flag("isTransient") ?? false
        found.isUnique = arguments.flag("unique") ?? false
        found.isIndexed = arguments.flag("indexed") ?? false
        found.allowsExternalStorage = arguments.flag("allowsExternalStorage") ?? false
        found.derivationExpression = arguments.string("derived")
        found.valueTransformerName = arguments.string("transformer")
        found.customClassName = arguments.string("className") ?? (found.form == .codable ? found.typeName : nil)
        found.preservesValueInHistoryOnDeletion = arguments.flag("isPreservedAfterDeletion") ?? false
        found.allowsCloudEncryption = arguments.flag("isCloudEncrypted") ?? false
        found.isIndexedBySpotlight = arguments.flag("isIndexedBySpotlight") ?? false
        found.versionHashModifier = arguments.string("hashModifier")
        found.renamingIdentifier = arguments.string("renamedFrom")
        found.userInfo = arguments.strings("userInfo")
        if found.form == .raw || found.typeName == "Int" && found.form == .plain {
            found.userInfo["swiftType"] = found.userInfo["swiftType"] ?? found.typeName
        }
        readBounds(&found, &arguments)
        readDefault(&found, &arguments)
        check(found, &arguments)
        warn(of: found, &arguments)
    }

    // MARK: Bounds

    private func readBounds(_ found: inout AttributeSource, _ arguments: inout ArgumentReader) {
        found.pattern = arguments.string("matching")
        if found.pattern != nil, found.type != .string {
            arguments.reportError("matching", "Only strings can have a pattern. Remove matching:.")
        } else if let pattern = found.pattern,
            let problem = PatternRule.problem(aboutPattern: pattern)
        {
            arguments.reportError("matching", "The pattern \(pattern) of \(found.name) \(problem)")
        }
        let label = arguments.has("length") ? "length" : "in"
        guard let range = arguments.range(label) else { return }
        if label == "length" {
            guard found.type == .string else {
                return arguments.reportError(
                    "length",
                    "Only strings have a length. For the least and the greatest value, write in: instead of length:.")
            }
            let bounds = [range.lower, range.upper].map { $0.flatMap { ValueSource(bound: $0, of: .integer64) } }
            (found.minimum, found.maximum) = (bounds[0], bounds[1])
        } else {
            (found.minimum, found.maximum) = (
                range.lower.flatMap { ValueSource(bound: $0, of: found.type) },
                range.upper.flatMap { ValueSource(bound: $0, of: found.type) }
            )
        }
        guard range.lower == nil || found.minimum != nil, range.upper == nil || found.maximum != nil else {
            return arguments.reportError(
                label,
                found.type == .string
                    ? "A string has no least or greatest value, only a length. Use length: with whole numbers, as in length: 1...80."
                    : "The bounds must be literals of the type \(found.typeName). Only numbers and dates can have bounds."
            )
        }
        if let minimum = found.minimum, let maximum = found.maximum, minimum.isGreater(than: maximum) {
            arguments.reportError(label, ArgumentReader.emptyRange)
        }
    }

    // MARK: Default values

    private func readDefault(_ found: inout AttributeSource, _ arguments: inout ArgumentReader) {
        if let value = arguments.expression("default") {
            guard let value = ValueSource(value, of: found.type) else {
                return arguments.reportError(
                    "default",
                    "This is not a \(found.form == .raw ? "raw value" : "value") of the attribute, which is stored as \(found.type.rawValue). Write a literal of that type."
                )
            }
            found.defaultValue = .value(value)
            guard let range = declaration.initialValue else { return }
            return arguments.reportError(
                "default",
                "\(found.propertyName) has two default values. Remove default:, or the value \(source.text(ofTokens: range))."
            )
        }
        guard let range = declaration.initialValue, !range.isEmpty else { return }
        let offset = source.tokens[range.lowerBound].start
        let expression = ExpressionParser.expression(source, in: range)
        switch (found.form, expression) {
        case (_, SourceExpression.none?):
            guard !found.hasOptionalProperty else { return }
            arguments.diagnostics.append(
                SourceDiagnostic(
                    at: offset,
                    "\(found.propertyName) is not optional and cannot be nil. Write a value of \(found.typeName)."
                ))
        case (.raw, .member(let type, let name)?):
            found.defaultValue = .enumCase(type: type ?? found.typeName, name: name)
        case (.plain, let expression?):
            if let value = ValueSource(expression, of: found.type) {
                found.defaultValue = .value(value)
            } else if expression.isLiteral {
                arguments.diagnostics.append(
                    SourceDiagnostic(
                        at: offset,
                        "\(source.text(ofTokens: range)) is not a value of \(found.typeName). Write a value that the type can hold."
                    ))
            } else {
                found.initialValue = source.text(ofTokens: range)
            }
        default: found.initialValue = source.text(ofTokens: range)
        }
    }

    // MARK: Rules

    private func check(_ found: AttributeSource, _ arguments: inout ArgumentReader) {
        if found.form == .raw, !found.isOptional, found.defaultValue == nil, found.initialValue == nil {
            arguments.diagnostics.append(
                SourceDiagnostic(
                    at: typeOffset,
                    "\(found.propertyName) needs a default value, for stored values that are not a case. Add a default value, or make the property optional."
                ))
        }
        if found.form == .codable || found.form == .bytes, !found.hasOptionalProperty, found.initialValue == nil {
            arguments.diagnostics.append(
                SourceDiagnostic(
                    at: typeOffset,
                    "\(found.propertyName) needs an initial value, for stored values that cannot be decoded. Add an initial value, or make the property optional."
                ))
        }
        if found.form == .composite, found.isUnique || found.isIndexed {
            arguments.reportError(
                found.isUnique ? "unique" : "indexed",
                "A composite has several columns. Name each column in @StoredEntity instead, as in \"\(found.name).part\"."
            )
        }
        if found.isTransient, found.isUnique || found.isIndexed {
            arguments.reportError(
                "isTransient", "A transient attribute has no column. Remove unique: and indexed:, or isTransient:.")
        }
        if found.derivationExpression != nil, found.defaultValue != nil || found.initialValue != nil {
            arguments.reportError(
                "derived", "A derived attribute has no default value. Remove the derivation or the default value.")
        }
        if found.derivationExpression != nil, found.form != .plain {
            arguments.reportError(
                "derived",
                "A derived attribute must have a plain type, such as Int or String. Remove the argument that chooses another way to store it."
            )
        }
        if let expression = found.derivationExpression, DerivationExpression(expression) == nil {
            arguments.reportError(
                "derived", "\(found.name) is derived from \(expression), \(DerivationExpression.problem).")
        }
    }

    private func warn(of found: AttributeSource, _ arguments: inout ArgumentReader) {
        if found.valueTransformerName != nil { arguments.warn("transformer", .valueTransformer, of: found.name) }
        if found.preservesValueInHistoryOnDeletion {
            arguments.warn("isPreservedAfterDeletion", .preservedValue, of: found.name)
        }
        if found.allowsCloudEncryption { arguments.warn("isCloudEncrypted", .cloudEncryption, of: found.name) }
        if found.isIndexedBySpotlight { arguments.warn("isIndexedBySpotlight", .spotlight, of: found.name) }
    }
}

extension SourceExpression {
    /// Whether the expression is a plain literal, and not a call.
    fileprivate var isLiteral: Bool {
        switch self {
        case .number, .string, .boolean, .list, .dictionary: true
        default: false
        }
    }
}
