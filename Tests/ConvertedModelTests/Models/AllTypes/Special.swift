// Made by model-reset convert from the model AllTypes. Change the model, not this file.
// swift-format-ignore-file

import CoreDataSource
import Foundation

@StoredEntity(attributes: [AttributeDescription(name: "whatever", type: .undefined, isOptional: true, isTransient: true)])
nonisolated class Special: ManagedObject {
    @Stored(allowsExternalStorage: true, isPreservedAfterDeletion: true) var attachment: Data?
    @Stored(derived: "canonical:(title)") var canonicalTitle: String?
    @Stored(.transformable, transformer: "NSSecureUnarchiveFromData", className: "NSObject") var colour: Data?
    @Stored(isTransient: true) var cursor: String?
    @Stored(.codable) var lengths: [String: Int64]?
    @Stored(isCloudEncrypted: true) var secret: String?
    @Stored(.codable, isOptional: false) var tags: [String]?
    @Stored(indexed: true, isIndexedBySpotlight: true) var title: String?
    @Stored(.transformable) var untyped: Data?
}
