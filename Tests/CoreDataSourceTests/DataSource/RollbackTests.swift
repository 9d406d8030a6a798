import CoreDataSource
import ErrorExpectations
import Testing

@MainActor
struct RollbackTests {
    @Test(arguments: StoreKind.allCases)
    func aHookThatThrowsRollsTheWholeBatchBack(kind: StoreKind) async throws {
        try await withContainer(kind) { container, _ in
            let contacts = try container.dataSource(ContactDataSource.self)
            try await contacts.add(contactList(0..<200))
            let shown = try contacts.fetch(ContactEntity.self)
            let batch = contactList(100..<1100) { $0 == 600 ? "poison" : "edited" }
            await expectThrows(Poison.self) { try await contacts.add(batch) }

            #expect(try contacts.count(ContactEntity.self) == 200)
            #expect(shown.map(\.name) == contactList(0..<200).map(\.name))
            let inContext = try await contacts.perform { try $0.fetch(ContactEntity.self).map(\.name) }
            #expect(inContext == contactList(0..<200).map(\.name))
            #expect(container.pendingSaveCount == 0)
            let report = try await contacts.add(contactList(0..<201))
            #expect(report == SaveReport(inserted: 1))
        }
    }

    @Test func deletedObjectsAreBackAfterAThrow() async throws {
        try await withContainer { container, _ in
            let contacts = try container.dataSource(ContactDataSource.self)
            try await contacts.add(contactList(0..<3))
            await expectThrows(Poison.self) {
                try await contacts.perform { context in
                    for contact in try context.fetch(ContactEntity.self) { context.delete(contact) }
                    throw Poison()
                }
            }
            #expect(try await contacts.perform { try $0.count(ContactEntity.self) } == 3)
            try await contacts.delete(contactList(0..<2))
            #expect(try contacts.count(ContactEntity.self) == 1)
        }
    }

    @Test func aUniqueValueThatWasRolledBackIsFree() async throws {
        try await withContainer { container, _ in
            let contacts = try container.dataSource(ContactDataSource.self)
            try await contacts.add(ContactData(uid: "a", name: "n"))
            await expectThrows(Poison.self) {
                try await contacts.perform { context in
                    try context.first(ContactEntity.self, where: \.uid, equals: "a")?.uid = "b"
                    _ = try context.findOrInsert(ContactEntity.self, where: \.uid, equals: "c")
                    throw Poison()
                }
            }
            let found = try await contacts.perform { context in
                try ["a", "b", "c"].map { try context.exists(ContactEntity.self, where: \.uid == $0) }
            }
            #expect(found == [true, false, false])
        }
    }

    @Test func aCancelledTaskSavesNothing() async throws {
        try await withContainer { container, _ in
            let contacts = try container.dataSource(ContactDataSource.self)
            let task = Task {
                withUnsafeCurrentTask { $0?.cancel() }
                try await contacts.add(contactList(0..<10))
            }
            await expectThrows(CancellationError.self) { try await task.value }
            #expect(try contacts.count(ContactEntity.self) == 0)
        }
    }
}
