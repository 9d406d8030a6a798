import CoreDataSource
import ErrorExpectations
import SQLiteStore
import Testing

private final class KeyedContacts: KeyedDataSource<ContactData, ContactEntity> {
    override class var key: ObjectKey<ContactData, ContactEntity> { ObjectKey(\.uid, \.uid) }

    override func update(_ contact: ContactEntity, from data: ContactData, in context: PrivateContext) throws {
        if data.name == "poison" { throw Poison() }
        contact.name = data.name
        contact.phone = data.phone
    }
}

/// By a key without a uniqueness constraint.
private final class NamedContacts: KeyedDataSource<ContactData, ContactEntity> {
    override class var key: ObjectKey<ContactData, ContactEntity> { ObjectKey(\.name, \.phone) }

    override func update(_ contact: ContactEntity, from data: ContactData, in context: PrivateContext) {
        contact.uid = data.uid
    }
}

/// What follows from a key on each side.
@MainActor @Suite struct KeyedDataSourceTests {
    @Test(arguments: StoreKind.allCases)
    func addingDeletingAndSyncingFollowFromTheKey(_ kind: StoreKind) async throws {
        try await withContainer(kind) { container, _ in
            let contacts = try container.dataSource(KeyedContacts.self)
            #expect(KeyedContacts.entities.map(\.entityName) == ["ContactEntity"])
            #expect(try await contacts.add(contactList(0..<10)) == SaveReport(inserted: 10))
            #expect(try await contacts.add(contactList(0..<10)) == SaveReport())
            #expect(try await contacts.add(contactList(9..<11) { "new \($0)" }) == SaveReport(inserted: 1, updated: 1))
            #expect(try await contacts.delete(contactList(0..<2) + contactList(50..<60)) == SaveReport(deleted: 2))
            try await contacts.sync(contactList(2..<9) + contactList(9..<11) { "new \($0)" })
            let report = try await contacts.sync(contactList(5..<20))
            #expect((report.inserted, report.updated, report.unchanged, report.deleted) == (9, 2, 4, 3))
            #expect(
                Set(try contacts.main.values(ObjectRequest(ContactEntity.self), \.uid))
                    == Set(contactList(5..<20).map(\.uid)))
        }
    }

    @Test func aHookThatThrowsLeavesNothing() async throws {
        try await withContainer { container, _ in
            let contacts = try container.dataSource(KeyedContacts.self)
            await expectThrows(Poison.self) {
                try await contacts.add(contactList(0..<5) { $0 == 3 ? "poison" : "name" })
            }
            #expect(try contacts.count(ContactEntity.self) == 0)
        }
    }

    @Test func aValueThatComesTwiceIsOneObject() async throws {
        try await withContainer { container, _ in
            let contacts = try container.dataSource(KeyedContacts.self)
            let list = contactList(0..<1500) + contactList(0..<1500) { "again \($0)" }
            #expect(try await contacts.add(list) == SaveReport(inserted: 1500))
            #expect(try contacts.count(ContactEntity.self, where: .beginsWith(\.name, "again")) == 1500)
        }
    }

    /// How many statements the hooks of a batch make the store run before the batch is saved.
    private func statements<Source: KeyedDataSource<ContactData, ContactEntity>>(
        _ container: PersistentContainer, _ source: Source, _ list: [ContactData]
    ) async throws -> Int {
        let counters = try #require(container.stack.root.store as? SQLiteStore).counters
        return try await source.perform { context in
            let before = counters.statementsRun
            try source.prepare(list, in: context)
            for data in list { _ = try source.onAdd(data, in: context) }
            return counters.statementsRun - before
        }
    }

    /// One statement for each 1,000 values and not for each value, whether their objects are there or not.
    @Test func theObjectsOfABatchAreLookedUpTogether() async throws {
        try await withContainer(configuration: .uncached) { container, _ in
            let contacts = try container.dataSource(KeyedContacts.self)
            try await contacts.add(contactList(0..<5000))
            #expect(try await statements(container, contacts, contactList(3000..<6000) { "new \($0)" }) == 3)
            #expect(try contacts.count(ContactEntity.self, where: .beginsWith(\.name, "new")) == 3000)
        }
    }

    @Test func aKeyWithoutAConstraintIsLookedUpTogetherToo() async throws {
        try await withContainer(configuration: .uncached) { container, _ in
            let contacts = try container.dataSource(NamedContacts.self)
            try await contacts.add(contactList(0..<2500))
            let again = contactList(0..<2500).map { ContactData(uid: "x" + $0.uid, name: $0.name) }
            #expect(try await statements(container, contacts, again) == 3)
            #expect(try contacts.count(ContactEntity.self) == 2500)
            #expect(try contacts.count(ContactEntity.self, where: .beginsWith(\.uid, "x")) == 2500)
        }
    }

    /// Of a value that thousands of rows have, only the first one is looked for.
    @Test func aCommonValueDoesNotRegisterAllRowsThatHaveIt() async throws {
        try await withContainer(configuration: .uncached) { container, _ in
            let contacts = try container.dataSource(KeyedContacts.self)
            try await contacts.add(
                (0..<3000).map { ContactData(uid: "\($0)", name: "", phone: $0 == 2999 ? "rare" : "common") })
            try await contacts.perform { context in
                try context.preload(ContactEntity.self, where: \.phone, in: ["common", "rare", "none"])
                #expect(context.registeredObjectCount <= 12)
                #expect(try context.first(ContactEntity.self, where: \.phone, equals: "common")?.uid == "0")
                #expect(try context.first(ContactEntity.self, where: \.phone, equals: "rare")?.uid == "2999")
                #expect(try context.first(ContactEntity.self, where: \.phone, equals: "none") == nil)
            }
        }
    }

    /// What a batch has changed or deleted before counts, not what the store has.
    @Test func preloadingTakesTheEditsOfTheBatchIntoAccount() async throws {
        try await withContainer(configuration: .uncached) { container, _ in
            let contacts = try container.dataSource(KeyedContacts.self)
            try await contacts.add(contactList(0..<100))
            try await contacts.perform { context in
                let moved = try #require(try context.first(ContactEntity.self, where: \.uid, equals: "uid-1"))
                moved.uid = "moved"
                context.delete(try #require(try context.first(ContactEntity.self, where: \.uid, equals: "uid-2")))
                try context.preload(
                    ContactEntity.self, where: \.uid, in: (0..<200).map { "uid-\($0)" } + ["moved"])
                #expect(try context.first(ContactEntity.self, where: \.uid, equals: "uid-1") == nil)
                #expect(try context.first(ContactEntity.self, where: \.uid, equals: "uid-2") == nil)
                #expect(try context.first(ContactEntity.self, where: \.uid, equals: "moved") === moved)
                #expect(try context.first(ContactEntity.self, where: \.uid, equals: "uid-3") != nil)
                #expect(try context.first(ContactEntity.self, where: \.uid, equals: "uid-150") == nil)
                let new = try context.findOrInsert(ContactEntity.self, where: \.uid, equals: "uid-150")
                #expect(try context.first(ContactEntity.self, where: \.uid, equals: "uid-150") === new)
            }
            #expect(try contacts.count(ContactEntity.self) == 100)
        }
    }
}
