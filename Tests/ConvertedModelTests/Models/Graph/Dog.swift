import CoreDataSource
import Foundation

@StoredEntity
nonisolated class Dog: Animal {
    @Related var chasing: Animal?
}
