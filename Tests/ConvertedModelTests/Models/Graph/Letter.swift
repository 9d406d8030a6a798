// Made by model-reset convert from the model Graph. Change the model, not this file.
// swift-format-ignore-file

import CoreDataSource
import Foundation

@StoredEntity
nonisolated class Letter: ManagedObject {
    @Stored(unique: true) var key: String
    var subject: String = ""
    @Related(inverse: "letter", onDelete: .cascade) var attachments: [Attachment]
    @Related(inverse: "letters") var author: Person?
    @Related(inverse: "letters") var labels: RelatedObjects<Label>
    @Related(inverse: "letters") var place: Station?
    @Related var readBy: Person?
    @Related(inverse: "letters") var topic: Topic?
}
