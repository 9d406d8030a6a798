// Made by model-reset convert from the model Mail. Change the model, not this file.
// swift-format-ignore-file

import CoreDataSource
import Foundation

@StoredEntity("Card")
nonisolated class MailCard: ManagedObject {
    var code: Int64?
    @Related(inverse: "card") var holder: MailPerson?
}
