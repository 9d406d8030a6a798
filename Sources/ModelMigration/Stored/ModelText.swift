package import ManagedModel

extension ManagedObjectModel {
    /// The string that a store keeps as its copy of the model. A later version of the app reads the string to plan a migration
    /// of the rows.
    ///
    /// The string contains the canonical form, and data that only a migration needs: the renaming identifiers, the composites
    /// as declared, the transient relationships, the order of the entities, and the name of the configuration. The order
    /// determines the indexes of the entities. The first line contains the hash of the other lines.
    package var storedText: String {
        var body = configurationName.map { "configuration \($0.quotedWord)\n" } ?? ""
        for composite in composites {
            body += "composite \(composite.name.quotedWord)\n"
            body += composite.attributes.compactMap(\.storedLine).joined()
        }
        let lookup = ModelLookup(self)
        for entity in entities { body += entity.storedLines(lookup) }
        return ManagedObjectModel.storedHeader(of: body) + "\n" + body
    }

    static func storedHeader(of body: String) -> String {
        "stored model schema \(schemaFormat) hash \(ModelHash(hashing: body))"
    }
}

extension EntityDescription {
    fileprivate func storedLines(_ lookup: ModelLookup) -> String {
        var lines = [
            "entity \((["\(name.quotedWord)"] + renamingIdentifier.words(after: "from")).joined(separator: " "))"
        ]
        if let parentName { lines.append("  parent \(parentName.quotedWord)") }
        if isAbstract { lines.append("  abstract") }
        if let versionHashModifier { lines.append("  modifier \(versionHashModifier.quotedWord)") }
        let unique = EntityShape(of: self, in: lookup).uniquenessConstraints
        return lines.map { $0 + "\n" }.joined() + attributes.compactMap(\.storedLine).joined()
            + relationships.map(\.storedLine).joined()
            + unique.map { "  unique \($0.map(\.quotedWord).joined(separator: " "))\n" }.joined()
    }
}

extension AttributeDescription {
    /// The line for the attribute; nil for a transient attribute, because no store contains it.
    fileprivate var storedLine: String? {
        guard !isTransient else { return nil }
        let shape = AttributeShape(
            path: [name], type: type, isOptional: isOptional, derivationExpression: derivationExpression,
            versionHashModifiers: [versionHashModifier])
        let extras = compositeName.words(after: "composite") + renamingIdentifier.words(after: "from")
        return "  attribute \(shape.canonicalLine(with: extras))\n"
    }
}

extension RelationshipDescription {
    fileprivate var storedLine: String {
        let extras = (isTransient ? ["transient"] : []) + renamingIdentifier.words(after: "from")
        return "  relationship \(RelationshipShape(self).canonicalLine(with: extras))\n"
    }
}

extension String? {
    fileprivate func words(after word: String) -> [String] {
        map { [word, $0.quotedWord] } ?? []
    }
}

extension ManagedObjectModel {
    /// Reads a model from its ``canonicalForm``, to find the changes since the form was written. Returns nil for a form
    /// that another release wrote.
    ///
    /// The form contains leaves instead of composites. The model therefore has an attribute for each leaf, whose name is the
    /// whole path. Compare such a model only with models that this initializer has made.
    package init?(canonicalForm: String) {
        let lines = canonicalForm.utf8.split(separator: UInt8(ascii: "\n"))
        guard let model = StoredModelReader.model(lines.dropFirst()) else { return nil }
        self = model
    }

    /// Reads a model from its ``storedText``. Returns nil if the string is damaged, too large or of another release, or if
    /// the model is invalid. All of this is checked, because any program can write to the store.
    ///
    /// The model has no indexes, default values, delete rules, classes or transient attributes, because ``storedText``
    /// contains none of these.
    package init?(storedText: String) {
        guard storedText.utf8.count <= ModelLimits.storedModelSize else { return nil }
        let parts = storedText.utf8.split(separator: UInt8(ascii: "\n"), maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, let body = String(parts[1]), let head = String(parts[0]),
            head == ManagedObjectModel.storedHeader(of: body),
            let model = StoredModelReader.model(body.utf8.split(separator: UInt8(ascii: "\n"))[...]),
            model.entities.count <= ModelLimits.storedEntities
        else { return nil }
        do { try model.validateShape() } catch { return nil }
        self = model
    }
}

/// Reads the lines of a model's canonical form or stored string.
struct StoredModelReader {
    private var entities: [EntityDescription] = []
    private var composites: [CompositeDescription] = []
    private var configurationName: String?

