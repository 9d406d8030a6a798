import CoreDataSource
import Foundation

// Classes that are written by hand, and their model in code.

final class ThreadEntity: ManagedObject {
    override class var entityName: String { "ThreadEntity" }
    override class var attributeKeyPaths: [AnyKeyPath: String] {
        [\ThreadEntity.messageCount: "messageCount", \ThreadEntity.title: "title"]
    }
    override class var relationshipKeyPaths: [AnyKeyPath: String] { [\ThreadEntity.messages: "messages"] }

    var messageCount: Int64 { calculatedAttribute(at: 0) }

    var title: String {
        get { attribute(at: 1) }
        set { setAttribute(newValue, at: 1) }
    }

    var messages: RelatedObjects<MessageEntity> { relatedObjects(at: 0) }
}

final class MessageEntity: ManagedObject {
    override class var entityName: String { "MessageEntity" }
    override class var attributeKeyPaths: [AnyKeyPath: String] {
        [
            \MessageEntity.date: "date", \MessageEntity.isRead: "isRead", \MessageEntity.labels: "labels",
            \MessageEntity.priority: "priority", \MessageEntity.size: "size", \MessageEntity.subject: "subject",
        ]
    }
    override class var relationshipKeyPaths: [AnyKeyPath: String] {
        [\MessageEntity.attachments: "attachments", \MessageEntity.thread: "thread"]
    }

    var date: Date {
        get { attribute(at: 0) }
        set { setAttribute(newValue, at: 0) }
    }

    var isRead: Bool {
        get { attribute(at: 1) }
        set { setAttribute(newValue, at: 1) }
    }

    var labels: [String]? {
        get { transformable(at: 2) }
        set { setTransformable(newValue, at: 2) }
    }

    var priority: Int16? {
        get { attribute(at: 3) }
        set { setAttribute(newValue, at: 3) }
    }

    var hasPriority: Bool { !isNil(at: 3) }

    func forgetPriority() { setNil(at: 3) }

    var size: Int64 {
        get { attribute(at: 4) }
        set { setAttribute(newValue, at: 4) }
    }

    var subject: String {
        get { attribute(at: 5) }
        set { setAttribute(newValue, at: 5) }
    }

    var attachments: [AttachmentEntity] {
        get { relatedList(at: 0) }
        set { setRelatedList(newValue, at: 0) }
    }

    var thread: ThreadEntity? {
        get { relatedObject(at: 1) }
        set { setRelatedObject(newValue, at: 1) }
    }
}

final class AttachmentEntity: ManagedObject {
    override class var entityName: String { "AttachmentEntity" }
    override class var attributeKeyPaths: [AnyKeyPath: String] {
        [\AttachmentEntity.name: "name", \AttachmentEntity.size: "size"]
    }

    var name: String {
        get { attribute(at: 0) }
        set { setAttribute(newValue, at: 0) }
    }

    var size: Int64 {
        get { attribute(at: 1) }
        set { setAttribute(newValue, at: 1) }
    }
}

extension ManagedObjectModel {
    static var mail: ManagedObjectModel {
        func integer(_ name: String) -> AttributeDescription {
            AttributeDescription(name: name, type: .integer64, defaultValue: .integer(0))
        }
        func string(_ name: String) -> AttributeDescription {
            AttributeDescription(name: name, type: .string, defaultValue: .string(""))
        }
        let attachment = EntityDescription(
            name: "AttachmentEntity", attributes: [string("name"), integer("size")],
            relationships: [
                RelationshipDescription(
                    name: "message", destinationName: "MessageEntity", inverseName: "attachments", isOptional: true)
            ])
        let message = EntityDescription(
            name: "MessageEntity",
            attributes: [
                AttributeDescription(name: "date", type: .date, defaultValue: .date(0)),
                AttributeDescription(name: "isRead", type: .boolean, defaultValue: .boolean(false)),
                AttributeDescription(
                    name: "labels", type: .transformable, isOptional: true, customClassName: "[String]"),
                AttributeDescription(name: "priority", type: .integer16, isOptional: true),
                integer("size"), string("subject"),
            ],
            relationships: [
                RelationshipDescription(
                    name: "attachments", destinationName: "AttachmentEntity", inverseName: "message", isToMany: true,
                    isOrdered: true, isOptional: true),
                RelationshipDescription(
                    name: "thread", destinationName: "ThreadEntity", inverseName: "messages", isOptional: true),
            ])
        let thread = EntityDescription(
            name: "ThreadEntity",
            attributes: [
                AttributeDescription(
                    name: "messageCount", type: .integer64, isOptional: true, derivationExpression: "messages.@count"),
                string("title"),
            ],
            relationships: [
                RelationshipDescription(
                    name: "messages", destinationName: "MessageEntity", inverseName: "thread", isToMany: true,
                    isOptional: true)
            ])
        return ManagedObjectModel(
            name: "Mail", entities: [attachment, message, thread],
            classes: [
                "AttachmentEntity": AttachmentEntity.self, "MessageEntity": MessageEntity.self,
                "ThreadEntity": ThreadEntity.self,
            ])
    }
}

final class MailDataSource: DataSource<String> {
    nonisolated override class var entities: [ManagedObject.Type] {
        [ThreadEntity.self, MessageEntity.self, AttachmentEntity.self]
    }
}

enum TaskState: String, AttributeStorable { case open, done }

let openTasks: FetchPredicate<TaskEntity> = \.state == .open

final class TaskEntity: ManagedObject {
    override class var entityName: String { "TaskEntity" }
    override class var attributeKeyPaths: [AnyKeyPath: String] { [\TaskEntity.state: "state"] }

    var state: TaskState {
        get { attribute(at: 0) }
        set { setAttribute(newValue, at: 0) }
    }
}
