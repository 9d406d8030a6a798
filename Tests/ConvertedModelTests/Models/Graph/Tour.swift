// Made by model-reset convert from the model Graph. Change the model, not this file.
// swift-format-ignore-file

import CoreDataSource
import Foundation

@StoredEntity
nonisolated class Tour: ManagedObject {
    @Stored(unique: true) var key: String
    @Related var detours: [Station]
    @Related(inverse: "tours") var stops: [Station]
}
