import CoreDataSource
import CoreDataSourceActiveRecord
import ErrorExpectations
import Testing

@MainActor
struct ChainingTests {
    @Test func aWriteIsReadInTheSameChain() async throws {
        try await withContainer { container, _ in
            let contacts = try container.dataSource(ContactDataSource.self)
            var counts: [Int] = []
            try contacts
                .writeSync { try $0.insert(ContactEntity.self).uid = "a" }
                .read { counts.append(try $0.count(ContactEntity.self)) }
                .writeSync { context in
                    for contact in try context.fetch(ContactEntity.self) { context.delete(contact) }
                }
                .read { counts.append(try $0.count(ContactEntity.self)) }
            #expect(counts == [1, 0])
        }
    }

    /// Skopelos never called back when the write failed.
    @Test func aFailedWriteCallsBack() async throws {
        try await withContainer { container, _ in
            let contacts = try container.dataSource(ContactDataSource.self)
            let outcome: Result<Void, any Error> = await withCheckedContinuation { continuation in
                contacts.writeAsync { _ in
                    throw Poison()
                } callback: {
                    continuation.resume(returning: $0)
                }
            }
            expectThrows(Poison.self) { try outcome.get() }
        }
    }

    @Test func aFailedWriteWithoutACallbackIsReported() async throws {
        try await withContainer { container, _ in
            let contacts = try container.dataSource(ReportingContactDataSource.self)
            var failures = container.failures.makeAsyncIterator()
            contacts.writeAsync { _ in throw Poison() }
            let failure = try #require(await failures.next())
            #expect(failure.kind == .writeFailed && failure.dataSourceName == "ReportingContactDataSource")
            #expect(failure.error.code == .writeFailed && failure.error.cause == "Poison()")
            var reported = contacts.reported.stream.makeAsyncIterator()
            #expect(await reported.next() == .writeFailed)
        }
    }

    @Test func aWriteWithoutACallbackIsSaved() async throws {
        try await withContainer { container, _ in
            let contacts = try container.dataSource(ContactDataSource.self)
            // Writes are made in their order.
            try contacts.writeAsync { try ContactEntity.create(in: $0).uid = "a" }
                .writeSync { try ContactEntity.first(in: $0)?.name = "Guan Yu" }
            #expect(try contacts.fetch(ContactEntity.self).map(\.name) == ["Guan Yu"])
        }
    }

    @Test(arguments: StoreKind.allCases)
    func nukingADataSourceDeletesWhatItOwnsAndNothingElse(_ kind: StoreKind) async throws {
        try await withContainer(kind) { container, _ in
            let contacts = try container.dataSource(ContactDataSource.self)
            let groups = try container.dataSource(GroupDataSource.self)
            try await contacts.add(contactList(0..<300))
            try await groups.add(GroupData(gid: "g", name: "Shu"))
            let held = try contacts.fetch(ContactEntity.self)
            let left = try await contacts.nuke().count(ContactEntity.self)
            #expect(left == 0 && held.allSatisfy(\.isDeleted))
            #expect(try groups.count(GroupEntity.self) == 1)
        }
    }

    @Test func nukingADataSourceOfAFamilyDeletesEachOfItsEntities() async throws {
        let container = try await PersistentContainer(model: .chat, store: .inMemory)
        let items = try container.dataSource(AllItemsDataSource.self)
        try items.writeSync { context in
            try Room.create(in: context).key = "r"
            try Sender.create(in: context).key = "s"
        }
        try await items.nuke()
        #expect(try items.count(Item.self) == 0)
        try await container.close()
    }
}

/// Owns every entity of the chat model.
private final class AllItemsDataSource: DataSource<ItemData> {
    override class var entities: [ManagedObject.Type] { [Item.self] }
}

/// Passes on its failures.
private final class ReportingContactDataSource: DataSource<ContactData> {
    nonisolated let reported = AsyncStream.makeStream(of: StoreFailure.Kind.self)

    override class var entities: [ManagedObject.Type] { [ContactEntity.self] }

    override nonisolated func handleError(_ failure: StoreFailure) { reported.continuation.yield(failure.kind) }
}
