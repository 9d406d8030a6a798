import CoreDataSource
import Foundation
import RowStore
import Testing
import TestSupport

/// Tasks save, flush and discard at once while the disk fails now and then: nobody waits for ever, and what was
/// acknowledged is in the store.
@MainActor
struct DiscardRaceTests {
    @Test(arguments: [0, 300_000])
    func acknowledgedSavesSurviveDiscards(registeredObjectByteLimit: Int) async throws {
        let (container, store) = PersistentContainer.faulty(
            configuration: .init(registeredObjectByteLimit: registeredObjectByteLimit))
        let senders = try container.dataSource(SenderDataSource.self)
        let rooms = try container.dataSource(RoomDataSource.self)
        let acknowledged = Shared<Set<String>>([])
        await withTaskGroup { group in
            for task in 0..<8 {
                group.addTask {
                    var random = SeededRandom(seed: UInt64(task))
                    for number in 0..<100 {
                        let item = ItemData(key: "\(task)-\(number)", number: Int64(number))
                        switch Int.random(in: 0..<16, using: &random) {
                        case 0: store.fail(with: noRoom)
                        case 1, 2: store.fail(with: nil)
                        case 3: _ = await container.discardPending()
                        case 4: try? await container.flush()
                        case 5: _ = try? await senders.add(item, waitFor: .main)
                        case 6: _ = try? await senders.perform { try $0.fetch(Item.self).count }
                        case 7: _ = try? await MainActor.run { try senders.fetch(Sender.self).count }
                        default:
                            let isAdded =
                                task % 2 == 0
                                ? try? await senders.add(item) : try? await rooms.add(item)
                            if isAdded != nil { acknowledged.update { $0.insert(item.key) } }
                        }
                    }
                }
            }
        }
        store.fail(with: nil)
        try await container.flush()
        #expect(container.pendingSaveCount == 0)
        let keys = Set(try container.main.fetch(Item.self).map(\.key))
        #expect(acknowledged.value.subtracting(keys) == [])
        #expect(!acknowledged.value.isEmpty)
    }
}
