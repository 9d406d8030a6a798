// Made by model-reset convert from the model Mail. Change the model, not this file.
// swift-format-ignore-file

import CoreDataSource
import Foundation

@StoredEntity("Thread")
nonisolated class MailThread: ManagedObject {
    var rank: Int64 = 0
    var title: String?
    @Related(inverse: "thread") var messages: RelatedObjects<MailMessage>
    @Related(inverse: "owned") var owner: MailPerson?
}
