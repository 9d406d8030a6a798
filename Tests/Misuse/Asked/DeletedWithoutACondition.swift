// error: Say where: nil to delete all objects of a class.
import CoreDataSource

func clear(_ contacts: ContactDataSource) async throws {
    try await contacts.delete(Contact.self)
}
