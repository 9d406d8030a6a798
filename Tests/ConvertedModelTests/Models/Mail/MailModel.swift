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
