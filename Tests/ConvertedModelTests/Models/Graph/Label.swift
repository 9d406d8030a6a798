import CoreDataSource
import Foundation

@StoredEntity
nonisolated class Label: ManagedObject {
    @Stored(unique: true) var key: String
    @Related(inverse: "labels") var letters: [Letter]
}
