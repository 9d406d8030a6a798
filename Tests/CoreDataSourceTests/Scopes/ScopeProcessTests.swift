import CoreDataSource
import Foundation
import RowStore
import TestSupport
import Testing

/// Several real processes that load one scope of a file. On a busy machine a process may stand still for longer than the time limit
/// that a load has by default, and for longer than the others wait by default for its leases or its answer.
@MainActor
struct ScopeProcessTests {
    private nonisolated static func open(
        _ path: String, history: KeptHistory = .unchanged
    ) throws -> PersistentContainer {
        try .shared(URL(filePath: path), configuration: .init(synchronous: .normal, history: history))
    }

    @Test func aProcessThatWaitsGetsTheListOfAnother() async throws {
        let directory = try TemporaryDirectory()
        let path = directory.store.path
        let container = try Self.open(path)
        let contacts = try container.dataSource(ContactDataSource.self)
        let hasEnded = Shared(false)
        let child = Task {
            defer { hasEnded.value = true }
            _ = await #expect(processExitsWith: .success) { [path = path as String] in
                let container = try ScopeProcessTests.open(path)
                try await container.dataSource(ContactDataSource.self).load(
                    .contacts, maxAge: .ample, timeLimit: .ample
                ) { _ in
                    _ = FileManager.default.createFile(atPath: path + ".asked", contents: nil)
                    // As long as this process runs, one thread of the pool of the other process is blocked (see `leaveASavePending`).
                    // So this process never waits for long: without any free thread, the other process would never make the file.
                    let hasWaited = Shared(false)
                    let waiting = Task {
                        try await Task.sleep(for: .seconds(20))
                        hasWaited.value = true
                    }
                    await waitForFile(path + ".answer", unless: hasWaited)
                    waiting.cancel()
                    return .list(contactList(0..<3), entityTag: "child")
                }
                try await container.close()
            }
        }
        await waitForFile(path + ".asked", unless: hasEnded)
        let requests = Shared(0)
        let load = Task {
            try await contacts.load(.contacts, maxAge: .ample, timeLimit: .ample) { _ in
                requests.update { $0 += 1 }
                return .list(contactList(5..<6), entityTag: "parent")
            }
        }
        while container.stack.root.scopes.waiterCount == 0, !hasEnded.value {
            try await Task.sleep(for: .milliseconds(10))
        }
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
        let container = try Self.open(path)
        let contacts = try container.dataSource(ContactDataSource.self)
        await #expect(processExitsWith: .signal(SIGKILL)) { [path = path as String] in
            let container = try ScopeProcessTests.open(path)
            try await container.dataSource(ContactDataSource.self).load(
                .contacts, maxAge: .ample, timeLimit: .ample
            ) { _ in
                kill(getpid(), SIGKILL)
                return .notModified
            }
        }
        let store = try #require(container.stack.root.store.sharing as? any LeaseStore)
        #expect(try store.leaseSnapshot().arbiter.leases.keys.contains { LeaseArbiter.isScope($0) })
        let found = try await contacts.load(.contacts, maxAge: .ample, timeLimit: .ample) { _ in
            .list(contactList(0..<3), entityTag: "parent")
        }
        #expect(found.entityTag == "parent")
        try await container.close()
    }

    // MARK: Random kills

    /// The list of a version.
    private nonisolated static func list(_ version: Int) -> [ContactData] {
        (0..<10).filter { $0 == 0 || (version >> $0) % 2 == 0 }.map {
            ContactData(uid: "uid-\($0)", name: "\(version)")
        }
    }

    /// Loads the newest list. The version is the time since the machine was started, which all processes share.
    private nonisolated static func load(_ contacts: ContactDataSource) async throws {
        try await contacts.load(.contacts, maxAge: .zero, timeLimit: .ample, deleting: .all) { _ in
            let version = Int(ProcessInfo.processInfo.systemUptime * 1_000_000)
            return .list(list(version), entityTag: "\(version)")
        }
    }

    /// Loads one list after the other until the process is killed.
    ///
    /// - Parameters:
    ///   - delay: The microseconds between the first list and the kill.
    ///   - begun: The file that is made after the first list.
    private nonisolated static func loadUntilKilled(_ path: String, delay: Int, begun: String) async throws {
        let container = try open(path)
        let contacts = try await container.dataSource(ContactDataSource.self)
        try await load(contacts)
        _ = FileManager.default.createFile(atPath: begun, contents: nil)
        Thread.detachNewThread {
            usleep(UInt32(delay))
            kill(getpid(), SIGKILL)
        }
        while true { try? await load(contacts) }
    }

    /// The processes are killed during a request or a save, or between them.
    @Test func killedProcessesLeaveTheListOfTheirTagAndEachRecordOnce() async throws {
        let directory = try TemporaryDirectory()
        let (path, seed) = (directory.store.path, testSeed())
        let container = try Self.open(path, history: .ample)
        let (contacts, copy) = (try container.dataSource(ContactDataSource.self), ContactCopy())
        var (random, newest) = (SeededRandom(seed: seed), 0)
        for round in 0..<(isThorough ? 100 : 3) {
            let (delay, begun) = (Int.random(in: 0...30_000, using: &random), "\(path).begun\(round)")
            let hasEnded = Shared(false)
            let child = Task {
                _ = await #expect(processExitsWith: .signal(SIGKILL)) {
                    [path = path as String, delay = delay as Int, begun = begun as String] in
                    try await ScopeProcessTests.loadUntilKilled(path, delay: delay, begun: begun)
                }
                hasEnded.value = true
            }
            while !hasEnded.value, !FileManager.default.fileExists(atPath: begun) { await Task.yield() }
            // These loads and those of the child wait for each other. In the other rounds, the list of the child is checked.
            while round % 2 == 1, !hasEnded.value { try await Self.load(contacts) }
            await child.value
            try await container.flush()
            let raw = try RawConnection(directory.store)
            let tag = try #require(try raw.column("SELECT tag FROM _scopes").first.flatMap { Int($0) })
            #expect(tag > newest, "seed \(seed)")
            let rows = try raw.column("SELECT uid || name FROM ContactEntity ORDER BY uid")
            #expect(rows == Self.list(tag).map { $0.uid + $0.name }, "seed \(seed)")
            newest = tag
            try await Self.load(contacts)
            try await copy.follow(container, "seed \(seed)")
        }
        try await container.close()
        try expectIntact(directory.store)
    }
}

/// Waits until another process has made a file, or the flag is set. The other process gets the processor meanwhile.
private func waitForFile(_ path: String, unless flag: Shared<Bool>) async {
    while !FileManager.default.fileExists(atPath: path), !flag.value {
        try? await Task.sleep(for: .milliseconds(10))
    }
}
