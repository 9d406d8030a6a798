// Made by model-reset convert from the model Mail. Change the model, not this file.
// swift-format-ignore-file

import CoreDataSource
import Foundation

@StoredEntity("Tag")
nonisolated class MailTag: ManagedObject {
    var name: String = ""
    var weight: Double?
    @Related(inverse: "tags") var messages: RelatedObjects<MailMessage>
}
