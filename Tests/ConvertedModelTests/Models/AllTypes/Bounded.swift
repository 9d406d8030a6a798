// Made by model-reset convert from the model AllTypes. Change the model, not this file.
// swift-format-ignore-file

import CoreDataSource
import Foundation

@StoredEntity(unique: [["code", "day"]])
nonisolated class Bounded: ManagedObject {
    @Stored(in: -0.5...99.95) var amount: Decimal = 1.25
    @Stored(length: 2...8, matching: "[A-Z]+\\d*") var code: String?
    @Stored(unique: true, in: 0...100) var count: Int16 = 0
    @Stored(in: Date(timeIntervalSinceReferenceDate: 0.0)...Date(timeIntervalSinceReferenceDate: 86400.0)) var day: Date?
    @Stored(in: 0.0...1.0) var ratio: Double = 0.5
}
