import CoreDataSource
import Foundation
import Testing

private let evaluations = Shared(0)

extension ContactEntity {
    /// The first letter of the name; counts how often it is asked for.
    fileprivate var countedLetter: String {
        evaluations.update { $0 += 1 }
        return String(name.prefix(1))
    }
}

extension Item {
    /// Two moments of each second.
    fileprivate var moment: Date { Date(timeIntervalSinceReferenceDate: Double(number) / 2) }
}

@MainActor
struct SectionEvaluationTests: ItemListSuite {
    @Test func twoMomentsOfOneSecondAreTwoSections() async throws {
        try await withChat(.inMemory) { container, senders in
            try await senders.add(items(-4..<4))
            let list = try senders.list(ObjectRequest(Item.self, order: [.descending(\.number)]), sectionBy: \.moment)
            #expect(list.snapshot.map(\.number) == Array(-4..<4))
            #expect(list.sections.map(\.range.count) == Array(repeating: 1, count: 8))
            try await senders.add(ItemData(key: "k3", number: -1), waitFor: .main)
            #expect(list.sections.map(\.range.count) == [1, 1, 1, 2, 1, 1, 1])
        }
    }

    @Test func aComputedSectionIsEvaluatedOncePerRow() async throws {
        try await withContainer(.inMemory) { container, _ in
            let contacts = try container.dataSource(ContactDataSource.self)
            func letter(_ number: Int) -> String { "\(UnicodeScalar(UInt8(65 + number * 7 % 26))) \(number)" }
            try await contacts.add(contactList(0..<2000, name: letter))
            let list = try contacts.list(
                ObjectRequest(ContactEntity.self, order: [SortDescriptor(\.name)]), sectionBy: \.countedLetter)
            #expect(list.sections.map(\.name) == (0..<26).map { "\(UnicodeScalar(UInt8(65 + $0)))" })
            #expect(evaluations.value == 2000)

            // The row as it was and as it is.
            evaluations.value = 0
            try await contacts.add(ContactData(uid: "uid-7", name: "Zoe"), waitFor: .main)
            #expect(list.snapshot.last?.name == "Zoe")
            #expect(evaluations.value == 2)

            // Many rows are merged elsewhere.
            evaluations.value = 0
            try await contacts.add(contactList(1000..<3000, name: { letter($0 + 1) }), waitFor: .main)
            #expect(list.count == 3000)
            #expect(evaluations.value == 1000 * 2 + 1000)

            evaluations.value = 0
            try list.moveWindow(after: FetchCursor(list.snapshot[1500]))
            #expect(list.count == 1499)
            #expect(evaluations.value == 3000 + 1)
        }
    }
}
