import CoreDataSource
import Foundation

@StoredEntity
nonisolated class Passport: ManagedObject {
    @Stored(unique: true) var key: String
    @Related(inverse: "passport", isOptional: false) var holder: Person?
}
