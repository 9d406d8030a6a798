// Made by model-reset convert from the model Graph. Change the model, not this file.
// swift-format-ignore-file

import CoreDataSource
import Foundation

@StoredEntity
nonisolated class Folder: ManagedObject {
    @Stored(unique: true) var key: String
    @Related(inverse: "parent", onDelete: .cascade) var children: RelatedObjects<Folder>
    @Related var letters: RelatedObjects<Letter>
    @Related(inverse: "children") var parent: Folder?
}
