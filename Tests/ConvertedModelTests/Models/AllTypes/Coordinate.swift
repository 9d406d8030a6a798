import CoreDataSource
import Foundation

@StoredComposite
nonisolated struct Coordinate {
    var latitude: Double = 0.0
    var longitude: Double = 0.0
    var measured: Date?
}
