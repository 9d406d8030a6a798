import CoreDataSource
import Foundation

@StoredEntity("Note")
nonisolated class MailNote: MailMessage {
    var body: String?
}
