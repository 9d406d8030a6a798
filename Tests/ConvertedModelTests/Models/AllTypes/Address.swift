// Made by model-reset convert from the model AllTypes. Change the model, not this file.
// swift-format-ignore-file

import CoreDataSource
import Foundation

@StoredComposite
nonisolated struct Address {
    var `class`: String?
    @StoredPart(.composite) var coordinate: Coordinate?
    var street: String = ""
    @StoredPart(.codable) var tags: [String]?
}
