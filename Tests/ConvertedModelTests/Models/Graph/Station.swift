// Made by model-reset convert from the model Graph. Change the model, not this file.
// swift-format-ignore-file

import CoreDataSource
import Foundation

@StoredEntity
nonisolated class Station: ManagedObject {
    @Stored(unique: true) var key: String
    @Related(inverse: "place", onDelete: .noAction) var letters: RelatedObjects<Letter>
    @Related(inverse: "stops") var tours: [Tour]
}
