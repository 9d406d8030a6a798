import CoreDataSource
import ErrorExpectations
import Foundation
import RowStore
import StoreFaults
import TestSupport
import Testing

/// Kills and full disks leave a revert with its record, or nothing of it, and move no consumer too far.
@MainActor @Suite(.serialized)
struct HistoryFaultTests {
    /// Makes a store with three records and a consumer that has read the first one.
    private func fill(_ path: String) async throws {
        let container = try KilledWork.open(path, try FaultyCalls())
        let contacts = try container.dataSource(ContactDataSource.self)
        try await contacts.add(contactList(0..<3))
        try await contacts.perform { context in
            for contact in try context.fetch(ContactEntity.self) { contact.note = "edited" }
        }
        let index = try await container.historyConsumer("index")
        try await index.didRead(try #require(try await container.records().first?.position))
        try await container.close()
    }

    /// Expects all of the revert or nothing.
    private func check(_ path: String, _ moment: String) async throws {
        let container = try KilledWork.open(path, try FaultyCalls())
        let notes = Set(try container.main.fetch(ContactEntity.self).map(\.note))
        let records = try await container.records()
        let isReverted = notes == [nil]
        #expect(isReverted || notes == ["edited"], "\(moment)")
        #expect(records.map(\.number) == (isReverted ? [1, 2, 3] : [1, 2]), "\(moment)")
        let read = (try? String(contentsOfFile: path + ".read", encoding: .utf8)).flatMap { Int64($0) } ?? 1
        let unread = try await container.historyConsumer("index").records().all().map(\.number)
        let end = Int64(records.count) + 1
        let first = unread.first ?? end
        // What it has received before the kill may come again, but nothing is left out.
        #expect(first <= read + 1 && unread == Array(first..<end), "\(moment)")
        try await container.close()
        try expectIntact(URL(filePath: path))
    }

    @Test func aKillAtAnyCallLeavesTheRevertAndItsRecordOrNothing() async throws {
        try await KilledWork.revertAndRead.killAtCalls(fill: fill, check: check)
    }

    /// Every write with `COREDATASOURCE_THOROUGH`, otherwise some: from then on, the disk is full, and later it is not.
    @Test func aFullDiskIsNamedAndLeavesTheRevertOrNothing() async throws {
        for number in stride(from: 1, through: 9, by: isThorough ? 1 : 4) {
            let directory = try TemporaryDirectory()
            let path = directory.store.path
            try await fill(path)
            let writes = Guarded((isArmed: false, count: 0))
            let faulty = try FaultyCalls(
                .full,
                failsCallNamed: { name in
                    guard name == "write" else { return false }
                    return writes.withLock { writes in
                        if writes.isArmed { writes.count += 1 }
                        return writes.count >= number
                    }
                })
            let container = try KilledWork.open(path, faulty)
            writes.withLock { $0.isArmed = true }
            do {
                try await KilledWork.revertAndRead.run(container, path)
            } catch let error as DataSourceError {
                #expect(error.code == .diskFull, "\(error)")
            }
            writes.withLock { $0 = (false, 0) }
            try await container.close()
            try await check(path, "full at write \(number)")
        }
    }
}
