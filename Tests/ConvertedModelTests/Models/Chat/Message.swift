import CoreDataSource
import Foundation

@StoredEntity(unique: [["room", "sequence"]])
nonisolated class Message: Item {
    var room: String?
    var sequence: Int64 = 0
}
