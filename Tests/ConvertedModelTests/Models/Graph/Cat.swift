import CoreDataSource
import Foundation

@StoredEntity
nonisolated class Cat: Animal {
    var lives: Int16 = 9
}
