import CoreDataSource
import Foundation

@StoredEntity
nonisolated class Étage: ManagedObject {
    var größe: Int32 = 0
    var 名前: String?
}
