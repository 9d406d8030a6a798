// Made by model-reset convert from the model Mail. Change the model, not this file.
// swift-format-ignore-file

import CoreDataSource
import Foundation

@StoredEntity("Note")
nonisolated class MailNote: MailMessage {
    var body: String?
}
