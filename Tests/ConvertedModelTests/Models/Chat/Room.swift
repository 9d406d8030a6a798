import CoreDataSource
import Foundation

@StoredEntity
nonisolated class Room: Item {
}
