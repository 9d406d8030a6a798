import CoreDataSource
import Foundation

@StoredEntity("Tag")
nonisolated class MailTag: ManagedObject {
    var name: String = ""
    var weight: Double?
    @Related(inverse: "tags") var messages: RelatedObjects<MailMessage>
}
