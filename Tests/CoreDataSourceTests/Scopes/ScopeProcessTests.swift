import CoreDataSource
import Foundation
import RowStore
import Testing

/// Several real processes that load one scope of a file.
@MainActor
struct ScopeProcessTests {
    private func open(_ path: String) async throws -> PersistentContainer {
        try await PersistentContainer(model: .contacts, store: .sqlite(URL(filePath: path), sharing: .processes))
    }

    @Test func aProcessThatWaitsGetsTheListOfAnother() async throws {
        let directory = try TemporaryDirectory()
        let path = directory.store.path
        let container = try await open(path)
        let contacts = try container.dataSource(ContactDataSource.self)
        let child = Task {
            _ = await #expect(processExitsWith: .success) { [path = path as String] in
                let container = try await PersistentContainer(
                    model: .contacts, store: .sqlite(URL(filePath: path), sharing: .processes))
                try await container.dataSource(ContactDataSource.self).load(.contacts, maxAge: .seconds(600)) { _ in
                    _ = FileManager.default.createFile(atPath: path + ".asked", contents: nil)
                    while !FileManager.default.fileExists(atPath: path + ".answer") { await Task.yield() }
                    return .list(contactList(0..<3), entityTag: "child")
                }
                try await container.close()
            }
        }
        while !FileManager.default.fileExists(atPath: path + ".asked") { await Task.yield() }
        let requests = Shared(0)
        let load = Task {
            try await contacts.load(.contacts, maxAge: .seconds(600)) { _ in
                requests.update { $0 += 1 }
                return .list(contactList(5..<6), entityTag: "parent")
            }
        }
        while container.stack.root.scopes.waiterCount == 0 { await Task.yield() }
        _ = FileManager.default.createFile(atPath: path + ".answer", contents: nil)
        let found = try await load.value
        #expect(found.entityTag == "child" && requests.value == 0)
        #expect(try contacts.uids() == ["uid-0", "uid-1", "uid-2"])
        _ = await child.value
        try await container.close()
    }

    @Test func aProcessThatIsKilledDuringItsRequestStopsNobody() async throws {
        let directory = try TemporaryDirectory()
        let path = directory.store.path
        let container = try await open(path)
        let contacts = try container.dataSource(ContactDataSource.self)
        await #expect(processExitsWith: .signal(SIGKILL)) { [path = path as String] in
            let container = try await PersistentContainer(
                model: .contacts, store: .sqlite(URL(filePath: path), sharing: .processes))
            try await container.dataSource(ContactDataSource.self).load(.contacts, maxAge: .seconds(600)) { _ in
                kill(getpid(), SIGKILL)
                return .notModified
            }
        }
        let store = try #require(container.stack.root.store.sharing as? any LeaseStore)
        #expect(try store.leaseSnapshot().arbiter.leases.keys.contains { LeaseArbiter.isScope($0) })
        let found = try await contacts.load(.contacts, maxAge: .seconds(600)) { _ in
            .list(contactList(0..<3), entityTag: "parent")
        }
        #expect(found.entityTag == "parent")
        try await container.close()
    }
}
