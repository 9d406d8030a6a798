import ManagedModel
import Testing

/// A small model with one of everything that the hash covers, and ways to change it.
enum Library {
    static let model = ManagedObjectModel(
        name: "Library",
        entities: [
            EntityDescription(
                name: "Item", isAbstract: true,
                attributes: [
                    AttributeDescription(name: "uid", type: .string),
                    AttributeDescription(name: "place", type: .composite, isOptional: true, compositeName: "Place"),
                ],
                uniquenessConstraints: [["uid"]]),
            EntityDescription(
                name: "Book", className: ".Book", parentName: "Item",
                attributes: [
                    AttributeDescription(name: "title", type: .string, isOptional: true, defaultValue: .string("")),
                    AttributeDescription(name: "pages", type: .integer32, isOptional: true),
                    AttributeDescription(
                        name: "authorName", type: .string, isOptional: true, derivationExpression: "author.name"),
                    AttributeDescription(name: "isOpen", type: .boolean, isTransient: true),
                ],
                relationships: [
                    RelationshipDescription(
                        name: "author", destinationName: "Author", inverseName: "books", isOptional: true)
                ],
                indexes: [FetchIndexDescription(name: "byTitle", elements: [.init(property: "title")])],
                versionHashModifier: "1"),
            EntityDescription(
                name: "Author",
                attributes: [AttributeDescription(name: "name", type: .string)],
                relationships: [
                    RelationshipDescription(
                        name: "books", destinationName: "Book", inverseName: "author", isToMany: true, isOrdered: true,
                        isOptional: true, maximumCount: 100)
                ]),
        ],
        composites: [
            CompositeDescription(
                name: "Place",
                attributes: [
                    AttributeDescription(name: "shelf", type: .integer16),
                    AttributeDescription(name: "room", type: .string, isOptional: true),
                ])
        ])

    /// The model with one entity edited.
    static func editing(_ name: String, _ edit: (inout EntityDescription) -> Void) -> ManagedObjectModel {
        var model = model
        for index in model.entities.indices where model.entities[index].name == name {
            edit(&model.entities[index])
        }
        return model
    }
}

extension EntityDescription {
    mutating func attribute(_ name: String, _ edit: (inout AttributeDescription) -> Void) {
        for index in attributes.indices where attributes[index].name == name { edit(&attributes[index]) }
    }

    mutating func relationship(_ name: String, _ edit: (inout RelationshipDescription) -> Void) {
        for index in relationships.indices where relationships[index].name == name { edit(&relationships[index]) }
    }
}

/// A model with a change in it, for tests that run over many.
struct ModelChange: Sendable, CustomTestStringConvertible {
    var testDescription: String
    var model: ManagedObjectModel

    init(_ words: String, _ model: ManagedObjectModel) {
        testDescription = words
        self.model = model
    }

    init(_ words: String, in entity: String, _ edit: (inout EntityDescription) -> Void) {
        self.init(words, Library.editing(entity, edit))
    }

    init(_ words: String, _ edit: (inout ManagedObjectModel) -> Void) {
        var model = Library.model
        edit(&model)
        self.init(words, model)
    }
}
