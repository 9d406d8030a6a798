// error: passing closure as a 'sending' parameter risks causing data races
import CoreDataSource

@MainActor func look(_ contacts: ContactDataSource) throws {
    let contact = try contacts.main.first(Contact.self, where: \.name == "Guan Yu")
    Task.detached { print(contact?.name ?? "nobody") }
}
