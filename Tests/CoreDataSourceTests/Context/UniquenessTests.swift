import CoreDataSource
import ErrorExpectations
import Testing

@MainActor
struct UniquenessTests {
    @Test(arguments: StoreKind.allCases)
    func twoEqualValuesInOneSaveAreRefused(kind: StoreKind) async throws {
        try await withContainer(kind) { container, _ in
            let contacts = try container.dataSource(ContactDataSource.self)
            let error = await expectError(.uniquenessViolated) {
                try await contacts.perform { context in
                    for _ in 0..<2 {
                        let contact = try context.insert(ContactEntity.self)
                        contact.uid = "same"
                    }
                }
            }
            #expect(error?.attributeName == "uid")
            #expect(try contacts.count(ContactEntity.self) == 0)
        }
    }

    /// Whatever is registered or not, the store is asked if need be.
    @Test(arguments: [0, 300_000])
    func aStoredValueIsFound(registeredObjectByteLimit: Int) async throws {
        let configuration = PersistentContainer.Configuration(registeredObjectByteLimit: registeredObjectByteLimit)
        try await withContainer(configuration: configuration) { container, _ in
            let contacts = try container.dataSource(ContactDataSource.self)
            try await contacts.add(contactList(0..<100))
            await expectError(.uniquenessViolated) {
                try await contacts.perform { try $0.insert(ContactEntity.self).uid = "uid-42" }
            }
        }
    }

    /// Core Data cannot: the rows would collide on their way.
    @Test(arguments: StoreKind.allCases)
    func valuesCanBeSwappedInOneSave(kind: StoreKind) async throws {
        try await withContainer(kind) { container, _ in
            let contacts = try container.dataSource(ContactDataSource.self)
            try await contacts.add([ContactData(uid: "a", name: "1"), ContactData(uid: "b", name: "2")])
            try await contacts.perform { context in
                let one = try context.first(ContactEntity.self, where: \.uid, equals: "a")
                let two = try context.first(ContactEntity.self, where: \.uid, equals: "b")
                one?.uid = "b"
                two?.uid = "a"
            }
            #expect(try contacts.main.first(ContactEntity.self, where: \.uid == "a")?.name == "2")
            #expect(try contacts.main.first(ContactEntity.self, where: \.uid == "b")?.name == "1")
        }
    }

    @Test(arguments: StoreKind.allCases)
    func aDeletedObjectsValueIsFreeInTheSameSave(kind: StoreKind) async throws {
        try await withContainer(kind) { container, _ in
            let contacts = try container.dataSource(ContactDataSource.self)
            try await contacts.add(ContactData(uid: "a", name: "old"))
            try await contacts.perform { context in
                if let old = try context.first(ContactEntity.self, where: \.uid, equals: "a") { context.delete(old) }
                let new = try context.findOrInsert(ContactEntity.self, where: \.uid, equals: "a")
                new.name = "new"
            }
            #expect(try contacts.fetch(ContactEntity.self).map(\.name) == ["new"])
        }
    }

    @Test func twoAttributesTogetherMustBeUnique() async throws {
        let container = try await PersistentContainer(model: .chat, store: .inMemory)
        let messages = try container.dataSource(MessageDataSource.self)
        @Sendable func add(_ key: String, _ room: String?, _ sequence: Int64) async throws {
            try await messages.perform { context in
                let message = try context.insert(Message.self)
                message.key = key
                message.room = room
                message.sequence = sequence
            }
        }
        try await add("1", "a", 1)
        try await add("2", "a", 2)
        try await add("3", "b", 1)
        try await add("4", nil, 1)
        try await add("5", nil, 1)
        await expectError(.uniquenessViolated) { try await add("6", "a", 2) }
        #expect(try container.main.count(Message.self) == 5)
    }

    /// The constraint is the parent's, so it holds across the tables of its sub-entities.
    @Test func aParentsConstraintHoldsInTheWholeFamily() async throws {
        let container = try await PersistentContainer(model: .chat, store: .inMemory)
        let everything = try container.dataSource(PlainDataSource<Item>.self)
        try await everything.perform { try $0.insert(Room.self).key = "same" }
        await expectError(.uniquenessViolated) {
            try await everything.perform { try $0.insert(Sender.self).key = "same" }
        }
    }

    /// Canonical equivalence is for readers; keys are bytes, in memory as in the store.
    @Test(arguments: StoreKind.allCases)
    func keysAreComparedByteByByte(kind: StoreKind) async throws {
        try await withContainer(kind) { container, _ in
            let contacts = try container.dataSource(ContactDataSource.self)
            try await contacts.add([
                ContactData(uid: "\u{E9}", name: "composed"), ContactData(uid: "e\u{301}", name: "decomposed"),
            ])
            #expect(try contacts.count(ContactEntity.self) == 2)
            #expect(try contacts.main.first(ContactEntity.self, where: \.uid == "e\u{301}")?.name == "decomposed")
        }
    }
}
