import CoreDataSource
import Foundation
import StoreFaults
import Testing

/// Loads of processes that are killed.
@MainActor @Suite(.serialized)
struct ScopeKillTests {
    private func fill(_ path: String) async throws {
        let container = try KilledWork.open(path, try FaultyCalls())
        let contacts = try container.dataSource(ContactDataSource.self)
        try await contacts.load(.contacts, maxAge: .zero) { _ in .list(KilledWork.firstList, entityTag: "1") }
        try await container.close()
    }

    /// Expects the rows of the freshness, and a record for each change of the rows.
    private func check(_ path: String, _ moment: String) async throws {
        let container = try KilledWork.open(path, try FaultyCalls())
        let contacts = try container.dataSource(ContactDataSource.self)
        let found = try contacts.freshness(of: .contacts)
        let names = { (list: [ContactData]) in Dictionary(uniqueKeysWithValues: list.map { ($0.uid, $0.name) }) }
        let (first, second) = (names(KilledWork.firstList), names(KilledWork.secondList))
        let half = first.merging(names(Array(KilledWork.secondList.prefix(3)))) { $1 }
        let rows = Dictionary(
            uniqueKeysWithValues: try contacts.fetch(ContactEntity.self).map { ($0.uid, $0.name) })
        let count = try await container.records().count
        switch (found.entityTag, found.isComplete) {
        case ("1", true): #expect(rows == first && count == 1, "\(moment)")
        case ("2", true): #expect(rows == second && count == 2, "\(moment)")
        case (nil, false): #expect(rows == half && count == 2, "\(moment)")
        case (nil, true): #expect(rows == second && count == 3, "\(moment)")
        default: Issue.record("\(found), \(moment)")
        }
        try await container.close()
        try expectIntact(URL(filePath: path))
    }

    @Test(arguments: [KilledWork.listLoad, .pageLoad])
    func aKillAtAnyCallOfALoadLeavesTheRowsOfTheTag(work: KilledWork) async throws {
        try await work.killAtCalls(fill: fill, check: check)
    }
}
