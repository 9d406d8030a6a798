import CoreDataSource
import ErrorExpectations
import Foundation
import RowStore
import Testing
import TestSupport

/// Random saves, failures of the disk, flushes and discards, held against two dictionaries: what is in the store, and what
/// main shows.
@MainActor
struct FaultSequenceTests {
    @Test(arguments: [0, 1_500, 300_000], 1...4 as ClosedRange<UInt64>)
    func nothingIsLostOrMadeUp(limit: Int, seed: UInt64) async throws {
        var random = SeededRandom(seed: seed)
        let (container, store) = PersistentContainer.faulty(configuration: .init(registeredObjectByteLimit: limit))
        let senders = try container.dataSource(SenderDataSource.self)
        var stored: [String: Int64] = [:]
        var shown: [String: Int64] = [:]
        var isFailing = false
        var held: [Sender] = []
        for step in 0..<200 {
            let item = ItemData(key: "k\(Int.random(in: 0..<8, using: &random))", number: Int64(step))
            let level: SaveLevel = Bool.random(using: &random) ? .main : .store
            switch Int.random(in: 0..<12, using: &random) {
            case 0:
                try? await container.flush()
                isFailing.toggle()
                store.fail(with: isFailing ? noRoom : nil)
            case 1 where isFailing:
                let count = container.pendingSaveCount
                #expect(await container.discardPending() == count)
                shown = stored
            case 2:
                await expectThrows(Poison.self) {
                    try await senders.perform { context in
                        for sender in try context.fetch(Sender.self) { context.delete(sender) }
                        try context.insert(Sender.self).key = "poison"
                        throw Poison()
                    }
                }
            case 3...5:
                if await save(isFailing, level, { try await senders.delete(item, waitFor: level) }) {
                    shown[item.key] = nil
                }
            default:
                if await save(isFailing, level, { try await senders.add(item, waitFor: level) }) {
                    shown[item.key] = item.number
                }
            }
            if !isFailing {
                try await container.flush()
                stored = shown
            }
            let inStore = try rows(of: store, container)
            #expect(inStore == stored, "step \(step)")
            // Objects that were fetched long ago and those of today say the same.
            let fetched = try senders.fetch(Sender.self)
            let values = Dictionary(fetched.map { ($0.key, $0.number) }) { _, _ in -1 }
            #expect(values == shown, "step \(step)")
            #expect(held.allSatisfy { $0.isDeleted || shown[$0.key] == $0.number }, "step \(step)")
            if Int.random(in: 0..<20, using: &random) == 0 { held = fetched }
        }
    }

    /// A save that waits for a failing disk gets the error, and no other does.
    ///
    /// - Returns: Whether it was saved; if not, nothing of it is left.
    private func save(_ isFailing: Bool, _ level: SaveLevel, _ work: () async throws -> SaveReport) async -> Bool {
        do {
            let report = try await work()
            #expect(!isFailing || level == .main || report == SaveReport())
            return true
        } catch let error as DataSourceError {
            #expect(isFailing && level == .store && error.code == .diskFull)
        } catch {
            Issue.record(error)
        }
        return false
    }

    private func rows(of store: FaultyStore, _ container: PersistentContainer) throws -> [String: Int64] {
        let layout = try #require(container.stack.layout.entity(named: "Sender"))
        let key = try #require(layout.column(named: "key"))
        let number = try #require(layout.column(named: "number"))
        let rows = try store.read(.statement) { (reader) throws(DataSourceError) in
            try reader.rows(RowQuery(entity: layout.index))
        }
        return Dictionary(rows.map { ($0.row.text(key), $0.row.integer(number)) }) { _, _ in -1 }
    }
}
