// error: cannot convert value of type 'Contact.Type' to expected argument type '[String]'
import CoreDataSource

func clear(_ contacts: ContactDataSource) async throws {
    try await contacts.delete(Contact.self)
}
