import CoreDataSource
import Foundation

@StoredEntity("Card")
nonisolated class MailCard: ManagedObject {
    var code: Int64?
    @Related(inverse: "card") var holder: MailPerson?
}
