// Made by model-reset convert from the model AllTypes. Change the model, not this file.
// swift-format-ignore-file

import CoreDataSource
import Foundation

@StoredEntity(renamedFrom: "Kid")
nonisolated class Child: Parent {
    @Stored(renamedFrom: "petName") var nickname: String?
    @Related(inverse: "friends") var friends: [Child]
}
