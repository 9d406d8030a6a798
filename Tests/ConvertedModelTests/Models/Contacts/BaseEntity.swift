import CoreDataSource
import Foundation

@StoredEntity(isAbstract: true)
nonisolated class BaseEntity: ManagedObject {
    var syncFlag: Int16 = 0
}
