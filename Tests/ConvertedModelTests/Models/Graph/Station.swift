import CoreDataSource
import Foundation

@StoredEntity
nonisolated class Station: ManagedObject {
    @Stored(unique: true) var key: String
    @Related(inverse: "place", onDelete: .noAction) var letters: RelatedObjects<Letter>
    @Related(inverse: "stops") var tours: [Tour]
}
