// Made by model-reset convert from the model AllTypes. Change the model, not this file.
// swift-format-ignore-file

import CoreDataSource
import Foundation

@StoredEntity
nonisolated class Étage: ManagedObject {
    var größe: Int32 = 0
    var 名前: String?
}
