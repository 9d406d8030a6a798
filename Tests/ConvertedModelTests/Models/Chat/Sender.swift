import CoreDataSource
import Foundation

@StoredEntity
nonisolated class Sender: Item {
}
