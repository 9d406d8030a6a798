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
            #expect(container.main.registeringSteps < 20_000)
            for object in all { #expect(try contacts.main.object(ContactEntity.self, id: object.objectID) === object) }
        }
    }
}
