import CSQLite
import CoreDataSource
import CoreDataSourceActiveRecord
import Foundation

/// Opens, restores and destroys stores while other tasks close them, and calls every function of a container that waits while it is
/// being closed; says at the end what was called, and before that each error.
///
/// On a machine with one core the pool of tasks has one thread: whatever blocks it keeps the closing from its end.
@MainActor
struct PoolChild {
    private let folder: URL

    init(_ arguments: [String]) throws {
        guard arguments.count == 1 else { throw Suite.InvalidArguments(arguments: arguments) }
        folder = URL(filePath: arguments[0])
    }

    func run() async throws {
        for round in 0..<3 {
            let places = (0..<4).map { folder.appending(component: "\(round)-\($0).sqlite") }
            let backup = folder.appending(component: "\(round)-backup.sqlite")
            var containers: [PersistentContainer] = []
            for place in places {
                containers.append(try await PersistentContainer(model: .stress, store: .sqlite(place)))
            }
            try await containers[0].backup(to: backup)
            let locks = places.map { OtherWriter($0) }
            for container in containers {
                try await container.dataSource(BlueDataSource.self).add(RecordData(key: "a"), waitFor: .main)
            }
            try await withThrowingTaskGroup(of: Void.self) { group in
                for container in containers { group.addTask { try await container.close() } }
                for container in containers { while !container.readers.isClosed { await Task.yield() } }
                // None of them can end its saves until then, and the rest of each closing needs the pool again.
                Thread {
                    usleep(500_000)
                    for lock in locks { lock.end() }
                }.start()
                group.addTask { await open(Array(places[0..<2])) }
                group.addTask {
                    do {
                        try await PersistentContainer.restore(backup, to: places[2], replacingStore: true)
                    } catch { say("restore: \(error)") }
                }
                group.addTask {
                    do { try await PersistentContainer.destroy(storeAt: places[3]) } catch { say("destroy: \(error)") }
                }
                try await group.waitForAll()
            }
        }
        for isFirst in [false, true] {
            for call in ContainerCall.all { try await run(call, isFirst: isFirst) }
        }
        let names = Set(ContainerCall.all.map(\.name) + ["open", "restore", "destroy"])
        say("called " + names.sorted().joined(separator: " "))
    }

    /// Makes a call beside the closing of its container, which has to wait for another program.
    ///
    /// - Parameter isFirst: Whether the call begins before the closing.
    private func run(_ call: ContainerCall, isFirst: Bool) async throws {
        let place = folder.appending(component: "call-\(UUID().uuidString).sqlite")
        var configuration = PersistentContainer.Configuration()
        configuration.history = .kept(for: .seconds(3600), upTo: 1 << 20)
        let container = try await PersistentContainer(
            model: .stress, store: .sqlite(place), configuration: configuration)
        let source = try container.dataSource(BlueDataSource.self)
        let lock = OtherWriter(place)
        try await source.add(RecordData(key: "a"), waitFor: .main)
        try await withThrowingTaskGroup(of: Void.self) { group in
            Thread {
                usleep(100_000)
                lock.end()
            }.start()
            if !isFirst {
                group.addTask { try await container.close() }
                while !container.readers.isClosed { await Task.yield() }
            }
            group.addTask {
                do { try await call.body(container, source) } catch let error as DataSourceError {
                    // Which of them it meets depends on who comes first.
                    if ![.storeClosed, .storeReset, .storeBusy].contains(error.code) { say("\(call.name): \(error)") }
                }
            }
            if isFirst {
                await Task.yield()
                group.addTask { try await container.close() }
            }
            try await group.waitForAll()
        }
    }

    private nonisolated func open(_ places: [URL]) async {
        let stores = await PersistentContainer.open(
            places.map { StoreDescription(name: $0.lastPathComponent, location: .sqlite($0)) }, model: .stress)
        for (name, error) in stores.errors { say("open \(name): \(error)") }
        do { try await stores.close() } catch { say("close: \(error)") }
    }
}

