// error: cannot convert value of type 'KeyPath<Contact, String>' to expected argument type 'KeyPath<Company, String>'
import CoreDataSource

final class Company: ManagedObject {
    override class var entityName: String { "Company" }
}

let companies = ObjectRequest(Company.self, order: [.ascending(\Contact.name)])
