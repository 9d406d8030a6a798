import CoreDataSource
import RowStore
import TestSupport
import Testing

/// Random saves of two data sources on a store that fails now and then and refuses single saves: what is visible is what was
/// saved and not rolled back, in every tier and list.
@MainActor
struct SaveRollbackTests {
    @Test(arguments: 0..<6)
    func savesThatAreRolledBackAreGoneEverywhere(round: UInt64) async throws {
        let seed = testSeed() &+ round
        var random = SeededRandom(seed: seed)
        let (container, store, timers) = PersistentContainer.timed()
        let senders = try container.dataSource(SenderDataSource.self)
        let rooms = try container.dataSource(RoomDataSource.self)
        let list = ShownKeys()
        try senders.register(list, dataKey: "list", ObjectRequest(Sender.self, order: [.ascending(\.key)]))
        var shown: [String: [String: Int64]] = ["s": [:], "r": [:]]
        for step in 0..<150 {
            let isSender = Bool.random(using: &random)
            let source = isSender ? "s" : "r"
            // Both entities share a constraint on the key.
            let item = ItemData(key: "\(source)\(Int.random(in: 0..<6, using: &random))", number: Int64(step))
            let level: SaveLevel = Int.random(in: 0..<3, using: &random) == 0 ? .main : .store
            if Int.random(in: 0..<3, using: &random) == 0 { store.failOnce(with: noRoom) }
            let isDeleted = Int.random(in: 0..<4, using: &random) == 0
            do {
                switch (isSender, isDeleted) {
                case (true, true): try await senders.delete(item, waitFor: level)
                case (true, false): try await senders.add(item, waitFor: level)
                case (false, true):
                    try await rooms.perform(waitFor: level) { context in
                        if let room = try context.first(Room.self, where: \.key, equals: item.key) {
                            context.delete(room)
                        }
                    }
                case (false, false): try await rooms.add(item, waitFor: level)
                }
                shown[source]?[item.key] = isDeleted ? nil : item.number
            } catch let error as DataSourceError {
                #expect([.diskFull, .saveRolledBack].contains(error.code), "seed \(seed)")
            }
            if Int.random(in: 0..<4, using: &random) == 0 { timers.fire() }
            let found = ["s": try values(Sender.self, container), "r": try values(Room.self, container)]
            #expect(found == shown, "seed \(seed), step \(step)")
            // A caller that waits for the store here would get the reason why an earlier save of main could not be written.
            let inContext = try await senders.perform(waitFor: .main) { context in
                Dictionary(try context.fetch(Sender.self).map { ($0.key, $0.number) }) { $1 }
            }
            #expect(inContext == shown["s"], "seed \(seed), step \(step)")
            #expect(
                senders.allObjects(dataKey: "list", as: Sender.self).map(\.key) == shown["s"]?.keys.sorted(),
                "seed \(seed)")
        }
        store.fail(with: nil)
        try await container.flush()
        #expect(container.pendingSaveCount == 0)
        #expect(try values(Sender.self, container) == shown["s"])
    }

    private func values<Object: Item>(
        _ type: Object.Type, _ container: PersistentContainer
    ) throws -> [String: Int64] {
        Dictionary(try container.main.fetch(type).map { ($0.key, $0.number) }) { $1 }
    }
}

private final class ShownKeys: DataSourceDelegate {
    func didChangeContent(dataKey: String) {}
}
