// Made by model-reset convert from the model Chat. Change the model, not this file.
// swift-format-ignore-file

import CoreDataSource
import Foundation

@StoredEntity(unique: [["room", "sequence"]])
nonisolated class Message: Item {
    var room: String?
    var sequence: Int64 = 0
}
