// Made by model-reset convert from the model Contacts. Change the model, not this file.
// swift-format-ignore-file

import CoreDataSource
import Foundation

@StoredEntity
nonisolated class GroupEntity: BaseEntity {
    @Stored(unique: true) var gid: String
    var memberCount: Int32 = 0
    var name: String = ""
    @Related(inverse: "group") var members: RelatedObjects<ContactEntity>
}
