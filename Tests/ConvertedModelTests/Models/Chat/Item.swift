// Made by model-reset convert from the model Chat. Change the model, not this file.
// swift-format-ignore-file

import CoreDataSource
import Foundation

@StoredEntity(isAbstract: true)
nonisolated class Item: ManagedObject {
    @Stored(unique: true) var key: String
    var number: Int64 = 0
    var text: String?
}
