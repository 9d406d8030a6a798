#if PostgreSQL
import CoreDataSource
import ErrorExpectations
import PostgreSQLStore
import TestSupport
import Testing

private final class KeyedContacts: KeyedDataSource<ContactData, ContactEntity> {
    override class var key: ObjectKey<ContactData, ContactEntity> { ObjectKey(\.uid, \.uid) }

    override func update(_ contact: ContactEntity, from data: ContactData, in context: PrivateContext) {
        contact.name = data.name
        contact.phone = data.phone
    }
}

/// Two constraints, of which a hook looks up one.
@StoredEntity(unique: [["batch", "number"]])
final class Parcel: ManagedObject {
    @Stored(unique: true) var code: String
    var batch: String = ""
    var number: Int64 = 0
}

private final class ParcelDataSource: DataSource<Int> {
    override class var entities: [ManagedObject.Type] { [Parcel.self] }

    override func prepare(_ numbers: [Int], in context: PrivateContext) throws {
        try context.preload(Parcel.self, where: \.code, in: numbers.map { "\($0)" })
    }

    /// The batch has at most a thousand numbers, so that two values with the same remainder are in conflict.
    override func onAdd(_ number: Int, in context: PrivateContext) throws -> ManagedObject? {
        let parcel = try context.findOrInsert(Parcel.self, where: \.code, equals: "\(number)")
        (parcel.batch, parcel.number) = ("a", Int64(number % 1_000))
        return parcel
    }
}

/// How often those who wait for a server wait for it.
@MainActor
@Suite(
    .enabled(if: PostgreSQLServer.isInstalled, "PostgreSQL is not installed; Scripts/prepare --postgresql installs it.")
)
struct ServerRoundTripTests {
    private func counters(_ container: PersistentContainer) throws -> PostgreSQLCounters {
        try #require(container.stack.root.store as? PostgreSQLStore).counters
    }

    /// How many round trips the call makes, with its commit.
    private func roundTrips(_ container: PersistentContainer, _ body: () async throws -> Void) async throws -> Int {
        let counters = try counters(container)
        let before = counters.roundTrips
        try await body()
        return counters.roundTrips - before
    }

    /// At most one for each 1,000 values, and what one save of one value takes.
    @Test func aSyncOfAKeyedDataSourceLooksItsValuesUpTogether() async throws {
        let place = try SharedPlace(.postgreSQL)
        let container = try place.open(configuration: .uncached)
        let contacts = try container.dataSource(KeyedContacts.self)
        try await contacts.sync(contactList(0..<10_000))
        let one = try await roundTrips(container) { try await contacts.add(contactList(0..<1) { _ in "changed" }) }
        let again = try await roundTrips(container) { try await contacts.sync(contactList(0..<10_000)) }
        #expect(again <= 10 + one, "\(one) for one value")
        let changed = try await roundTrips(container) {
            let report = try await contacts.sync(contactList(100..<10_100) { $0 % 100 == 0 ? "new" : "name \($0)" })
            #expect((report.inserted, report.deleted) == (100, 100))
        }
        #expect(changed <= 10 + one, "\(one) for one value")
        // Rows that are sent while hooks run take round trips of their own.
        let new = try await roundTrips(container) {
            try await contacts.sync(contactList(10_100..<30_100), deleting: .all)
        }
        #expect(new <= 2 * 20 + one + 4, "\(one) for one value")
        #expect(contacts.diagnostics.isEmpty)
        try await container.close()
    }

    /// Each constraint of a new object is checked, but not with a round trip of its own.
    @Test func uniqueValuesOfManyObjectsAreCheckedTogether() async throws {
        let place = try SharedPlace(.postgreSQL)
        let model = ManagedObjectModel("Parcels") { Parcel.self }
        let container = try place.open(model: model, configuration: .uncached)
        let parcels = try container.dataSource(ParcelDataSource.self)
        let one = try await roundTrips(container) { try await parcels.add(Array(0..<1)) }
        let some = try await roundTrips(container) { try await parcels.add(Array(1..<600)) }
        // Three queries of 256 values, each in a transaction of its own.
        #expect(some <= one + 20, "\(one) for one value")
        // One of the values is stored, and two of the same save are equal.
        for values in [Array(600..<700) + [1_300], Array(600..<700) + [1_601]] {
            await expectError(.uniquenessViolated) { try await parcels.add(values) }
        }
        try await parcels.add(Array(500..<700))
        #expect(try parcels.count(Parcel.self) == 700)
        try await container.close()
    }

    /// A hook that looks for one value at a time gets a diagnostic, with what to do.
    @Test func lookingUpOneByOneIsReported() async throws {
        let place = try SharedPlace(.postgreSQL)
        let container = try place.open(configuration: .uncached)
        let contacts = try container.dataSource(ContactDataSource.self)
        try await contacts.add(contactList(0..<500))
        let (one, some) = (
            try await roundTrips(container) { try await contacts.add(contactList(0..<1)) },
            try await roundTrips(container) { try await contacts.add(contactList(400..<410)) }
        )
        #expect(some > one)
        #expect(contacts.diagnostics.isEmpty)
        try await contacts.add(contactList(450..<500))
        let remark = try #require(contacts.diagnostics.first)
        #expect(remark.attributeName == "uid")
        #expect(remark.message.contains("round trip"))
        let request = ObjectRequest(ContactEntity.self, where: \.uid == "uid-7")
        let warnings = try await contacts.perform { try $0.explain(request).warnings }
        #expect(warnings == [remark.message])
        #expect(try contacts.main.explain(request).warnings == [])
        try await container.close()
    }
}
#endif
