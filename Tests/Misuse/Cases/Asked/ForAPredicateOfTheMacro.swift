// error: cannot convert value of type 'Predicate<Contact>' to expected argument type 'FetchPredicate<Contact>'
import CoreDataSource
import Foundation

@MainActor func ask(_ contacts: ContactDataSource) throws -> [Contact] {
    try contacts.fetch(Contact.self, where: #Predicate<Contact> { $0.name == "" })
}
