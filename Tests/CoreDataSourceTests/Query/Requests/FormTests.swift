import CoreDataSource
import Foundation
import Testing

/// Every way to say which objects, and in which order.
@MainActor @Suite struct FormTests {
    private struct Uid: ManagedObjectConvertible {
        var uid: String

        init(_ contact: ContactEntity) {
            uid = contact.uid
        }
    }

    @Test func everyFormFindsTheSame() async throws {
        try await withContainer { container, _ in
            let contacts = try container.dataSource(ContactDataSource.self)
            try await contacts.add(contactList(0..<20))
            let sort = [SortDescriptor(\ContactEntity.uid)]
            let wanted = "name 7"
            let format = try FetchPredicate<ContactEntity>(format: "name == %@", wanted)
            var found = try contacts.fetch(ContactEntity.self, where: format, order: sort)
            found += try contacts.fetch(ContactEntity.self, where: \.name == wanted, order: sort)
            found += try contacts.fetch(
                ContactEntity.self, where: FetchPredicate(#Predicate { $0.name == wanted }), order: sort)
            found += try contacts.fetch(ObjectRequest(ContactEntity.self, where: \.name == wanted))
            found += try contacts.fetch(
                ObjectRequest(ContactEntity.self, where: FetchPredicate(#Predicate { $0.name == wanted })))
            #expect(found.map(\.uid) == Array(repeating: "uid-7", count: 5))
            #expect(try contacts.count(ContactEntity.self, where: \.name != wanted) == 19)
            #expect(
                try contacts.count(ContactEntity.self, where: FetchPredicate(#Predicate { $0.name != wanted })) == 19)
            let inContext = try await contacts.perform { context in
                [
                    try context.fetch(ContactEntity.self, where: \.name == wanted).count,
                    try context.count(ContactEntity.self, where: \.name == wanted),
                ]
            }
            #expect(inContext == [1, 1])
            let byMacro = try await contacts.perform { context in
                let found = try context.fetch(
                    ContactEntity.self, where: FetchPredicate(#Predicate { $0.name == wanted }))
                return try found.count
                    + context.count(ContactEntity.self, where: FetchPredicate(#Predicate { $0.name == wanted }))
            }
            #expect(byMacro == 2)
            let request = ObjectRequest(
                ContactEntity.self, where: .beginsWith(\.uid, "uid-1"), order: [.descending(\.uid)],
                limit: 2)
            #expect(try await contacts.fetch(as: Uid.self, request).map(\.uid) == ["uid-19", "uid-18"])
            #expect(try container.main.fetch(as: Uid.self, request).map(\.uid) == ["uid-19", "uid-18"])
        }
    }

    @Test func sortDescriptorsSortLexicallyWhateverTheySay() {
        let orders = [
            FetchOrder(SortDescriptor(\ContactEntity.name)),
            FetchOrder(SortDescriptor(\ContactEntity.name, comparator: .lexical)),
        ]
        #expect(orders == [.ascending(\ContactEntity.name), .ascending(\ContactEntity.name)])
        #expect(
            FetchOrder(SortDescriptor(\ContactEntity.phone, comparator: .lexical, order: .reverse))
                == .descending(\ContactEntity.phone))
    }

    /// The function that was generated for a fetch request of the model.
    @Test(arguments: [false, true])
    func aFetchRequestOfTheModelIsAFunction(isInMemory: Bool) async throws {
        let directory = try TemporaryDirectory()
        let container = try await PersistentContainer(
            model: .allTypes, store: isInMemory ? .inMemory : .sqlite(directory.store))
        let places = try container.dataSource(PlainDataSource<Place>.self)
        try await places.perform { context in
            for number in 0..<50 {
                let place = try context.insert(Place.self)
                place.title = number % 2 == 0 ? "" : "place \(number)"
                place.origin = Coordinate(latitude: 1, longitude: 2)
            }
        }
        let found = try places.fetch(Place.fetchRequestTitledPlaces())
        #expect(found.map(\.title) == (0..<20).map { "place \($0 * 2 + 1)" })
        try await container.close()
    }

    @Test func objectsAreFoundByTheirClass() async throws {
        let container = try await PersistentContainer(model: .chat, store: .inMemory)
        let rooms = try container.dataSource(RoomDataSource.self)
        let messages = try container.dataSource(MessageDataSource.self)
        try await rooms.add((0..<4).map { ItemData(key: "room \($0)", number: $0, text: nil) })
        try await messages.perform { context in
            for number in 0..<4 {
                let message = try context.insert(Message.self)
                message.key = "message \(number)"
                (message.number, message.sequence) = (Int64(number), Int64(number))
                message.room = "room \(number / 2)"
            }
        }
        func find(_ predicate: Predicate<Item>) throws -> [String] {
            try rooms.fetch(Item.self, where: FetchPredicate(predicate), order: [SortDescriptor(\.key)]).map(\.key)
        }
        #expect(try find(#Predicate { $0 is Room && $0.number > 1 }) == ["room 2", "room 3"])
        #expect(try find(#Predicate { !($0 is Room) && $0.number > 2 }) == ["message 3"])
        #expect(try find(#Predicate { ($0 as? Message)?.room == "room 1" }) == ["message 2", "message 3"])
        #expect(
            try find(#Predicate { if let message = $0 as? Message { message.number == 0 } else { $0.number == 3 } })
                == ["message 0", "room 3"])
        #expect(try find(#Predicate { ($0 as? Message)?.room == nil && $0.number == 2 }) == ["room 2"])
        try await container.close()
    }
}
