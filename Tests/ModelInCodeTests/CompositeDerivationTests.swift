import CoreDataSource
import ErrorExpectations
import ManagedModel
import Testing

/// A derivation inside a composite is checked as any other. Its value would never be calculated otherwise, and nothing would say so.
struct CompositeDerivationTests {
    private static func leaf(_ expression: String) -> ManagedObjectModel {
        ManagedObjectModel(
            name: "M",
            entities: [
                EntityDescription(
                    name: "E",
                    attributes: [
                        AttributeDescription(name: "title", type: .string, isOptional: true),
                        AttributeDescription(name: "place", type: .composite, compositeName: "Place"),
                    ],
                    relationships: [RelationshipDescription(name: "other", destinationName: "E")])
            ],
            composites: [
                CompositeDescription(
                    name: "Place",
                    attributes: [
                        AttributeDescription(name: "city", type: .string, isOptional: true),
                        AttributeDescription(
                            name: "key", type: .string, isOptional: true, derivationExpression: expression),
                    ])
            ])
    }

    @Test(arguments: [
        ("city", "E.place.key is derived from city, but E has no such attribute"),
        ("reverse:(title)", "E.place.key is derived from reverse:(title), which is not a known derivation"),
        (
            "other.title",
            "E.place.key is derived from other.title, but an attribute in a composite cannot be derived from other objects"
        ),
        ("place.key", "E.place.key is derived from itself"),
    ])
    func aDerivationInACompositeThatCannotBeCalculatedIsRefused(expression: String, words: String) async {
        let error = await expectError(.unreadableModel) {
            _ = try await PersistentContainer(model: Self.leaf(expression), store: .inMemory)
        }
        #expect(error?.message.contains(words) == true, "\(error?.message ?? "")")
    }

    @Test(arguments: ["uppercase:(title)", "place.city", "title"])
    func aDerivationInACompositeFromItsObjectIsFine(expression: String) throws {
        try Self.leaf(expression).validate()
    }
}
