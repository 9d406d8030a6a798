// Made by model-reset convert from the model Graph. Change the model, not this file.
// swift-format-ignore-file

import CoreDataSource
import Foundation

@StoredEntity(isAbstract: true)
nonisolated class Animal: ManagedObject {
    @Stored(unique: true) var key: String
    var name: String = ""
    @Related(inverse: "animals") var keeper: Person?
}
