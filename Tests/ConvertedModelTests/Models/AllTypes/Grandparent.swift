import CoreDataSource
import Foundation

@StoredEntity(isAbstract: true)
nonisolated class Grandparent: ManagedObject {
    var createdAt: Date = Date(timeIntervalSinceReferenceDate: 0.0)
    @Related(onDelete: .noAction) var favourite: Grandparent?
}
