import CoreDataSource
import TestSupport
import Testing

/// What it costs to register objects, by their keys.
@MainActor
struct RegisteringTests {
    /// The keys between two parts of the contacts were given to groups, so that both parts begin at the same place of a table of 1,024
    /// slots.
    @Test func keysThatAreACapacityApartDoNotPileUp() async throws {
        try await withContainer(.sqlite) { container, _ in
            let contacts = try container.dataSource(ContactDataSource.self)
            let groups = try container.dataSource(GroupDataSource.self)
            try await contacts.add(contactList(0..<400))
            try await groups.add((0..<624).map { GroupData(gid: "\($0)", name: "") })
            try await contacts.add(contactList(400..<800))
            let all = try contacts.fetch(ContactEntity.self, order: [.ascending(\.uid, [.numeric])])
            let keys = all.map(\.objectID.key)
            #expect(keys[400] - keys[0] == 1024 && keys[799] - keys[0] == 1423)
            // Without scattering, each of the second 400 passes the first 400.
            #expect(container.main.registrationProbeCount < 20_000)
            for object in all { #expect(try contacts.main.object(ContactEntity.self, id: object.objectID) === object) }
        }
    }

    /// A reset moves the objects of each entity, in the order of their slots, from one table to another one.
    @Test(arguments: [3_800, 7_400, 14_500])
    func resettingRegisteredObjectsTakesLinearTime(count: Int) async throws {
        let container = try await PersistentContainer(model: .chat, store: .inMemory)
        let senders = try container.dataSource(SenderDataSource.self)
        let rooms = try container.dataSource(RoomDataSource.self)
        let messages = try container.dataSource(MessageDataSource.self)
        var random = SeededRandom(seed: 1)
        for part in stride(from: 0, to: count, by: 3) {
            let items = (part..<part + 3).map { ItemData(key: "\($0)", number: Int64($0)) }
            switch random.next(below: 3) {
            case 0: try await senders.add(items)
            case 1: try await rooms.add(items)
            default: try await messages.add(items)
            }
        }
        let all = try container.main.fetch(Item.self)
        try await container.reset()
        #expect(try container.main.count(Item.self) == 0 && all.allSatisfy(\.isDeleted))
        #expect(container.mainTier.deletedObjectProbeCount < 40 * count)
        try await container.close()
    }
}
