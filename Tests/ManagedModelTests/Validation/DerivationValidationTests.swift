import ManagedModel
import Testing

/// What a derived attribute can be derived from.
struct DerivationValidationTests {
    struct Derived: Sendable, CustomTestStringConvertible {
        var expression: String
        var type: AttributeType
        /// What the error says; nil for one that is right.
        var words: String?

        var testDescription: String { "\(type.rawValue) from \(expression)" }
    }

    static let derivations = [
        Derived(expression: "now()", type: .date),
        Derived(expression: "now()", type: .string, words: "the moment of the save, but is no date"),
        Derived(expression: "title", type: .string),
        Derived(expression: "title", type: .binary, words: "title, which is a String where a Binary is needed"),
        Derived(expression: "number", type: .string, words: "number, which is a Integer 64 where a String is needed"),
        Derived(expression: "number", type: .decimal, words: "number"),
        Derived(expression: "canonical:(title)", type: .string),
        Derived(expression: "canonical:(title)", type: .integer64, words: "canonical:(title), but is no string"),
        Derived(expression: "uppercase:(number)", type: .string, words: "number"),
        Derived(expression: "missing", type: .string, words: "Entry has no such attribute"),
        Derived(expression: "value", type: .string, words: "derived from itself"),
        Derived(expression: "second", type: .string, words: "derived from itself"),
        // Along a relationship.
        Derived(expression: "others.@count", type: .integer64),
        Derived(expression: "other.title", type: .string),
    ]

    @Test(arguments: derivations) func aDerivationHasTheTypeOfItsSource(_ derived: Derived) throws {
        func attribute(_ name: String, _ type: AttributeType, from expression: String? = nil) -> AttributeDescription {
            AttributeDescription(name: name, type: type, isOptional: true, derivationExpression: expression)
        }
        let model = ManagedObjectModel(
            name: "Derived",
            entities: [
                EntityDescription(
                    name: "Entry",
                    attributes: [
                        attribute("number", .integer64), attribute("second", .string, from: "value"),
                        attribute("title", .string), attribute("value", derived.type, from: derived.expression),
                    ].filter { $0.name != "second" || derived.expression == "second" },
                    relationships: [
                        RelationshipDescription(name: "other", destinationName: "Entry", isOptional: true)
                    ])
            ])
        guard let words = derived.words else { return try model.validate() }
        let error = #expect(throws: ModelError.self) { try model.validate() }
        #expect(error?.code == .invalidDerivation && error?.message.contains(words) == true, "\(error?.message ?? "")")
    }
}
