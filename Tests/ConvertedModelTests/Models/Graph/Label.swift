// Made by model-reset convert from the model Graph. Change the model, not this file.
// swift-format-ignore-file

import CoreDataSource
import Foundation

@StoredEntity
nonisolated class Label: ManagedObject {
    @Stored(unique: true) var key: String
    @Related(inverse: "labels") var letters: [Letter]
}
