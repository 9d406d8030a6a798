import CoreDataSource
import ErrorExpectations
import Foundation
import ManagedModel
import RowStore
import SQLiteStore
import StoreFaults
import TestSupport
import Testing

/// Random operations on a graph while commits fail and calls for the files do, with saves that wait for main only, pending ones
/// that are discarded, resets and restarts, compared with dictionaries after each step.
@MainActor @Suite struct GraphFaultTests {
    @Test(arguments: 0..<4) func randomGraphsEqualTheReferenceDespiteFaults(part: UInt64) async throws {
        for round in 0..<max(1, RandomGraphTests.rounds / 4) {
            let seed = testSeed() &+ 77 &+ part &* 1_000_003 &+ UInt64(round)
            let sequence = try GraphSequence(
                seed: seed, isStored: round % 3 == 0, configuration: round % 2 == 0 ? .uncached : .init())
            try await sequence.run()
        }
    }
}

/// One sequence of steps.
@MainActor private final class GraphSequence {
    private let seed: UInt64
    private var random: SeededRandom
    private let isStored: Bool
    private let configuration: PersistentContainer.Configuration
    private let directory: TemporaryDirectory
    private let layout = ModelLayout(.graph)
    private let faulty: FaultyCalls
    /// The calls for the files that fail.
    private let failing: Guarded<Range<Int>>
    private var store: FaultyStore
    private var container: PersistentContainer
    private var label: Testing.Comment = ""
    /// What the store has, where no save is pending.
    private var stored = GraphReference()
    /// What everybody sees.
    private var shown = GraphReference()
    /// Whether every commit fails.
    private var isFull = false

    init(seed: UInt64, isStored: Bool, configuration: PersistentContainer.Configuration) throws {
        (self.seed, self.isStored, self.configuration) = (seed, isStored, configuration)
        random = SeededRandom(seed: seed)
        directory = try TemporaryDirectory()
        let failing = Guarded(0..<0)
        self.failing = failing
        faulty = try FaultyCalls(seed % 2 == 0 ? .io : .full) { number in failing.withLock { $0.contains(number) } }
        (store, container) = try GraphSequence.open(
            layout, isStored ? directory.store : nil, faulty.calls, configuration)
    }

    private static func open(
        _ layout: ModelLayout, _ url: URL?, _ calls: FileCalls, _ configuration: PersistentContainer.Configuration
    ) throws -> (FaultyStore, PersistentContainer) {
        guard let url else {
            let store = FaultyStore(layout)
            let container = PersistentContainer(
                layout, store, startup: StoreStartup(reason: .firstLaunch), configuration: configuration)
            return (store, container)
        }
        let identity = StoreIdentity(
            modelHash: layout.model.hash.description,
            entityHashes: layout.model.entityHashes.mapValues(\.description), databaseKey: "")
        let base = try SQLiteStore.open(
            SQLiteStore.Options(
                url: url, layout: layout, identity: identity, synchronous: .normal, resetPolicy: .fail, calls: calls))
        let store = FaultyStore(over: base)
        return (store, PersistentContainer(layout, store, startup: base.startup, configuration: configuration))
    }

    func run() async throws {
        for step in 0..<30 {
            label = "seed \(seed), step \(step)"
            switch Int.random(in: 0..<24, using: &random) {
            case 0...2: try await toggleFull()
            case 3 where isFull:
                let count = container.pendingSaveCount
                #expect(await container.discardPending() == count, label)
                shown = stored
            case 4: try await reset()
            case 5, 6: try await restart()
            case 7...10 where isStored && !isFull: try await saveWhileFilesFail()
            default: try await save(waitFor: Bool.random(using: &random) ? .main : .store)
            }
            if !isFull {
                try await container.flush()
                stored = shown
            }
            guard try await container.isEqual(to: shown, label) else { return }
        }
        store.fail(with: nil)
        try await container.close()
    }

    // MARK: Steps

    private func toggleFull() async throws {
        isFull.toggle()
        store.fail(with: isFull ? noRoom : nil)
    }

    private func reset() async throws {
        guard isFull else {
            try await container.reset()
            shown = GraphReference()
            return
        }
        await expectThrows(DataSourceError.self, label) { try await self.container.reset() }
    }

    /// What is pending when the disk is full is lost.
    private func restart() async throws {
        guard isStored else { return }
        do { try await container.close() } catch { #expect(isFull, label) }
        if isFull { shown = stored }
        isFull = false
        try reopen()
    }

    private func reopen() throws {
        (store, container) = try GraphSequence.open(layout, directory.store, faulty.calls, configuration)
    }

    private struct Drawn: Sendable {
        let operations: [GraphOperation]
        let isPoisoned: Bool
        let next: GraphReference
        let refusal: GraphReference.Refusal?
    }

    private func draw() -> Drawn {
        let drawn = (0..<Int.random(in: 1...8, using: &random)).map { _ in GraphOperation(&random) }
        var next = shown
        var deleted: [GraphReference.Name] = []
        let operations = drawn.filter { $0.apply(to: &next, &deleted, from: shown) }
        let refusal = next.delete(deleted)
        return Drawn(
            operations: operations, isPoisoned: Int.random(in: 0..<10, using: &random) == 0, next: next,
            refusal: refusal)
    }

    private func perform(_ drawn: Drawn, waitFor level: SaveLevel) async throws {
        let source = try container.dataSource(GraphDataSource.self)
        try await source.perform(waitFor: level) { context in
            for operation in drawn.operations { try operation.apply(to: context) }
            if drawn.isPoisoned { throw Poison() }
        }
    }

    private func save(waitFor level: SaveLevel) async throws {
        let drawn = draw()
        do {
            try await perform(drawn, waitFor: level)
            #expect(drawn.refusal == nil && !drawn.isPoisoned, label)
            // A save of nothing waits for no disk.
            #expect(!isFull || level == .main || drawn.next.compacted == shown.compacted, label)
            shown = drawn.next
        } catch is Poison {
            #expect(drawn.isPoisoned, label)
        } catch let error as DataSourceError {
            switch drawn.refusal {
            case .denied: #expect(error.code == .deletionDenied, label)
            case .invalid: #expect(error.code == .validationFailed, label)
            case nil: #expect(isFull && level == .store && error.code == .diskFull, "\(label): \(error)")
            }
        }
    }

    /// One to three of the next calls for the files fail, whatever they are for.
    private func saveWhileFilesFail() async throws {
        let drawn = draw()
        let first = faulty.count + Int.random(in: 1...40, using: &random)
        let length = Int.random(in: 1...3, using: &random)
        failing.withLock { $0 = first..<first + length }
        defer { failing.withLock { $0 = 0..<0 } }
        do {
            try await perform(drawn, waitFor: .store)
            #expect(drawn.refusal == nil && !drawn.isPoisoned, label)
            shown = drawn.next
        } catch is Poison {
            #expect(drawn.isPoisoned, label)
        } catch let error as DataSourceError where error.code == .outcomeUnknown {
            // The next start decides.
            failing.withLock { $0 = 0..<0 }
            try? await container.close()
            try reopen()
            var found = try GraphReference(container.main)
            found.dangling = Set(try container.lostLinks())
            shown = found.compacted.differences(from: drawn.next.compacted).isEmpty ? drawn.next : shown
        } catch let error as DataSourceError {
            let isExpected = [.deletionDenied, .validationFailed].contains(error.code) == (drawn.refusal != nil)
            let isOfFiles = [.storeUnreadable, .diskFull, .storeBusy].contains(error.code)
            #expect(isExpected || isOfFiles, "\(label): \(error)")
        }
    }
}
