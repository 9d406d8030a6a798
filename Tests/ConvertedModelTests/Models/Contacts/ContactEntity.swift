// Made by model-reset convert from the model Contacts. Change the model, not this file.
// swift-format-ignore-file

import CoreDataSource
import Foundation

@StoredEntity(indexes: [FetchIndexDescription(name: "byName", elements: [FetchIndexDescription.Element(property: "name")])])
nonisolated class ContactEntity: BaseEntity {
    var age: Int32 = 0
    var birthday: Date?
    var initial: String?
    var isFavorite: Bool = false
    var name: String = ""
    var note: String?
    var phone: String?
    var score: Double = 0.0
    @Stored(unique: true) var uid: String
    @Related(inverse: "members") var group: GroupEntity?
}
