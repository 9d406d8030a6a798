import CoreDataSource
import TestSupport
import Testing

/// Objects that are looked up in the order in which they were inserted, where the next one is guessed.
struct LookupOrderTests {
    @Test func anOrderIsAStepThatComesTwice() {
        var order = LookupOrder()
        #expect(order.nextKey == nil)
        for key: Int64 in [5, 8] { order.record(key) }
        #expect(order.nextKey == nil)
        order.record(11)
        #expect(order.nextKey == 14)
        order.record(12)
        #expect(order.nextKey == nil)
        order.record(13)
        #expect(order.nextKey == 14)
        for key: Int64 in [20, 10, 0] { order.record(key) }
        #expect(order.nextKey == -10)
        for key in [Int64.min, 0, .max, -1] { order.record(key) }
    }

    @Test(arguments: StoreKind.allCases)
    func aGuessIsNeverTakenForTheObject(kind: StoreKind) async throws {
        try await withContainer(kind) { container, _ in
            let contacts = try container.dataSource(ContactDataSource.self)
            try await contacts.add(contactList(0..<40))
            try await contacts.perform { context in
                func find(_ number: Int) throws -> ManagedObject? {
                    try context.first(ContactEntity.self, where: \.uid, equals: "uid-\(number)")
                }
                let all = try context.fetch(ContactEntity.self, order: [.ascending(\.uid, [.numeric])])
                for number in 0..<10 { #expect(try find(number) === all[number]) }
                // The next ones are gone, or have the value of their neighbour.
                context.delete(all[10])
                (all[12].uid, all[13].uid) = ("uid-13", "uid-12")
                all[15].uid = "other"
                let expected = (0..<40).map { number -> ManagedObject? in
                    switch number {
                    case 10, 15: nil
                    case 12: all[13]
                    case 13: all[12]
                    default: all[number]
                    }
                }
                for number in 0..<40 { #expect(try find(number) === expected[number]) }
                for number in (0..<40).reversed() { #expect(try find(number) === expected[number]) }
                for number in stride(from: 0, to: 40, by: 3) { #expect(try find(number) === expected[number]) }
                for number in (0..<40).shuffled() { #expect(try find(number) === expected[number]) }
            }
        }
    }
}
