import CoreDataSource
import Foundation

@StoredEntity
nonisolated class Folder: ManagedObject {
    @Stored(unique: true) var key: String
    @Related(inverse: "parent", onDelete: .cascade) var children: RelatedObjects<Folder>
    @Related var letters: RelatedObjects<Letter>
    @Related(inverse: "children") var parent: Folder?
}
