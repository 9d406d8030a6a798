internal import ManagedModel

/// Reads a model back from its canonical form, to say what changed since it was written.
///
/// The form knows leaves and no composites, so the model has an attribute per leaf, named after its whole path. Only models
/// that were both read here can be compared.
enum CanonicalFormReader {
    /// Nil for a form of another release.
    static func model(_ form: String) -> ManagedObjectModel? {
        var entities: [EntityDescription] = []
        for line in form.utf8.split(separator: UInt8(ascii: "\n")).dropFirst() {
            guard var words = CanonicalWords(String(Substring(line))), let kind = words.takeWord() else { return nil }
            if kind == "entity" {
                guard let name = words.takeName() else { return nil }
                entities.append(EntityDescription(name: name))
            } else {
                guard let last = entities.indices.last, read(kind, &words, into: &entities[last]), words.isAtEnd else {
                    return nil
                }
            }
        }
        return ManagedObjectModel(name: "", entities: entities)
    }

    private static func read(_ kind: String, _ words: inout CanonicalWords, into entity: inout EntityDescription)
        -> Bool
    {
        switch kind {
        case "parent":
            entity.parentName = words.takeName()
            return words.takeWord() != nil
        case "abstract":
            entity.isAbstract = true
        case "modifier":
            entity.versionHashModifier = words.takeName()
        case "attribute":
            guard let attribute = attribute(&words) else { return false }
            entity.attributes.append(attribute)
        case "relationship":
            guard let relationship = relationship(&words) else { return false }
            entity.relationships.append(relationship)
        case "unique":
            entity.uniquenessConstraints.append(words.takeNames())
        default:
            return false
        }
        return true
    }

    private static func attribute(_ words: inout CanonicalWords) -> AttributeDescription? {
        let path = words.takeNames().joined(separator: ".")
        var typeWords: [String] = []
        var isOptional: Bool?
        while isOptional == nil, let word = words.takeWord() {
            switch word {
            case "optional": isOptional = true
            case "required": isOptional = false
            default: typeWords.append(word)
            }
        }
        guard let isOptional, let type = AttributeType(rawValue: typeWords.joined(separator: " ")) else { return nil }
        var attribute = AttributeDescription(name: path, type: type, isOptional: isOptional)
        if words.take("derived") { attribute.derivationExpression = words.takeName() }
        if words.take("modifier") { attribute.versionHashModifier = modifiers(&words) }
        return attribute
    }

    /// Those along the path of a leaf.
    private static func modifiers(_ words: inout CanonicalWords) -> String {
        var modifiers: [String] = []
        while !words.isAtEnd {
            modifiers.append(words.takeName() ?? words.takeWord() ?? "none")
        }
        return modifiers.joined(separator: " ")
    }

    private static func relationship(_ words: inout CanonicalWords) -> RelationshipDescription? {
        guard let name = words.takeName(), words.take("to"), let arity = words.takeWord(),
            let destination = words.takeName()
        else { return nil }
        var relationship = RelationshipDescription(
            name: name, destinationName: destination, isToMany: arity == "many")
        if words.take("inverse") { relationship.inverseName = words.takeName() }
        relationship.isOrdered = words.take("ordered")
        relationship.isOptional = words.take("optional")
        guard relationship.isOptional || words.take("required") else { return nil }
        if words.take("count") {
            guard let minimum = words.takeWord().flatMap({ Int($0) }),
                let maximum = words.takeWord().flatMap({ Int($0) })
            else { return nil }
            relationship.minimumCount = minimum
            relationship.maximumCount = maximum
        }
        if words.take("modifier") { relationship.versionHashModifier = words.takeName() }
        return relationship
    }
}
