// Made by model-reset convert from the model AllTypes. Change the model, not this file.
// swift-format-ignore-file

import CoreDataSource
import Foundation

@StoredEntity(isAbstract: true)
nonisolated class Grandparent: ManagedObject {
    var createdAt: Date = Date(timeIntervalSinceReferenceDate: 0.0)
    @Related(onDelete: .noAction) var favourite: Grandparent?
}
