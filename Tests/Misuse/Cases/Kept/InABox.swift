// error: capture of 'box' with non-Sendable type 'Box' in a '@Sendable' closure
import CoreDataSource

final class Box { var contact: Contact? }

func keep(_ contacts: ContactDataSource, _ box: Box) throws {
    try contacts.performAndWait { box.contact = try $0.insert(Contact.self) }
}
