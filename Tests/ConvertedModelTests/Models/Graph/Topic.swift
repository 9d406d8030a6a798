import CoreDataSource
import Foundation

@StoredEntity
nonisolated class Topic: ManagedObject {
    @Stored(unique: true) var key: String
    var title: String = ""
    @Related(inverse: "topic", onDelete: .cascade) var letters: RelatedObjects<Letter>
}
