import ErrorExpectations
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
        Derived(expression: "now()", type: .string, words: "the moment of the save, but is not a date"),
        Derived(expression: "title", type: .string),
        Derived(expression: "title", type: .binary, words: "title, which has the type String instead of Binary"),
        Derived(expression: "number", type: .string, words: "number, which has the type Integer 64 instead of String"),
        Derived(expression: "number", type: .decimal, words: "number"),
        Derived(expression: "canonical:(title)", type: .string),
        Derived(expression: "canonical:(title)", type: .integer64, words: "canonical:(title), but is not a string"),
        Derived(expression: "uppercase:(number)", type: .string, words: "number"),
        Derived(expression: "missing", type: .string, words: "Entry has no such attribute"),
        Derived(expression: "value", type: .string, words: "derived from itself"),
        Derived(expression: "second", type: .string, words: "derived from itself"),
        Derived(expression: "passing text", type: .string, words: "Entry.passing text, which is transient"),
        Derived(
            expression: "count", type: .integer64, words: "Entry.count, which is derived from other objects, too"),
        Derived(expression: "number + 1", type: .integer64, words: "Entry has no such attribute"),
        Derived(expression: "reverse:(title)", type: .string, words: "not a known derivation"),
        // Along relationships.
        Derived(expression: "others.@count", type: .integer64),
        Derived(expression: "count:(others)", type: .integer16),
        Derived(expression: "other.title", type: .string), Derived(expression: "other.other.title", type: .string),
        Derived(expression: "other.others.@count", type: .integer64),
        Derived(expression: "others.@max.other.number", type: .integer64),
        Derived(expression: "sum:(others.number)", type: .integer64),
        Derived(expression: "average:(others.number)", type: .double),
        Derived(expression: "others.@min.title", type: .string),
        Derived(expression: "others.@count", type: .string, words: "whole number"),
        Derived(expression: "others", type: .integer64, words: "leads to many objects"),
        Derived(expression: "others.title", type: .string, words: "others.@count"),
        Derived(expression: "others.@median.number", type: .double, words: "leads to many objects"),
        Derived(expression: "others.@count.number", type: .integer64, words: "no key can follow @count"),
        Derived(expression: "sum:(others)", type: .integer64, words: "not a known derivation"),
        Derived(
            expression: "others.@sum.title", type: .string,
            words: "cannot be calculated from a String of another object"),
        Derived(expression: "others.@avg.number", type: .integer64, words: "Double instead of Integer 64"),
        Derived(expression: "others.@max.missing", type: .date, words: "Entry has no attribute missing"),
        Derived(expression: "other.missing", type: .string, words: "Entry has no attribute missing"),
        Derived(expression: "other", type: .string, words: "has no attribute"),
        Derived(expression: "other.number", type: .string, words: "other.number, which has the type Integer 64"),
        Derived(expression: "canonical:(other.title)", type: .string, words: "transforms a string of another object"),
        Derived(expression: "other.value", type: .string, words: "derived from other objects, too"),
        Derived(expression: "passing.title", type: .string, words: "passing is transient"),
        Derived(expression: "other.passing text", type: .string, words: "Entry.passing text, which is transient"),
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
                        attribute("count", .integer64, from: "others.@count"), attribute("number", .integer64),
                        AttributeDescription(name: "passing text", type: .string, isOptional: true, isTransient: true),
                        attribute("second", .string, from: "value"),
                        attribute("title", .string), attribute("value", derived.type, from: derived.expression),
                    ].filter { $0.name != "second" || derived.expression == "second" },
                    relationships: [
                        RelationshipDescription(name: "other", destinationName: "Entry", isOptional: true),
                        RelationshipDescription(
                            name: "others", destinationName: "Entry", isToMany: true, isOptional: true),
                        RelationshipDescription(
                            name: "passing", destinationName: "Entry", isOptional: true, isTransient: true),
                    ])
            ])
        guard let words = derived.words else { return try model.validate() }
        let error = expectThrows(ModelError.self) { try model.validate() }
        #expect(error?.code == .invalidDerivation && error?.message.contains(words) == true, "\(error?.message ?? "")")
    }

    @Test func aCalculatedAttributeCannotBeUnique() {
        let model = ManagedObjectModel(
            name: "Derived",
            entities: [
                EntityDescription(
                    name: "Entry",
                    attributes: [
                        AttributeDescription(
                            name: "links", type: .integer64, isOptional: true, derivationExpression: "others.@count")
                    ],
                    relationships: [
                        RelationshipDescription(
                            name: "others", destinationName: "Entry", isToMany: true, isOptional: true)
                    ], uniquenessConstraints: [["links"]])
            ])
        let error = expectThrows(ModelError.self) { try model.validate() }
        #expect(error?.code == .invalidDerivation && error?.message.contains("cannot be unique") == true)
    }
}
