import CoreDataSource
import Foundation
import RowStore
import TestSupport
import Testing

/// Random operations on a graph of every shape of relationship, and syncs with lists, compared with dictionaries after each save: on
/// main, in the batch, in a read, and after a restart.
@MainActor @Suite struct RandomGraphTests {
    /// How many sequences of operations; `COREDATASOURCE_GRAPHS=10000` for a long run.
    nonisolated static let rounds =
        Int(ProcessInfo.processInfo.environment["COREDATASOURCE_GRAPHS"] ?? "") ?? 12

    @Test(arguments: 0..<4) func randomGraphsEqualTheReference(part: UInt64) async throws {
        for round in 0..<max(1, RandomGraphTests.rounds / 4) {
            let seed = testSeed() &+ part &* 1_000_003 &+ UInt64(round)
            let sequence = try await RandomGraph(
                seed: seed, isStored: round % 4 == 0, configuration: round % 3 == 0 ? .uncached : .init())
            try await sequence.run()
        }
    }
}

/// One sequence of steps.
@MainActor private final class RandomGraph {
    private let seed: UInt64
    private var random: SeededRandom
    private let directory: TemporaryDirectory
    private let configuration: PersistentContainer.Configuration
    /// What is committed in memory; nil for a file.
    private let store: FaultyStore?
    private var container: PersistentContainer
    private var expected = GraphReference()

    init(seed: UInt64, isStored: Bool, configuration: PersistentContainer.Configuration) async throws {
        self.seed = seed
        self.configuration = configuration
        random = SeededRandom(seed: seed)
        directory = try TemporaryDirectory()
        if isStored {
            store = nil
            container = try await RandomGraph.open(directory.store, configuration)
        } else {
            let layout = ModelLayout(.graph)
            let store = FaultyStore(layout)
            self.store = store
            container = PersistentContainer(
                layout, store, startup: StoreStartup(reason: .firstLaunch), configuration: configuration)
        }
    }

    private static func open(
        _ file: URL, _ configuration: PersistentContainer.Configuration
    ) async throws -> PersistentContainer {
        try await PersistentContainer(model: .graph, store: .sqlite(file), configuration: configuration)
    }

    func run() async throws {
        for step in 0..<30 {
            let label = "COREDATASOURCE_SEED=\(seed), step \(step)"
            let source = try container.dataSource(GraphDataSource.self)
            let done =
                Int.random(in: 0..<4, using: &random) == 0
                ? try await sync(source, label) : try await edit(source, label)
            if store == nil, Int.random(in: 0..<10, using: &random) == 0 {
                try await container.close()
                container = try await RandomGraph.open(directory.store, configuration)
            }
            expectRowsOnce(label)
            guard try await container.isEqual(to: expected, "\(label), after \(done)") else { break }
        }
        try await container.close()
    }

    /// - Returns: What was done.
    private func edit(_ source: GraphDataSource, _ label: String) async throws -> String {
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
            #expect(refusal == nil && !isPoisoned, "\(label)")
            expected = next
        } catch is Poison {
            #expect(isPoisoned, "\(label)")
        } catch let error as DataSourceError {
            #expect(error.code == (refusal == .denied ? .deletionDenied : .validationFailed), "\(label)")
            #expect(refusal != nil, "\(label): \(error)")
        }
        return "\(operations)"
    }

    private func sync(_ source: GraphDataSource, _ label: String) async throws -> String {
        let sync = GraphSync(&random)
        var next = expected
        let outcome = sync.apply(to: &next)
        do {
            let report = try await sync.run(source)
            #expect(outcome.error == nil && report == outcome.report, "\(label), \(sync)")
            expected = next
        } catch let error as DataSourceError {
            #expect(error.code == outcome.error, "\(label), \(sync): \(error)")
        }
        return "\(sync)"
    }

    /// No save has a row twice.
    private func expectRowsOnce(_ label: String) {
        for changes in (store?.committedChanges ?? []).joined() {
            for entity in changes.entities {
                let keys = entity.inserted.map(\.key) + entity.updated.map(\.key) + entity.deleted.map(\.key)
                #expect(Set(keys).count == keys.count, "\(label)")
            }
            #expect(Set(changes.entities.map(\.entity)).count == changes.entities.count, "\(label)")
        }
    }
}
