// Made by model-reset convert from the model Mail. Change the model, not this file.
// swift-format-ignore-file

import CoreDataSource
import Foundation

@StoredEntity("Message")
nonisolated class MailMessage: ManagedObject {
    var isRead: Bool = false
    var price: Decimal?
    var sent: Date?
    var size: Int64 = 0
    var subject: String?
    @Related(inverse: "written") var author: MailPerson?
    @Related(inverse: "replyTo") var replies: RelatedObjects<MailMessage>
    @Related(inverse: "replies") var replyTo: MailMessage?
    @Related(inverse: "messages") var tags: [MailTag]
    @Related(inverse: "messages") var thread: MailThread?
}
