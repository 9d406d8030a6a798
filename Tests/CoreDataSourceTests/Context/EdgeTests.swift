import CoreDataSource
import Foundation
import RowStore
import Testing

/// Arguments that nobody thinks of.
@MainActor
struct EdgeTests {
    /// It trapped.
    @Test(arguments: StoreKind.allCases)
    func theHighestLimitIsNoLimit(kind: StoreKind) async throws {
        try await withContainer(kind) { container, _ in
            let contacts = try container.dataSource(ContactDataSource.self)
            try await contacts.add(contactList(0..<3))
            #expect(try contacts.fetch(ContactEntity.self, limit: .max).count == 3)
            #expect(try contacts.fetch(ContactEntity.self, limit: .max, offset: .max).isEmpty)
            #expect(try contacts.fetch(ContactEntity.self, offset: .max).isEmpty)
            let counts = try await contacts.perform { context in
                try context.insert(ContactEntity.self).uid = "one more"
                return [
                    try context.fetch(ContactEntity.self, limit: .max, offset: 1).count,
                    try context.fetch(BaseEntity.self, limit: .max, offset: 1).count,
                ]
            }
            #expect(counts == [3, 3])
        }
    }

    /// It trapped.
    @Test func anIDOfAnotherModelFindsNothing() async throws {
        let chat = try await PersistentContainer(model: .chat, store: .inMemory)
        let senders = try chat.dataSource(SenderDataSource.self)
        let id = try await senders.perform { context in
            let sender = try context.insert(Sender.self)
            sender.key = "a"
            return sender.objectID
        }
        try await withContainer { container, _ in
            let contacts = try container.dataSource(ContactDataSource.self)
            #expect(try container.main.object(ContactEntity.self, id: id) == nil)
            let isFound = try await contacts.perform { try $0.object(ContactEntity.self, id: id) != nil }
            #expect(!isFound)
        }
    }

    /// After the batch was rolled back, a second object stood for the row, and both were saved.
    @Test func oneObjectStandsForARowAfterARollback() async throws {
        try await withContainer(configuration: .init(registeredObjectByteLimit: 0)) { container, _ in
            let contacts = try container.dataSource(ContactDataSource.self)
            try await contacts.add(contactList(0..<2))
            let report = try await contacts.perform { context in
                let one = try context.first(ContactEntity.self, where: \.uid, equals: "uid-1")
                one?.name = "rolled back"
                context.rollback()
                one?.name = "kept"
                let other = try context.first(ContactEntity.self, where: \.uid, equals: "uid-1")
                #expect(one === other)
                #expect(other?.name == "kept")
                return try context.count(ContactEntity.self, where: \ContactEntity.name == "kept")
            }
            #expect(report == 1)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func aLongChainOfAlternativesIsNoTrap(kind: StoreKind) async throws {
        try await withContainer(kind) { container, _ in
            let contacts = try container.dataSource(ContactDataSource.self)
            try await contacts.add(contactList(0..<3))
            var wanted = \ContactEntity.uid == "uid-1"
            for number in 0..<5_000 { wanted = wanted || \ContactEntity.uid == "x\(number)" }
            let predicate = wanted
            #expect(try contacts.count(ContactEntity.self, where: predicate) == 1)
            let count = try await contacts.perform { try $0.fetch(ContactEntity.self, where: predicate).count }
            #expect(count == 1)
        }
    }

    /// A hook that clears a value and sets it again used to make the cached row longer at each sync.
    @Test func rowsDoNotGrowFromEditsThatChangeNothing() async throws {
        let length = try await lengthOfRow { contacts in
            for _ in 0..<200 {
                try await contacts.perform { context in
                    let contact = try context.first(ContactEntity.self, where: \.uid, equals: "a")
                    contact?.phone = nil
                    contact?.phone = "1"
                }
            }
        }
        #expect(length < 512)
    }

    @Test func rowsDoNotKeepWhatWasEditedAway() async throws {
        let length = try await lengthOfRow { contacts in
            for length in 1...100 {
                try await contacts.perform { context in
                    let contact = try context.first(ContactEntity.self, where: \.uid, equals: "a")
                    contact?.name = String(repeating: "n", count: length * 8)
                    contact?.phone = String(repeating: "p", count: length * 8)
                }
            }
        }
        #expect(length < 8 * 1024)
    }

    /// The bytes that a row takes after it was edited in that way.
    private func lengthOfRow(_ edit: (ContactDataSource) async throws -> Void) async throws -> Int {
        let container = try await PersistentContainer(model: .contacts, store: .inMemory)
        let contacts = try container.dataSource(ContactDataSource.self)
        try await contacts.add(ContactData(uid: "a", name: "n", phone: "1"))
        try await edit(contacts)
        try await contacts.perform { try $0.first(ContactEntity.self, where: \.uid, equals: "a")?.age = 1 }
        let entity = try #require(container.stack.layout.entity(named: "ContactEntity")).index
        return try container.stack.root.store.read(.statement) { (reader) throws(DataSourceError) in
            try reader.rows(RowQuery(entity: entity)).reduce(0) { $0 + $1.row.byteCount }
        }
    }
}
