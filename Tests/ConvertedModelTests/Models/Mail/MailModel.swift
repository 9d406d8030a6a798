// Made by model-reset convert from the model Mail. Change the model, not this file.
// swift-format-ignore-file

import CoreDataSource
import Foundation

nonisolated extension ManagedObjectModel {
    /// The model `Mail`.
    static let mail = ManagedObjectModel("Mail") {
        MailCard.self
        MailMessage.self
        MailNote.self
        MailPerson.self
        MailTag.self
        MailThread.self
    }
}
