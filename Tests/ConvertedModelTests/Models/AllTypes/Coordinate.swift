// Made by model-reset convert from the model AllTypes. Change the model, not this file.
// swift-format-ignore-file

import CoreDataSource
import Foundation

@StoredComposite
nonisolated struct Coordinate {
    var latitude: Double = 0.0
    var longitude: Double = 0.0
    var measured: Date?
}
