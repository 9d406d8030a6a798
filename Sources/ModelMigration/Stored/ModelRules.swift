internal import Foundation
package import ManagedModel

/// The rules and the default values of a model, as lines beside its canonical form. The canonical form does not contain
/// these lines, because rules and default values do not affect the store.
///
///     rules
///     rule "Contact" "age" minimum "0"
///     rule "Contact" "group" deletion "Cascade"
package struct ModelRules: Sendable, Hashable {
    private enum Kind: String, CaseIterable {
        case standard = "default"
        case minimum, maximum, pattern, deletion

        var words: String {
            switch self {
            case .standard: "default value"
            case .deletion: "delete rule"
            case .minimum, .maximum, .pattern: rawValue
            }
        }

        /// The words for a property that has no rule of this kind.
        var absence: String { self == .deletion ? DeleteRule.nullify.rawValue : "none" }
    }

    /// Whether the rules were recorded. Lock files of earlier releases contain no rules.
    private var isKnown = false
    /// The rules, by the entity's name and the property's path.
    private var rules: [[String]: [Kind: String]] = [:]

    package init() {}

    package init(of model: ManagedObjectModel) {
        isKnown = true
        let side = MigrationSide(model)
        for entity in model.entities {
            for leaf in side.ownLeaves(of: entity) {
                let key = [entity.name] + leaf.named.name
                rules[key, default: [:]][.standard] = leaf.attribute.defaultValue?.words
                rules[key, default: [:]][.minimum] = leaf.attribute.minimum?.words
                rules[key, default: [:]][.maximum] = leaf.attribute.maximum?.words
                rules[key, default: [:]][.pattern] = leaf.attribute.pattern?.quotedWord
            }
            for relationship in entity.relationships where relationship.deleteRule != .nullify {
                rules[[entity.name, relationship.name], default: [:]][.deletion] = relationship.deleteRule.rawValue
            }
        }
        rules = rules.filter { !$0.value.isEmpty }
    }

    package var lines: [String] {
        guard isKnown else { return [] }
        return ["rules"]
            + rules.keys.sorted { $0.precedes($1) }.flatMap { key in
                Kind.allCases.compactMap { kind in
                    rules[key]?[kind].map { value in
                        "rule \(key[0].quotedWord) \(Array(key.dropFirst()).quotedPath) \(kind.rawValue) \(value.quotedWord)"
                    }
                }
            }
    }

    package static func recognizes(_ line: some StringProtocol) -> Bool { line == "rules" || line.hasPrefix("rule ") }

    /// Reads one line. Returns false if the line cannot be read.
    package mutating func append(_ line: String) -> Bool {
        isKnown = true
        if line == "rules" { return true }
        guard var words = WordParser(line), words.consume("rule") else { return false }
        let key = words.consumeNames()
        guard key.count > 1, let kind = words.consumeWord().flatMap({ Kind(rawValue: $0) }),
            let value = words.consumeName(),
            words.isAtEnd
        else { return false }
        rules[key, default: [:]][kind] = value
        return true
    }

    /// For all properties that both models have, returns what has changed, for example
    /// `Contact.group: delete rule Nullify -> Cascade`. These changes reset no store.
    ///
    /// - Parameters:
    ///   - other: The rules of the newer model.
    ///   - models: Both models. If one of the models is nil, the properties that both models have are unknown, and the
    ///     result is empty.
    package func changes(to other: ModelRules, of models: [ManagedObjectModel?]) -> [String] {
        guard isKnown, other.isKnown else { return [] }
        let properties = models.map { $0.map(Self.properties) ?? [] }
        return Set(rules.keys).union(other.rules.keys).sorted { $0.precedes($1) }
            .filter { key in properties.allSatisfy { $0.contains(key) } }
            .flatMap { key in
                Kind.allCases.compactMap { kind in
                    let (old, new) = (rules[key]?[kind], other.rules[key]?[kind])
                    if old == new { return nil }
                    return
                        "\(key.joined(separator: ".")): \(kind.words) \(old ?? kind.absence) -> \(new ?? kind.absence)"
                }
            }
    }

    private static func properties(of model: ManagedObjectModel) -> Set<[String]> {
        let side = MigrationSide(model)
        return Set(
            model.entities.flatMap { entity in
                side.ownLeaves(of: entity).map { [entity.name] + $0.named.name }
                    + entity.relationships.map { [entity.name, $0.name] }
            })
    }
}

extension AttributeValue {
    /// The value in words, for messages and lock files.
    fileprivate var words: String {
        switch self {
        case .boolean(let flag): flag ? "YES" : "NO"
        case .integer(let number): "\(number)"
        case .double(let number): "\(number)"
        case .decimal(let number): "\(number)"
        case .string(let text): text.quotedWord
        case .date(let seconds): "\(seconds) s after 2001"
        case .uuid(let id): id.uuidString
        }
    }
}
