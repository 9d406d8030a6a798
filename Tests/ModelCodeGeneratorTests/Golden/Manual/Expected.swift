// Made by model-codegen from the model Contacts. Change the model, not this file.
// swift-format-ignore-file

public import CoreDataSource

// The entity BaseEntity: its class BaseEntity is written by hand.

// The entity ContactEntity: its class ContactEntity is written by hand.

// The entity GroupEntity: its class GroupEntity is written by hand.

nonisolated extension ManagedObjectModel {
    /// The model `Contacts` in its version `Contacts`.
    public static let contacts = ManagedObjectModel(
        name: "Contacts",
        entities: [ContactsEntities.baseEntity(), ContactsEntities.contactEntity(), ContactsEntities.groupEntity()])
}

/// Lets the library find the model `Contacts` by its name.
nonisolated final class GeneratedModel_Contacts: GeneratedModel {
    static var model: ManagedObjectModel { .contacts }
}

/// The entities of `Contacts`, a function for each.
nonisolated private enum ContactsEntities {
    static func baseEntity() -> EntityDescription {
        EntityDescription(
            name: "BaseEntity",
            className: "BaseEntity",
            isAbstract: true,
            attributes: [AttributeDescription(name: "syncFlag", type: .integer16, defaultValue: .integer(0), usesScalarValueType: true)],
            codeGeneration: .class)
    }
    static func contactEntity() -> EntityDescription {
        EntityDescription(
            name: "ContactEntity",
            className: "ContactEntity",
            parentName: "BaseEntity",
            attributes: [
                AttributeDescription(name: "age", type: .integer32, defaultValue: .integer(0), usesScalarValueType: true),
                AttributeDescription(name: "birthday", type: .date, isOptional: true),
                AttributeDescription(name: "initial", type: .string, isOptional: true),
                AttributeDescription(name: "isFavorite", type: .boolean, defaultValue: .boolean(false), usesScalarValueType: true),
                AttributeDescription(name: "name", type: .string, defaultValue: .string("")),
                AttributeDescription(name: "note", type: .string, isOptional: true),
                AttributeDescription(name: "phone", type: .string, isOptional: true),
                AttributeDescription(name: "score", type: .double, defaultValue: .double(0.0), usesScalarValueType: true),
                AttributeDescription(name: "uid", type: .string),
            ],
            relationships: [RelationshipDescription(name: "group", destinationName: "GroupEntity", inverseName: "members", isOptional: true)],
            indexes: [FetchIndexDescription(name: "byName", elements: [FetchIndexDescription.Element(property: "name")])],
            uniquenessConstraints: [["uid"]],
            codeGeneration: .class)
    }
    static func groupEntity() -> EntityDescription {
        EntityDescription(
            name: "GroupEntity",
            className: "GroupEntity",
            parentName: "BaseEntity",
            attributes: [
                AttributeDescription(name: "gid", type: .string),
                AttributeDescription(name: "memberCount", type: .integer32, defaultValue: .integer(0), usesScalarValueType: true),
                AttributeDescription(name: "name", type: .string, defaultValue: .string("")),
            ],
            relationships: [RelationshipDescription(name: "members", destinationName: "ContactEntity", inverseName: "group", isToMany: true, isOptional: true)],
            uniquenessConstraints: [["gid"]],
            codeGeneration: .class)
    }
}
