import CoreDataSource
import Foundation
import TestSupport
import Testing

/// Lists of several data sources while everything happens at once: random saves, pauses, windows that move, resets, other programs,
/// and delegates that read, register, resume and save in their calls.
///
/// `COREDATASOURCE_LIST_REPLAY` says how many steps are made, each with one or several saves, and `COREDATASOURCE_SEED` repeats a
/// run.
@MainActor
struct ListReplayTests {
    private nonisolated static let stepCount =
        ProcessInfo.processInfo.environment["COREDATASOURCE_LIST_REPLAY"].flatMap { Int($0) } ?? 240
    private nonisolated static let seed = testSeed()
    /// How many steps are made with one store.
    private nonisolated static let stepsOfAStore = 40

    @Test(arguments: StoreKind.allCases)
    func everyTableAndObjectEqualsAFreshFetch(kind: StoreKind) async throws {
        var problems: [String] = []
        for round in 0..<max(1, Self.stepCount / 2 / Self.stepsOfAStore) where problems.isEmpty {
            let seed = Self.seed &+ UInt64(round)
            try await withTopicsAndLetters(kind) { container, url, topics, letters in
                let replay = ListReplay(container, topics, letters, kind == .sqlite ? url : nil, seed: seed)
                for _ in 0..<Self.stepsOfAStore where replay.problems.isEmpty { try await replay.step() }
                problems = replay.problems.map { "\(kind), COREDATASOURCE_SEED \(seed): \($0)" }
                replay.end()
            }
        }
        #expect(problems == [])
    }

    private func withTopicsAndLetters(
        _ kind: StoreKind,
        _ body: @MainActor (PersistentContainer, URL, TopicDataSource, LetterDataSource) async throws -> Void
    ) async throws {
        let directory = try TemporaryDirectory()
        let container = try await PersistentContainer(
            model: .graph, store: kind == .sqlite ? .sqlite(directory.store) : .inMemory,
            configuration: .init(synchronous: .normal))
        try await body(
            container, directory.store, try container.dataSource(TopicDataSource.self),
            try container.dataSource(LetterDataSource.self))
        try await container.close()
    }
}
