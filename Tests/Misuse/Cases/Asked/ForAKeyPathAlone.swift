// error: 'init(_:where:order:limit:offset:after:)' is unavailable: A key path alone is not a predicate. Compare it: \.isRead == true, or !\.isRead.
// error: 'fetch(_:where:order:limit:offset:)' is unavailable: A key path alone is not a predicate. Compare it: \.isRead == true, or !\.isRead.
// error: 'count(_:where:)' is unavailable: A key path alone is not a predicate. Compare it: \.isRead == true, or !\.isRead.
// error: 'exists(_:where:)' is unavailable: A key path alone is not a predicate. Compare it: \.isRead == true, or !\.isRead.
// error: 'first(_:where:order:)' is unavailable: A key path alone is not a predicate. Compare it: \.isRead == true, or !\.isRead.
// error: 'update(_:where:set:waitFor:)' is unavailable: A key path alone is not a predicate. Compare it: \.isRead == true, or !\.isRead.
// error: 'delete(_:where:waitFor:)' is unavailable: A key path alone is not a predicate. Compare it: \.isRead == true, or !\.isRead.
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
