// Made by model-reset convert from the model Graph. Change the model, not this file.
// swift-format-ignore-file

import CoreDataSource
import Foundation

@StoredEntity
nonisolated class Topic: ManagedObject {
    @Stored(unique: true) var key: String
    var title: String = ""
    @Related(inverse: "topic", onDelete: .cascade) var letters: RelatedObjects<Letter>
}
