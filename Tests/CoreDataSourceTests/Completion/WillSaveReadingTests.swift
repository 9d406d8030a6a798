import CoreDataSource
import ErrorExpectations
import Foundation
import RowStore
import Synchronization
import TestSupport
import Testing

/// What a hook reads of objects that a delete rule has changed, and saves while a data source is made.
@MainActor
struct WillSaveReadingTests {
    /// No data source owns the nodes, so the index of unique values does not have the node that the rule has unlinked.
    @Test func aLookUpFindsAnObjectThatADeleteRuleHasUnlinked() async throws {
        let directory = try TemporaryDirectory()
        let first = try await PersistentContainer(model: .library, store: .sqlite(directory.store))
        let filled = try first.dataSource(ScriptedShelves.self)
        try await filled.add([ShelfValue(key: "s", books: ["a"])])
        try await first.perform(in: filled, try first.dataSource(NodeSource.self)) { shelves, nodes in
            let node = try nodes.insert(Node.self)
            (node.key, node.book) = ("n", try shelves.first(Volume.self, where: \.key, equals: "a"))
        }
        try await first.close()
        let second = try await PersistentContainer(model: .library, store: .sqlite(directory.store))
        let shelves = try second.dataSource(ScriptedShelves.self)
        let found = Shared<[String]>([])
        shelves.script.set { changes, context in
            guard try changes.of(Volume.self).contains(where: { $0.kind == .delete }) else { return }
            let node = try context.first(Node.self, where: \.key, equals: "n")
            let isThere = try context.exists(Node.self, where: \.key == "n")
            found.update { $0.append("\(node?.key ?? "none") \(node?.book == nil) \(isThere)") }
        }
        try await shelves.perform { try $0.delete(Volume.self, where: \.key == "a") }
        #expect(found.value == ["n true true"])
        try await second.close()
    }

    /// Its data source is not there yet, so it is not a data source that was released.
    @Test func aSaveWhileADataSourceWithAHookIsMadeIsMade() async throws {
        let container = try await PersistentContainer(model: .library, store: .inMemory)
        let shelves = try container.dataSource(ScriptedShelves.self)
        try await shelves.add([ShelfValue(key: "s", books: ["a", "b"])])
        let result = Shared<String>("not called")
        LateLoans.duringInit.withLock { work in
            work = {
                do {
                    try shelves.performAndWait { try $0.delete(Volume.self, where: \.key == "a") }
                    result.update { $0 = "saved" }
                } catch { result.update { $0 = "\(error)" } }
            }
        }
        _ = try container.dataSource(LateLoans.self)
        LateLoans.duringInit.withLock { $0 = nil }
        #expect(result.value == "saved")
        #expect(try container.main.fetch(Volume.self).map(\.key) == ["b"])
        try await container.close()
    }

    /// The call chose its queues while the data source was being made, and runs afterwards.
    @Test(arguments: [true, false]) func aCallThatWaitsWhileADataSourceIsMadeCallsItsHook(isPlan: Bool) async throws {
        let directory = try TemporaryDirectory()
        let first = try await PersistentContainer(model: .library, store: .sqlite(directory.store))
        try await first.dataSource(ScriptedShelves.self).add([ShelfValue(key: "s", books: ["a"])])
        try await first.dataSource(LateLoans.self).add([LoanValue(key: "l", book: "a", day: nil)])
        try await first.close()
        let second = try await PersistentContainer(model: .library, store: .sqlite(directory.store))
        let shelves = try second.dataSource(ScriptedShelves.self)
        let (waiting, hasEnded) = (Shared<Task<Void, any Error>?>(nil), Shared(false))
        let admission = second.stack.root.admission
        var loans: LateLoans?
        try await hold { pause in
            try await shelves.perform { _ in pause() }
        } meanwhile: {
            LateLoans.duringInit.withLock { work in
                work = {
                    waiting.value = Task.detached {
                        defer { hasEnded.value = true }
                        if isPlan {
                            _ = try await shelves.planSync(
                                [], entity: Volume.self, deleting: .all, options: .allowsEmpty)
                        } else {
                            try await shelves.delete(Volume.self, where: nil)
                        }
                    }
                    while admission.queuedValueCount < 2, !hasEnded.value { usleep(1000) }
                }
            }
            defer { LateLoans.duringInit.withLock { $0 = nil } }
            loans = try second.dataSource(LateLoans.self)
        }
        try await waiting.value?.value
        #expect(loans?.deleted.value == ["l"])
        try await second.close()
    }
}

/// A data source that works while it is made.
private final class LateLoans: LoanSource, SaveCompleting {
    nonisolated static let duringInit = Mutex<(@Sendable () -> Void)?>(nil)

    nonisolated let deleted = Shared<[String]>([])

    required init(_ binding: borrowing DataSourceBinding) {
        super.init(binding)
        LateLoans.duringInit.withLock { $0 }?()
    }

    nonisolated func willSave(_ changes: PendingChanges, in context: PrivateContext) throws {
        let keys = try changes.of(Loan.self).filter { $0.kind == .delete }.map(\.object.key)
        deleted.update { $0 += keys }
    }
}
