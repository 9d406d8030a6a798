import CoreDataSource
import Foundation

@StoredEntity
nonisolated class Attachment: ManagedObject {
    @Stored(unique: true) var key: String
    @Related(inverse: "attachments") var letter: Letter?
}
