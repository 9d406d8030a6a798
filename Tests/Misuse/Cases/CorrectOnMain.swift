import CoreDataSource
import Foundation

// What an app writes, also in a target that is isolated to the main actor by default: hooks and what they use are `nonisolated`.

nonisolated struct ContactData {
    var name: String
}

struct ContactName: ManagedObjectConvertible {
    var name: String

    init(_ contact: Contact) {
        name = contact.name
    }
}

final class AddressBook: DataSource<ContactData> {
    nonisolated override class var entities: [ManagedObject.Type] { [Contact.self] }

    // State of the data source itself is main's, for the user interface.
    var lastRefresh = 0

    nonisolated override func onAdd(_ data: ContactData, in context: PrivateContext) throws -> ManagedObject? {
        let contact = try context.findOrInsert(Contact.self, where: \.name, equals: data.name)
        if try context.count(Contact.self) == 0 { contact.name = normalized(data.name) }
        return contact
    }

    nonisolated override func onDelete(_ data: ContactData, in context: PrivateContext) throws {
        try context.delete(Contact.self, where: \.name == data.name)
    }

    func names() throws -> [String] {
        try fetch(Contact.self, order: [SortDescriptor(\.name)]).map(\.name)
    }

    func refresh(_ list: [ContactData]) async throws {
        lastRefresh = try await sync(list, entity: Contact.self).inserted
        try await delete(ContactData(name: "nobody"))
    }
}

nonisolated func normalized(_ name: String) -> String { name.trimmingCharacters(in: .whitespaces) }

@MainActor func importContacts(_ names: [String], into book: AddressBook) async throws -> [String] {
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
    return try book.names()
}

// A model in code: its classes, structs and enums are not isolated, because of `ManagedObject`, the macro and the protocol. Their
// extensions say that they are not.
enum Rank: Int16, AttributeStorable {
    case guest = 1
    case member = 2
}

@StoredComposite struct Address {
    var city: String = ""
}

nonisolated extension Member {
    var title: String { "\(uid), \(address?.city ?? "-"), \(rank.rawValue)" }
}

// It is right to say it everywhere.
nonisolated enum Level: Int16, AttributeStorable {
    case low = 1
}

@StoredComposite nonisolated struct Place {
    var room: String = ""
}

// The type of a `.codable` attribute belongs to nothing that makes it nonisolated.
nonisolated struct Coordinate: Codable, Sendable {
    var latitude = 0.0
}

@StoredEntity final class Member: ManagedObject {
    @Stored(unique: true) var uid: String
    @Stored(.codable) var location: Coordinate = Coordinate()
    var since: Date = Date()
    @Stored(raw: Int16.self) var rank: Rank = .guest
    @Stored(.composite) var address: Address?
    @Related(inverse: "members") var club: Club?

    var isOld: Bool { since < Date(timeIntervalSinceReferenceDate: 0) }
}

@StoredEntity nonisolated final class Club: ManagedObject {
    var name: String = ""
    @Stored(raw: Int16.self) var level: Level = .low
    @Stored(.composite) var place: Place?
    @Related var members: RelatedObjects<Member>
}

nonisolated extension ManagedObjectModel {
    static let club = ManagedObjectModel("Club") {
        Member.self
        Club.self
    }
}

final class KeyedMembers: KeyedDataSource<ContactData, Member> {
    nonisolated override class var key: ObjectKey<ContactData, Member> { ObjectKey(\.name, \.uid) }

    nonisolated override func update(_ member: Member, from data: ContactData, in context: PrivateContext) {}
}

final class Members: DataSource<ContactData> {
    nonisolated override class var entities: [ManagedObject.Type] { [Member.self, Club.self] }

    nonisolated override func onAdd(_ data: ContactData, in context: PrivateContext) throws -> ManagedObject? {
        let member = try context.findOrInsert(Member.self, where: \.uid, equals: data.name)
        member.address = Address(city: normalized(data.name))
        if member.isOld { member.rank = .member }
        if member.title.isEmpty { return nil }
        member.club = try context.first(Club.self, where: \.name == "Chess")
        return member
    }

    func cities() throws -> [String?] {
        try fetch(Member.self, where: \.club?.name == "Chess").map(\.address?.city)
    }
}
