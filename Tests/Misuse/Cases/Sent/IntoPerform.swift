// error: capture of 'contact' with non-Sendable type 'Contact?' in a '@Sendable' closure
import CoreDataSource

@MainActor func edit(_ contacts: ContactDataSource) async throws {
    let contact = try contacts.main.first(Contact.self, where: \.name == "Guan Yu")
    try await contacts.perform { _ in contact?.name = "Zhang Fei" }
}
