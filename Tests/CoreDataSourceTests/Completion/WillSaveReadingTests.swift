import CoreDataSource
import ErrorExpectations
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
            guard try changes.of(Volume.self).contains(where: { $0.kind == .deleted }) else { return }
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
}

/// A data source that works while it is made.
private final class LateLoans: LoanSource, SaveCompleting {
    nonisolated static let duringInit = Mutex<(@Sendable () -> Void)?>(nil)

    required init(_ binding: borrowing DataSourceBinding) {
        super.init(binding)
        LateLoans.duringInit.withLock { $0 }?()
    }

    nonisolated func willSave(_ changes: PendingChanges, in context: PrivateContext) throws {}
}
