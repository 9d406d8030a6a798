import CoreDataSource
import Foundation
import Testing
import TestSupport

/// A fetch in a context answers over what is stored, what is saved but not committed, and what is edited, as one.
@MainActor
struct OverlayTests {
    /// What an object is, for the oracle.
    private struct Row: Equatable {
        var key: String
        var number: Int64
        var text: String?
    }

    /// Random edits, some committed, some held back before the commit, some not saved yet; every fetch is held against a
    /// dictionary.
    @Test(arguments: 0..<24)
    func queriesIncludeEveryTier(seed: UInt64) async throws {
        let (container, store) = PersistentContainer.faulty()
        let senders = try container.dataSource(SenderDataSource.self)
        var random = SeededRandom(seed: seed)
        var oracle: [String: Row] = [:]
        for round in 0..<12 {
            // From some round on the disk refuses: all later saves stay in the log.
            store.fail(with: round % 4 < 2 ? nil : noRoom)
            let batch = randomBatch(&random)
            for (row, isDeleted) in batch { oracle[row.key] = isDeleted ? nil : row }
            let query = randomQuery(&random)
            let expected = query.answer(oracle)
            let edited = try? await senders.perform(waitFor: .main) { context in
                for (row, isDeleted) in batch {
                    let sender = try context.findOrInsert(Sender.self, where: \.key, equals: row.key)
                    sender.number = row.number
                    sender.text = row.text
                    if isDeleted { context.delete(sender) }
                }
                return try query.run(in: context)
            }
            #expect(edited == expected, "before the save, seed \(seed), round \(round)")
            let shown = try container.main.fetch(
                Sender.self, where: query.predicate, order: query.sort, limit: query.limit, offset: query.offset)
            #expect(shown.map(\.key) == expected, "on main, seed \(seed), round \(round)")
            #expect(try container.main.count(Sender.self) == oracle.count)
            let fresh = try container.dataSource(RoomDataSource.self)
            let elsewhere = try await fresh.perform(waitFor: .main) { try query.run(in: $0) }
            #expect(elsewhere == expected, "in another context, seed \(seed), round \(round)")
        }
    }

    private func randomBatch(_ random: inout SeededRandom) -> [(row: Row, isDeleted: Bool)] {
        (0..<Int.random(in: 1...12, using: &random)).map { _ in
            let row = Row(
                key: "k\(Int.random(in: 0..<30, using: &random))", number: Int64.random(in: 0..<5, using: &random),
                text: [nil, "", "a", "ä", "z"].randomElement(using: &random) ?? nil)
            return (row, Int.random(in: 0..<5, using: &random) == 0)
        }
    }

    private struct Query: Sendable {
        var least: Int64
        var isAscending: Bool
        var limit: Int?
        var offset: Int

        var predicate: FetchPredicate<Sender> { \Sender.number >= least }

        var sort: [SortDescriptor<Sender>] {
            [SortDescriptor(\.number, order: isAscending ? .forward : .reverse), SortDescriptor(\.key)]
        }

        func run(in context: PrivateContext) throws -> [String] {
            try context.fetch(Sender.self, where: predicate, order: sort, limit: limit, offset: offset).map(\.key)
        }

        func answer(_ rows: [String: Row]) -> [String] {
            let matching = rows.values.filter { $0.number >= least }.sorted {
                ($0.number, $0.key) == ($1.number, $1.key)
                    ? false
                    : $0.number == $1.number ? $0.key < $1.key : ($0.number < $1.number) == isAscending
            }
            return matching.dropFirst(offset).prefix(limit ?? .max).map(\.key)
        }
    }

    private func randomQuery(_ random: inout SeededRandom) -> Query {
        Query(
            least: Int64.random(in: 0..<5, using: &random), isAscending: .random(using: &random),
            limit: Bool.random(using: &random) ? Int.random(in: 0..<8, using: &random) : nil,
            offset: Bool.random(using: &random) ? Int.random(in: 0..<5, using: &random) : 0)
    }
}
