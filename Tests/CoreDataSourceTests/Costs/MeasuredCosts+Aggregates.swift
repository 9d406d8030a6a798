import CoreDataSource
import TestSupport
import Testing

/// A change of one of 1,000 objects that a live count and live aggregates follow. It reads no rows.
@MainActor
func costsOfAggregates() async throws -> [Cost] {
    let counting = try CountedStore()
    let contacts = try counting.container.dataSource(ContactDataSource.self)
    try await contacts.add(contactList(0..<1_000))
    let named = ObjectRequest(ContactEntity.self, where: .beginsWith(\.name, "name"))
    let count = try contacts.liveAggregate(named, .count())
    let totals = try contacts.liveAggregate(ObjectRequest(ContactEntity.self), .count(), .max(\.name))
    let cost = try await counting.cost("edit one of 1,000 with a live count and two live aggregates") {
        try await contacts.add(ContactData(uid: "uid-7", name: "other"), waitFor: .main)
        await counting.container.mainTier.waitForLists()
    }
    #expect(count.value == 999 && totals.value.0 == 1_000 && totals.value.1 == "other")
    try await counting.container.close()
    return [cost]
}
