import CoreDataSource
import ErrorExpectations
import Testing

@StoredEntity final class Locker: ManagedObject {
    var number: Int64 = 0
    @Stored(unique: true) var holder: String?
}

/// Uniqueness constraints on attributes that may have no value.
@MainActor
struct OptionalUniqueTests {
    @Test(arguments: CommittedSavesTests.Place.all)
    func manyObjectsMayHaveNoValue(place: CommittedSavesTests.Place) async throws {
        try await place.withContainer(ManagedObjectModel("Lockers") { Locker.self }) { container in
            let lockers = try container.dataSource(PlainDataSource<Locker>.self)
            @Sendable func add(_ holders: [String?]) async throws {
                try await lockers.perform { context in
                    for holder in holders { try context.insert(Locker.self).holder = holder }
                }
            }
            try await add([nil, nil, "Ann"])
            try await add([nil])
            await expectError(.uniquenessViolated) { try await add(["Ann"]) }
            #expect(try lockers.count(Locker.self) == 4)
            try await lockers.update(Locker.self, where: \.holder == "Ann", set: [.set(\.holder, nil)])
            #expect(try lockers.count(Locker.self, where: \.holder == nil) == 4)
        }
    }
}
