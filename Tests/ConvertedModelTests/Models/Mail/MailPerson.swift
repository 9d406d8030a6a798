// Made by model-reset convert from the model Mail. Change the model, not this file.
// swift-format-ignore-file

import CoreDataSource
import Foundation

@StoredEntity("Person")
nonisolated class MailPerson: ManagedObject {
    var age: Int64?
    var name: String = ""
    @Related(inverse: "reports") var boss: MailPerson?
    @Related(inverse: "holder") var card: MailCard?
    @Related(inverse: "owner") var owned: RelatedObjects<MailThread>
    @Related(inverse: "boss") var reports: RelatedObjects<MailPerson>
    @Related(inverse: "author") var written: RelatedObjects<MailMessage>
}
