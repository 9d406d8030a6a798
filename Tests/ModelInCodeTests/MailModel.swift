import CoreDataSource
import Foundation

@StoredEntity final class ThreadEntity: ManagedObject {
    var subject: String = ""
    @Stored(unique: true) var uid: String
    @Related(inverse: "thread", onDelete: .cascade) var messages: RelatedObjects<MessageEntity>
}

@StoredEntity(indexes: [FetchIndexDescription(name: "byDate", elements: [.init(property: "date", isAscending: false)])])
final class MessageEntity: ManagedObject {
    var date: Date?
    var isRead: Bool = false
    var size: Int64?
    @Stored(length: ...10_000) var text: String = ""
    @Stored(unique: true) var uid: String
    @Related(inverse: "messages") var thread: ThreadEntity?
}

extension ManagedObjectModel {
    static let mail = ManagedObjectModel("Mail") {
        ThreadEntity.self
        MessageEntity.self
    }
}