    static func model(_ lines: ArraySlice<Substring.UTF8View>) -> ManagedObjectModel? {
        var reader = StoredModelReader()
        for line in lines {
            guard let text = String(line), var words = WordParser(text), reader.read(&words), words.isAtEnd else {
                return nil
            }
        }
        var model = ManagedObjectModel(name: "", entities: [], composites: reader.composites)
        // Keep the order, because rows store the indexes of entities.
        model.entities = reader.entities
        model.configurationName = reader.configurationName
        return model
    }

    private mutating func read(_ words: inout WordParser) -> Bool {
        guard let kind = words.consumeWord() else { return false }
        switch kind {
        case "configuration" where entities.isEmpty && composites.isEmpty && configurationName == nil:
            guard let name = words.consumeName() else { return false }
            configurationName = name
        case "entity":
            guard let name = words.consumeName() else { return false }
            if words.consume("schema"), words.consumeWord() == nil { return false }
            entities.append(EntityDescription(name: name, renamingIdentifier: words.consumeName(after: "from")))
        case "composite":
            guard entities.isEmpty, let name = words.consumeName() else { return false }
            composites.append(CompositeDescription(name: name, attributes: []))
        case "attribute" where entities.isEmpty:
            guard let last = composites.indices.last, let attribute = Self.attribute(&words) else { return false }
            composites[last].attributes.append(attribute)
        default:
            guard let last = entities.indices.last else { return false }
            return Self.read(kind, &words, into: &entities[last])
        }
        return true
    }

    private static func read(_ kind: String, _ words: inout WordParser, into entity: inout EntityDescription) -> Bool {
        switch kind {
        case "parent":
            entity.parentName = words.consumeName()
            // Skip the parent's hash, which follows the parent's name in the canonical form.
            _ = words.consumeWord()
            return entity.parentName != nil
        case "abstract":
            entity.isAbstract = true
        case "modifier":
            entity.versionHashModifier = words.consumeName()
        case "attribute":
            guard let attribute = attribute(&words) else { return false }
            entity.attributes.append(attribute)
        case "relationship":
            guard let relationship = relationship(&words) else { return false }
            entity.relationships.append(relationship)
        case "unique":
            entity.uniquenessConstraints.append(words.consumeNames())
        default:
            return false
        }
        return true
    }

    private static func attribute(_ words: inout WordParser) -> AttributeDescription? {
        let path = words.consumeNames().joined(separator: ".")
        var typeWords: [String] = []
        var isOptional: Bool?
        while isOptional == nil, let word = words.consumeWord() {
            switch word {
            case "optional": isOptional = true
            case "required": isOptional = false
            default: typeWords.append(word)
            }
        }
        guard let isOptional, let type = AttributeType(rawValue: typeWords.joined(separator: " ")) else { return nil }
        var attribute = AttributeDescription(name: path, type: type, isOptional: isOptional)
        attribute.derivationExpression = words.consumeName(after: "derived")
        attribute.compositeName = words.consumeName(after: "composite")
        attribute.renamingIdentifier = words.consumeName(after: "from")
        if words.consume("modifier") { attribute.versionHashModifier = modifiers(&words) }
        return attribute
    }

    /// Returns the modifiers along the path of a leaf.
    private static func modifiers(_ words: inout WordParser) -> String {
        var modifiers: [String] = []
        while !words.isAtEnd {
            modifiers.append(words.consumeName() ?? words.consumeWord() ?? "none")
        }
        return modifiers.joined(separator: " ")
    }

    private static func relationship(_ words: inout WordParser) -> RelationshipDescription? {
        guard let name = words.consumeName(), words.consume("to"), let arity = words.consumeWord(),
            let destination = words.consumeName()
        else { return nil }
        var relationship = RelationshipDescription(
            name: name, destinationName: destination, isToMany: arity == "many")
        relationship.inverseName = words.consumeName(after: "inverse")
        relationship.isOrdered = words.consume("ordered")
        relationship.isOptional = words.consume("optional")
        guard relationship.isOptional || words.consume("required") else { return nil }
        if words.consume("count") {
            guard let minimum = words.consumeWord().flatMap({ Int($0) }),
                let maximum = words.consumeWord().flatMap({ Int($0) })
            else { return nil }
            relationship.minimumCount = minimum
            relationship.maximumCount = maximum
        }
        relationship.isTransient = words.consume("transient")
        relationship.renamingIdentifier = words.consumeName(after: "from")
        relationship.versionHashModifier = words.consumeName(after: "modifier")
        return relationship
    }
}
