import CoreDataSource
import Foundation

@StoredComposite
nonisolated struct Address {
    var `class`: String?
    @StoredPart(.composite) var coordinate: Coordinate?
    var street: String = ""
    @StoredPart(.codable) var tags: [String]?
}
