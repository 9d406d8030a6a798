import CoreDataSource
import Foundation
import Testing

/// Many lists of one entity.
@MainActor struct ManyListsTests {
    /// A save asks each list at most a few times, no matter how many lists there are. So the work grows with the lists, and not
    /// with their square.
    @Test(arguments: [1, 30, 300])
    func aSaveAsksEachListAFewTimes(count: Int) async throws {
        try await withContainer(.inMemory) { container, _ in
            let contacts = try container.dataSource(ContactDataSource.self)
            try await contacts.add(contactList(0..<count))
            let lists = try (0..<count).map { number in
                try contacts.list(ObjectRequest(ContactEntity.self, where: \.uid == "uid-\(number)"))
            }
            await container.mainTier.waitForLists()
            let before = container.mainTier.listStepCount
            try await contacts.add(ContactData(uid: "uid-\(count / 2)", name: "new"), waitFor: .main)
            await container.mainTier.waitForLists()
            #expect(container.mainTier.listStepCount - before <= 8 * count + 64)
            for (number, list) in lists.enumerated() {
                #expect(list.object(0)?.name == (number == count / 2 ? "new" : "name \(number)"))
            }
        }
    }

    /// Lists of one query share their rows, also after other lists were released.
    @Test func listsOfOneQueryShareTheirRows() async throws {
        try await withContainer(.inMemory) { container, _ in
            let contacts = try container.dataSource(ContactDataSource.self)
            try await contacts.add(contactList(0..<5))
            @MainActor func list(_ number: Int) throws -> LiveList<ContactEntity> {
                try contacts.list(ObjectRequest(ContactEntity.self, where: \.uid == "uid-\(number)"))
            }
            let kept = try list(0)
            for number in 0..<100 { _ = try list(number) }
            let shared = try (0..<50).map { _ in try list(0) }
            #expect(container.mainTier.followedQueryCount == 1)
            try await contacts.add(ContactData(uid: "uid-0", name: "new"), waitFor: .main)
            await container.mainTier.waitForLists()
            #expect(([kept] + shared).allSatisfy { $0.object(0)?.name == "new" })
        }
    }
}
