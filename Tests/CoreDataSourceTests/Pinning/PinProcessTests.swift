import CoreDataSource
import CoreDataSourceStores
import ErrorExpectations
import Foundation
import RowStore
import Testing

/// A main context that is pinned while another real process writes to the same file.
@MainActor
struct PinProcessTests {
    private func open(_ path: String) async throws -> PersistentContainer {
        try await PersistentContainer(model: .contacts, store: .sqlite(URL(filePath: path), sharing: .processes))
    }

    /// Runs another process, which writes, deletes, copies its log, and cannot reset the store.
    private func runOther(_ path: String) async {
        await #expect(processExitsWith: .success) { [path = path as String] in
            let container = try await PersistentContainer(
                model: .contacts, store: .sqlite(URL(filePath: path), sharing: .processes))
            let contacts = try await container.dataSource(ContactDataSource.self)
            for _ in 0..<4 {
                try await contacts.add(contactList(0..<1500) { _ in String(repeating: "x", count: 2000) })
                container.stack.root.store.upkeep()
            }
            try await contacts.add(contactList(0..<1500) { "other \($0)" })
            try await contacts.delete(contactList(0..<2))
            var wasRefused = false
            do { try await container.reset() } catch let error as DataSourceError {
                wasRefused = error.code == .storeInUse
            }
            container.stack.root.store.upkeep()
            try await container.close()
            guard wasRefused else { exit(1) }
        }
    }

    @Test func aPinnedContextShowsOneStateWhileAnotherProcessWrites() async throws {
        let directory = try TemporaryDirectory()
        let container = try await open(directory.store.path)
        let contacts = try container.dataSource(ContactDataSource.self)
        try await contacts.add(contactList(0..<5))
        let held = try #require(try container.main.first(ContactEntity.self, where: \.uid, equals: "uid-1"))
        let list = try contacts.list(ObjectRequest(ContactEntity.self))
        try container.main.pin(for: .ample)
        let names = try container.main.names
        await runOther(directory.store.path)
        #expect(try container.main.names == names && names.count == 5)
        #expect(try container.main.count(ContactEntity.self, where: .beginsWith(\.name, "other")) == 0)
        #expect(held.name == "name 1" && !held.isDeleted)
        await container.mainTier.waitForLists()
        #expect(list.count == 5 && container.main.pinned != nil)
        try container.main.advance()
        #expect(held.isDeleted)
        #expect(try container.main.count(ContactEntity.self, where: .beginsWith(\.name, "other")) == 1498)
        await container.mainTier.waitForLists()
        #expect(list.count == 1498)
        try await container.reset()
        #expect(container.main.pinned == nil)
        #expect(try container.main.count(ContactEntity.self) == 0)
        try await container.close()
        try expectIntact(directory.store)
    }
}
