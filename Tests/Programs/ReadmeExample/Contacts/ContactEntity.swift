import CoreDataSource
import Foundation

@StoredEntity
nonisolated class ContactEntity: ManagedObject {
    var createdAt: Date?
    var name: String = ""
    var note: String?
    @Stored(unique: true) var uid: String
}
