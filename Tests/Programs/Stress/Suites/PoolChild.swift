import CSQLite
import CoreDataSource
import Foundation

/// Opens, restores and destroys stores while other tasks close them; says `done` at the end, and before that each error.
///
/// On a machine with one core the pool of tasks has one thread: whatever blocks it keeps the closing from its end.
@MainActor
struct PoolChild {
    private let folder: URL

    init(_ arguments: [String]) throws {
        guard arguments.count == 1 else { throw Suite.Misunderstood(arguments: arguments) }
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
        say("done")
    }

    private nonisolated func open(_ places: [URL]) async {
        let stores = await PersistentContainer.open(
            places.map { StoreDescription(name: $0.lastPathComponent, location: .sqlite($0)) }, model: .stress)
        for (name, error) in stores.errors { say("open \(name): \(error)") }
        do { try await stores.close() } catch { say("close: \(error)") }
    }
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
