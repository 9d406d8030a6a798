// Made by model-codegen from the model Contacts. Change the model, not this file.
// swift-format-ignore-file

import CoreDataSource
import Foundation

/// The abstract entity `BaseEntity`.
nonisolated class BaseEntity: ManagedObject {
    override class var entityName: String { "BaseEntity" }

    override class var attributeKeyPaths: [AnyKeyPath: String] {
        [
            \BaseEntity.syncFlag: "syncFlag",
        ]
    }

    override class var propertyNames: Set<String>? {
        guard entityName == "BaseEntity" else { return nil }
        return [
            "syncFlag",
        ]
    }

    final var syncFlag: Int16 { get { attribute(at: 0) } set { setAttribute(newValue, at: 0) } }
}

/// The entity `ContactEntity`.
nonisolated class ContactEntity: BaseEntity {
    override class var entityName: String { "ContactEntity" }

    override class var attributeKeyPaths: [AnyKeyPath: String] {
        [
            \ContactEntity.syncFlag: "syncFlag", \ContactEntity.age: "age", \ContactEntity.birthday: "birthday",
            \ContactEntity.initial: "initial", \ContactEntity.isFavorite: "isFavorite", \ContactEntity.name: "name",
            \ContactEntity.note: "note", \ContactEntity.phone: "phone", \ContactEntity.score: "score", \ContactEntity.uid: "uid",
        ]
    }

    override class var relationshipKeyPaths: [AnyKeyPath: String] {
        [
            \ContactEntity.group: "group",
        ]
    }

    override class var propertyNames: Set<String>? {
        guard entityName == "ContactEntity" else { return nil }
        return [
            "syncFlag", "age", "birthday", "initial", "isFavorite", "name", "note", "phone", "score", "uid", "group",
        ]
    }

    final var age: Int32 { get { attribute(at: 1) } set { setAttribute(newValue, at: 1) } }
    final var birthday: Date? { get { attribute(at: 2) } set { setAttribute(newValue, at: 2) } }
    final var initial: String? { get { attribute(at: 3) } set { setAttribute(newValue, at: 3) } }
    final var isFavorite: Bool { get { attribute(at: 4) } set { setAttribute(newValue, at: 4) } }
    final var name: String { get { attribute(at: 5) } set { setAttribute(newValue, at: 5) } }
    final var note: String? { get { attribute(at: 6) } set { setAttribute(newValue, at: 6) } }
    final var phone: String? { get { attribute(at: 7) } set { setAttribute(newValue, at: 7) } }
    final var score: Double { get { attribute(at: 8) } set { setAttribute(newValue, at: 8) } }
    final var uid: String { get { attribute(at: 9) } set { setAttribute(newValue, at: 9) } }
    final var group: GroupEntity? { get { relatedObject(at: 0) } set { setRelatedObject(newValue, at: 0) } }
}

/// The entity `GroupEntity`.
nonisolated class GroupEntity: BaseEntity {
    override class var entityName: String { "GroupEntity" }

    override class var attributeKeyPaths: [AnyKeyPath: String] {
        [
            \GroupEntity.syncFlag: "syncFlag", \GroupEntity.gid: "gid", \GroupEntity.memberCount: "memberCount",
            \GroupEntity.name: "name",
        ]
    }

    override class var relationshipKeyPaths: [AnyKeyPath: String] {
        [
            \GroupEntity.members: "members",
        ]
    }

    override class var optionalKeyPaths: [AnyKeyPath: String] {
        [
            \GroupEntity?.?.syncFlag: "syncFlag", \GroupEntity?.?.gid: "gid", \GroupEntity?.?.memberCount: "memberCount",
            \GroupEntity?.?.name: "name", \GroupEntity?.?.members: "members",
        ]
    }

    override class var propertyNames: Set<String>? {
        guard entityName == "GroupEntity" else { return nil }
        return [
            "syncFlag", "gid", "memberCount", "name", "members",
        ]
    }

    final var gid: String { get { attribute(at: 1) } set { setAttribute(newValue, at: 1) } }
    final var memberCount: Int32 { get { attribute(at: 2) } set { setAttribute(newValue, at: 2) } }
    final var name: String { get { attribute(at: 3) } set { setAttribute(newValue, at: 3) } }
    final var members: RelatedObjects<ContactEntity> { relatedObjects(at: 0) }
}

nonisolated extension ManagedObjectModel {
    /// The model `Contacts` in its version `Contacts`.
    static let contacts = ManagedObjectModel(
        name: "Contacts",
        entities: [ContactsEntities.baseEntity(), ContactsEntities.contactEntity(), ContactsEntities.groupEntity()],
        classes: contactsClasses())
}

/// Lets the library find the model `Contacts` by its name.
nonisolated final class GeneratedModel_Contacts: GeneratedModel {
    static var model: ManagedObjectModel { .contacts }
}

/// The class of each entity of `Contacts`.
nonisolated private func contactsClasses() -> [String: any AnyObject.Type] {
    ["BaseEntity": BaseEntity.self, "ContactEntity": ContactEntity.self, "GroupEntity": GroupEntity.self]
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
