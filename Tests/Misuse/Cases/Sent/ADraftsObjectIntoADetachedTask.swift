// error: passing closure as a 'sending' parameter risks causing data races
import CoreDataSource

@MainActor func edit(_ draft: Draft<Contact>) {
    let contact = draft.object
    Task.detached { contact.name = "Zhang Fei" }
}
