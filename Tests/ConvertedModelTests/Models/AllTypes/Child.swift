import CoreDataSource
import Foundation

@StoredEntity(renamedFrom: "Kid")
nonisolated class Child: Parent {
    @Stored(renamedFrom: "petName") var nickname: String?
    @Related(inverse: "friends") var friends: [Child]
}
