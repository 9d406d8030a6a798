// error: cannot convert value of type 'KeyPath<Root, Value>' to expected argument type 'FetchPredicate<Contact>'
// error: cannot infer key path type from context; consider explicitly specifying a root type
import CoreDataSource

extension Contact {
    var isRead: Bool { name.isEmpty }
}

let read = ObjectRequest(Contact.self, where: \.isRead, limit: 5)

@MainActor func ask(_ contacts: ContactDataSource) throws {
    print(try contacts.fetch(Contact.self, where: \.isRead))
    print(try contacts.count(Contact.self, where: \.isRead))
    print(try contacts.main.fetch(Contact.self, where: \.isRead))
    print(try contacts.main.count(Contact.self, where: \.isRead))
    print(try contacts.main.exists(Contact.self, where: \.isRead))
    print(try contacts.main.first(Contact.self, where: \.isRead) as Any)
}

func change(_ contacts: ContactDataSource) async throws {
    try await contacts.update(Contact.self, where: \.isRead, set: [.set(\.name, "")])
    try await contacts.delete(Contact.self, where: \.isRead)
}
