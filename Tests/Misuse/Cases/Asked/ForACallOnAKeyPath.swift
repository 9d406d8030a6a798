// error: cannot convert value of type 'KeyPath<Root, Value>' to expected argument type 'FetchPredicate<Contact>'
// error: cannot infer key path type from context; consider explicitly specifying a root type
import CoreDataSource

extension Contact {
    var labels: RelatedObjects<Contact> { relatedObjects(at: 0) }
}

// Swift 6.3 crashes here if the function has an overload that takes a key path.
@MainActor func ask(_ contacts: ContactDataSource, _ label: Contact) throws {
    print(try contacts.fetch(Contact.self, where: \.labels.contains("x")))
    print(try contacts.fetch(Contact.self, where: \.labels.contains(label)))
    print(try contacts.fetch(Contact.self, where: \.name.contains(5)))
    print(try contacts.count(Contact.self, where: \.name.contains("x")))
}
