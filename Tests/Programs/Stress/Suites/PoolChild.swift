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
            for place in places { containers.append(try await filled(place)) }
            try await containers[0].backup(to: backup)
            try await withThrowingTaskGroup(of: Void.self) { group in
                for container in containers { group.addTask { try await container.close() } }
                for container in containers { while !container.readers.isClosed { await Task.yield() } }
                // The rest of each closing needs the pool again.
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

    /// A container with saves that are not in the store yet.
    private func filled(_ place: URL) async throws -> PersistentContainer {
        let container = try await PersistentContainer(model: .stress, store: .sqlite(place))
        let records = (0..<2_000).map { RecordData(key: "\($0)") }
        try await container.dataSource(BlueDataSource.self).add(records, waitFor: .main)
        return container
    }
}
