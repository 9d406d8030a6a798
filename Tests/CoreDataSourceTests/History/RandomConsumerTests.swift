import CoreDataSource
import Foundation
import RowStore
import TestSupport
import Testing

/// Random saves and consumers, with a history that keeps only a few records. A record is never missing without `historyExpired`,
/// and never out of order.
@MainActor
struct RandomConsumerTests {
    private nonisolated static let seed = testSeed()
    private static let comment: Comment = "seed \(seed)"
    private static let configuration = PersistentContainer.Configuration.keeping(
        .kept(for: .seconds(86_400), upTo: 64 << 10))

    /// What a consumer has read.
    private struct Reader {
        let name: String
        /// The number of the last record that the store knows to be read.
        var number: Int64 = 0
        var expirations = 0
    }

    @Test(arguments: HistoryPlace.all)
    func noRecordIsMissingWithoutAnError(place: HistoryPlace) async throws {
        let directory = try TemporaryDirectory()
        var container = try await place.open(directory.store, Self.configuration)
        var random = SeededRandom(seed: Self.seed)
        var readers = [Reader(name: "often"), Reader(name: "seldom")]
        for reader in readers { _ = try await container.historyConsumer(reader.name) }
        var saved: Int64 = 0
        for _ in 0..<150 {
            switch Int.random(in: 0..<10, using: &random) {
            case 0..<5:
                for _ in 0..<Int.random(in: 1...8, using: &random) {
                    saved += 1
                    try await save(saved, container, byteCount: Int.random(in: 10...3000, using: &random))
                }
            case 5..<8: try await read(&readers[0], container, saved: saved, &random)
            case 8: try await read(&readers[1], container, saved: saved, &random)
            default:
                if place == .memory { continue }
                try await container.close()
                container = try await place.open(directory.store, Self.configuration)
            }
        }
        // More than the history keeps.
        for _ in 0..<60 {
            saved += 1
            try await save(saved, container, byteCount: 3000)
        }
        for index in readers.indices {
            let known = readers[index].expirations
            try await readAll(&readers[index], container, saved: saved)
            #expect(readers[index].expirations == known + 1, Self.comment)
            try await readAll(&readers[index], container, saved: saved)
            #expect(readers[index].expirations == known + 1, Self.comment)
            #expect(readers[index].number == saved, Self.comment)
        }
        try await container.close()
        if place.isFile { try expectIntact(directory.store) }
    }

    /// Each save has one record.
    private func save(_ number: Int64, _ container: PersistentContainer, byteCount: Int) async throws {
        try await container.dataSource(ContactDataSource.self).add([
            ContactData(
                uid: "uid-\(number % 5)", name: "\(number)", phone: String(repeating: "1", count: byteCount))
        ])
    }

    private func readAll(_ reader: inout Reader, _ container: PersistentContainer, saved: Int64) async throws {
        try await read(&reader, container, saved: saved) { (true, false) }
    }

    /// Reads some records. The consumer may end before it has told the store what it has read. It then gets the records again.
    private func read(
        _ reader: inout Reader, _ container: PersistentContainer, saved: Int64, _ random: inout SeededRandom
    ) async throws {
        var copy = random
        try await read(&reader, container, saved: saved) {
            (Int.random(in: 0..<3, using: &copy) == 0, Int.random(in: 0..<20, using: &copy) == 0)
        }
        random = copy
    }

    /// - Parameter next: Whether the consumer tells the store that it has read a record, and whether it ends after the record.
    private func read(
        _ reader: inout Reader, _ container: PersistentContainer, saved: Int64, _ next: () -> (tells: Bool, ends: Bool)
    ) async throws {
        let consumer = try await container.historyConsumer(reader.name)
        var last = reader.number
        do {
            for try await record in consumer.records() {
                #expect(record.number == last + 1 && record.hasValues, Self.comment)
                last = record.number
                let (tells, ends) = next()
                if tells {
                    try await consumer.didRead(record.position)
                    reader.number = last
                }
                if ends { return }
            }
            #expect(last == saved, Self.comment)
        } catch let error as DataSourceError where error.code == .historyExpired {
            let start = try #require(error.historyStart)
            #expect(start.number > last && start.number < saved, Self.comment)
            reader.expirations += 1
            try await consumer.didRead(start)
            reader.number = start.number
        }
    }
}
