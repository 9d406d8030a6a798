import CoreDataSource
import Foundation
import TestSupport
import Testing

/// Random operations on a graph of every shape of relationship, compared with dictionaries after each save: on main, in the
/// batch, in a read, and after a restart.
@MainActor @Suite struct RandomGraphTests {
    /// How many sequences of operations; `COREDATASOURCE_GRAPHS=10000` for a long run.
    nonisolated static let rounds =
        Int(ProcessInfo.processInfo.environment["COREDATASOURCE_GRAPHS"] ?? "") ?? 12

    @Test(arguments: 0..<4) func everyGraphIsWhatTheReferenceIs(part: UInt64) async throws {
        for round in 0..<max(1, RandomGraphTests.rounds / 4) {
            let seed = testSeed() &+ part &* 1_000_003 &+ UInt64(round)
            try await run(seed: seed, isStored: round % 4 == 0, configuration: round % 3 == 0 ? .uncached : .init())
        }
    }

    private func run(
        seed: UInt64, isStored: Bool, configuration: PersistentContainer.Configuration
    ) async throws {
        var random = SeededRandom(seed: seed)
        let directory = try TemporaryDirectory()
        let location: StoreLocation = isStored ? .sqlite(directory.store) : .inMemory
        func open() async throws -> PersistentContainer {
            try await PersistentContainer(model: .graph, store: location, configuration: configuration)
        }
        var container = try await open()
        var expected = GraphReference()
        for step in 0..<30 {
            let label: Testing.Comment = "seed \(seed), step \(step)"
            let source = try container.dataSource(GraphDataSource.self)
            let drawn = (0..<Int.random(in: 1...8, using: &random)).map { _ in GraphOperation(&random) }
            let isPoisoned = Int.random(in: 0..<8, using: &random) == 0
            var next = expected
            var deleted: [GraphReference.Name] = []
            let operations = drawn.filter { $0.apply(to: &next, &deleted, from: expected) }
            let refusal = next.delete(deleted)
            do {
                try await source.perform { context in
                    for operation in operations { try operation.apply(to: context) }
                    if isPoisoned { throw Poison() }
                }
                #expect(refusal == nil && !isPoisoned, label)
                expected = next
            } catch is Poison {
                #expect(isPoisoned, label)
            } catch let error as DataSourceError {
                #expect(error.code == (refusal == .denied ? .deletionDenied : .validationFailed), label)
                #expect(refusal != nil, "\(label): \(error)")
            }
            if isStored, Int.random(in: 0..<10, using: &random) == 0 {
                try await container.close()
                container = try await open()
            }
            guard try await container.isEqual(to: expected, "\(label), after \(operations)") else { break }
        }
        try await container.close()
    }
}
