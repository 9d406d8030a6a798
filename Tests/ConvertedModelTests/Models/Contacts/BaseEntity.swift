// Made by model-reset convert from the model Contacts. Change the model, not this file.
// swift-format-ignore-file

import CoreDataSource
import Foundation

@StoredEntity(isAbstract: true)
nonisolated class BaseEntity: ManagedObject {
    var syncFlag: Int16 = 0
}