/// A function of a container, or of what it opens, that waits.
private struct ContainerCall: Sendable {
    let name: String
    let body: @Sendable (PersistentContainer, BlueDataSource) async throws -> Void

    init(_ name: String, _ body: @escaping @Sendable (PersistentContainer, BlueDataSource) async throws -> Void) {
        self.name = name
        self.body = body
    }

    static let all = [
        ContainerCall("perform") { container, source in
            try await container.perform(in: source) { try $0.insert(Blue.self).key = "b" }
        },
        ContainerCall("perform") { container, source in
            try await container.newBackgroundContext(for: source).perform { try $0.insert(Blue.self).key = "c" }
        },
        ContainerCall("performBackgroundTask") { container, _ in
            try await container.performBackgroundTask { _ = try $0.count(Blue.self) }
        },
        ContainerCall("performBackgroundTask") { container, source in
            try await container.performBackgroundTask(for: source) { try $0.insert(Blue.self).key = "d" }
        },
        ContainerCall("read") { container, _ in try await container.read { _ = try $0.count(Blue.self) } },
        ContainerCall("backup") { container, _ in
            let file = FileManager.default.temporaryDirectory.appending(component: "pool-\(UUID().uuidString)")
            defer { try? FileManager.default.removeItem(at: file) }
            try await container.backup(to: file)
        },
        ContainerCall("flush") { container, _ in try await container.flush() },
        ContainerCall("discardPending") { container, _ in _ = await container.discardPending() },
        ContainerCall("reset") { container, _ in _ = try await container.reset() },
        ContainerCall("nuke") { container, _ in _ = try await container.nuke() },
        ContainerCall("close") { container, _ in try await container.close() },
        ContainerCall("historyPosition") { container, _ in _ = try await container.historyPosition() },
        ContainerCall("historyConsumer") { container, _ in _ = try await container.historyConsumer("a") },
        ContainerCall("didRead") { container, _ in
            let consumer = try await container.historyConsumer("a")
            for try await record in consumer.records() { try await consumer.didRead(record.position) }
        },
        ContainerCall("remove") { container, _ in try await container.historyConsumer("a").remove() },
        ContainerCall("withAuthor") { container, source in
            _ = try await container.withAuthor("b") { try await source.add(RecordData(key: "g")) }
        },
        ContainerCall("revert") { container, source in
            try await source.perform { try $0.insert(Blue.self).key = "h" }
            for try await record in container.history() where record.kind == .local {
                try await container.revert(record)
            }
        },
        ContainerCall("undo") { container, source in
            try await container.withAuthor("c") { _ = try await source.add(RecordData(key: "i")) }
            try await container.undo(author: "c")
        },
        ContainerCall("redo") { container, _ in try await container.redo(author: "c") },
        ContainerCall("nextUndo") { container, _ in _ = try await container.nextUndo(author: "c") },
        ContainerCall("nextRedo") { container, _ in _ = try await container.nextRedo(author: "c") },
        ContainerCall("add") { _, source in try await source.add(RecordData(key: "e")) },
        ContainerCall("delete") { _, source in try await source.delete(RecordData(key: "a")) },
        ContainerCall("sync") { _, source in
            try await source.sync([RecordData(key: "f")], entity: Blue.self, deleting: .all)
        },
    ]
}

/// Another program in the middle of a transaction.
private final class OtherWriter: @unchecked Sendable {
    private var handle: OpaquePointer?

    init(_ place: URL) {
        guard sqlite3_open(place.path, &handle) == SQLITE_OK,
            sqlite3_exec(handle, "BEGIN IMMEDIATE", nil, nil, nil) == SQLITE_OK
        else {
            say("cannot lock \(place.path)")
            return
        }
    }

    func end() {
        sqlite3_exec(handle, "COMMIT", nil, nil, nil)
        sqlite3_close(handle)
    }
}
