import CoreDataSource
import Foundation

@StoredEntity
nonisolated class Tour: ManagedObject {
    @Stored(unique: true) var key: String
    @Related var detours: [Station]
    @Related(inverse: "tours") var stops: [Station]
}
