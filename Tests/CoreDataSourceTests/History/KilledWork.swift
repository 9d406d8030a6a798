import CoreDataSource
import Foundation
import ManagedModel
import RowStore
import SQLiteStore
import StoreFaults
import TestSupport
import Testing

/// What a process does with a store when it is killed.
enum KilledWork: String, Codable, Sendable {
    /// Reverts the last record, and lets the consumer "index" read. Writes the number of each record to a file before the consumer
    /// moves on.
    case revertAndRead
    /// Loads the second list of the tests as one answer.
    case listLoad
    /// Loads the second list of the tests in two pages.
    case pageLoad

    /// Opens a store with a history in a file.
    static func open(_ path: String, _ faulty: FaultyCalls) throws -> PersistentContainer {
        let layout = ModelLayout(.contacts)
        var options = SQLiteStore.Options(
            url: URL(filePath: path), layout: layout, identity: StoreIdentity(.contacts), calls: faulty.calls)
        options.history = .ample
        let store = try SQLiteStore.open(options)
        return PersistentContainer(layout, store, startup: store.startup)
    }

    func run(_ container: PersistentContainer, _ path: String) async throws {
        let contacts = try await container.dataSource(ContactDataSource.self)
        switch self {
        case .revertAndRead:
            if let record = try await container.records().last { try await container.revert(record) }
            let index = try await container.historyConsumer("index")
            for try await record in index.records() {
                try Data("\(record.number)".utf8).write(to: URL(filePath: path + ".read"))
                try await index.didRead(record.position)
            }
        case .listLoad:
            try await contacts.load(.contacts, maxAge: .zero, deleting: .all) { _ in
                .list(KilledWork.secondList, entityTag: "2")
            }
        case .pageLoad:
            try await contacts.load(.contacts, maxAge: .zero, deleting: .all) { request in
                request.page == 0
                    ? .page(Array(KilledWork.secondList.prefix(3)), next: "2")
                    : .page(Array(KilledWork.secondList.dropFirst(3)), next: nil)
            }
        }
    }

    static let firstList = contactList(0..<5)
    static let secondList = contactList(1..<6) { _ in "new" }

    /// Runs the work once, and then kills a process before each call that the store makes during the work with
    /// `COREDATASOURCE_THOROUGH`, otherwise before about twelve calls.
    ///
    /// These are the calls of the store for files, and the calls of SQLite's VFS. Each change of a file is one of them, or a part of one:
    /// writes, truncations, removals and syncs, and what creates or extends a file. Writes to the mapped index of the log are no calls;
    /// SQLite makes the index again from the log when no process uses it. `Scripts/stress kill` kills at the calls of the system.
    ///
    /// - Parameters:
    ///   - fill: Makes the store at a path.
    ///   - check: Checks the store at a path. The second argument says when the process was killed.
    @MainActor func killAtCalls(
        fill: (String) async throws -> Void, check: (String, String) async throws -> Void
    ) async throws {
        let whole = try TemporaryDirectory()
        try await fill(whole.store.path)
        let faulty = try FaultyCalls()
        let container = try KilledWork.open(whole.store.path, faulty)
        let start = faulty.count
        try await run(container, whole.store.path)
        let count = faulty.count - start
        try await container.close()
        try await check(whole.store.path, "not killed")
        let step = isThorough ? 1 : max(1, count / 12)
        for number in stride(from: Int.random(in: 1...step), through: count, by: step) {
            let directory = try TemporaryDirectory()
            let path = directory.store.path
            try await fill(path)
            await #expect(processExitsWith: .signal(SIGKILL)) {
                [path = path as String, number = number as Int, work = self as KilledWork] in
                let last = Guarded(Int.max)
                let faulty = try FaultyCalls { call in
                    if call >= last.withLock({ $0 }) { kill(getpid(), SIGKILL) }
                    return false
                }
                let container = try KilledWork.open(path, faulty)
                let end = faulty.count + number
                last.withLock { $0 = end }
                try await work.run(container, path)
                kill(getpid(), SIGKILL)
            }
            try await check(path, "killed at call \(number) of \(count)")
        }
    }
}
