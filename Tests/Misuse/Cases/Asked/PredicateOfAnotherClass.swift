// error: cannot convert value of type 'FetchPredicate<Contact>' to expected argument type 'FetchPredicate<Company>'
import CoreDataSource

final class Company: ManagedObject {
    override class var entityName: String { "Company" }
}

@MainActor func count(_ contacts: ContactDataSource, _ wanted: FetchPredicate<Contact>) throws -> Int {
    try contacts.count(Company.self, where: wanted)
}
