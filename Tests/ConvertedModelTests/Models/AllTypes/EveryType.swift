// Made by model-reset convert from the model AllTypes. Change the model, not this file.
// swift-format-ignore-file

import CoreDataSource
import Foundation

@StoredEntity
nonisolated class EveryType: ManagedObject {
    var binaryOptional: Data?
    var binaryRequired: Data
    var booleanOptional: Bool?
    var booleanRequired: Bool = true
    @Stored(isOptional: true) var booleanZero: Bool
    var dateOptional: Date?
    var dateRequired: Date = Date(timeIntervalSinceReferenceDate: 631123200.0)
    var decimalOptional: Decimal?
    var decimalRequired: Decimal = 12345678901234567890.123456789
    var doubleOptional: Double?
    var doubleRequired: Double = 0.1
    @Stored(isOptional: true) var doubleZero: Double
    var floatOptional: Float?
    var floatRequired: Float = 1.5
    @Stored(isOptional: true) var floatZero: Float
    var integer16Optional: Int16?
    var integer16Required: Int16 = -16
    @Stored(isOptional: true) var integer16Zero: Int16
    var integer32Optional: Int32?
    var integer32Required: Int32 = 32
    @Stored(isOptional: true) var integer32Zero: Int32
    var integer64Optional: Int64?
    var integer64Required: Int64 = 9223372036854775807
    @Stored(isOptional: true) var integer64Zero: Int64
    var stringOptional: String?
    var stringRequired: String = "say \"hi\" \\(there)"
    var uriOptional: URL?
    var uriRequired: URL
    var uuidOptional: UUID?
    var uuidRequired: UUID
}
