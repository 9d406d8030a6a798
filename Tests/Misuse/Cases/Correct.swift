import CoreDataSource
import Foundation

// What an app writes: not one word about isolation, and it compiles.

struct ContactData {
    var name: String
}

struct ContactName: ManagedObjectConvertible {
    var name: String

    init(_ contact: Contact) {
        name = contact.name
    }
}

final class AddressBook: DataSource<ContactData> {
    override class var entities: [ManagedObject.Type] { [Contact.self] }

    // State of the data source itself is main's, for the user interface.
    var lastRefresh = 0

    override func onAdd(_ data: ContactData, in context: PrivateContext) throws -> ManagedObject? {
        let contact = try context.findOrInsert(Contact.self, where: \.name, equals: data.name)
        if try context.count(Contact.self) == 0 { contact.name = normalized(data.name) }
        return contact
    }

    override func onDelete(_ data: ContactData, in context: PrivateContext) throws {
        try context.delete(Contact.self, where: \.name == data.name)
    }

    func names() throws -> [String] {
        try fetch(Contact.self, order: [SortDescriptor(\.name)]).map(\.name)
    }

    func refresh(_ list: [ContactData]) async throws {
        lastRefresh = try await sync(list, entity: Contact.self).inserted
        try await delete(ContactData(name: "nobody"))
        try await save()
    }

    // Names that other libraries have, too, are free for the app.
    func save() async throws { lastRefresh += 1 }
}

extension Contact {
    static func fetchRequest() -> ObjectRequest<Contact> { ObjectRequest(order: [.ascending(\.name)]) }
    func save() -> String { name }
    func delete() throws { if name.isEmpty { throw CancellationError() } }
}

func spelt(_ book: AddressBook) async throws -> [String] {
    try await book.perform { context in
        let contacts = try context.fetch(Contact.fetchRequest())
        for contact in contacts { try contact.delete() }
        return contacts.map { $0.save() }
    }
}

func normalized(_ name: String) -> String { name.trimmingCharacters(in: .whitespaces) }

func importContacts(_ names: [String], into book: AddressBook) async throws -> [String] {
    try await book.refresh(names.map { ContactData(name: $0) })
    book.add([ContactData(name: "Guan Yu")]) { result in print(result, book.lastRefresh) }
    let ids = try await book.perform { context in
        let contacts = try context.fetch(Contact.self)
        for contact in contacts { contact.name = normalized(contact.name) }
        return contacts.map(\.objectID)
    }
    let added = Task.detached { try await book.add(ContactData(name: "Zhang Fei")).inserted }
    print(ids.count, try await added.value)
    let wanted = "Guan Yu"
    print(
        try await book.fetch(
            as: ContactName.self, ObjectRequest(where: FetchPredicate(#Predicate { $0.name == wanted }))))
    print(
        try await book.fetch(as: ContactName.self, ObjectRequest(where: \.name == wanted, limit: 1)).first?.name ?? "")
    return try await book.names()
}
