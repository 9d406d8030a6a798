// error: passing closure as a 'sending' parameter risks causing data races
import CoreDataSource

@MainActor func look(_ contacts: ContactDataSource) {
    let main = contacts.main
    Task.detached { print(try main.count(Contact.self)) }
}
