import CoreDataSource
import Foundation
import RowStore
import SQLiteStore
import TestSupport
import Testing

/// A request is answered over what is stored, what is saved but not committed, and what is edited, as over one list of rows.
///
/// `COREDATASOURCE_TIER_QUERIES` says how many random requests are tried, and `COREDATASOURCE_SEED` repeats a run.
@MainActor
struct TierQueryTests {
    private nonisolated static let environment = ProcessInfo.processInfo.environment
    private nonisolated static let count = environment["COREDATASOURCE_TIER_QUERIES"].flatMap { Int($0) } ?? 400
    private nonisolated static let seed = testSeed()

    /// What the rows would be if everything were stored.
    private struct World: Sendable {
        var rows: [Int64: RowSnapshot] = [:]
        var source: PredicateSource

        mutating func below(_ bound: Int) -> Int { Int.random(in: 0..<bound, using: &source.random) }

        /// Inserts, edits and deletes a few objects.
        mutating func edit(in context: isolated PrivateContext) throws {
            for _ in 0..<(1 + below(6)) {
                let known = rows.keys.sorted()
                switch known.count > 25 ? 2 : below(known.isEmpty ? 1 : 4) {
                case 2:
                    let key = known[below(known.count)]
                    try context.delete(object(key, in: context))
                    rows[key] = nil
                case 3:
                    let key = known[below(known.count)]
                    try change(object(key, in: context), attributes: 1 + below(3))
                default: try change(context.insert(SampleEntity.self), attributes: 12)
                }
            }
        }

        private func object(_ key: Int64, in context: isolated PrivateContext) throws -> SampleEntity {
            try #require(try context.object(SampleEntity.self, id: ManagedObjectID(QuerySamples.sample, key: key)))
        }

        private mutating func change(_ object: SampleEntity, attributes: Int) {
            let key = object.objectID.key
            var row = rows[key] ?? RowSnapshot(columnCount: QuerySamples.sample.columns.count)
            for _ in 0..<attributes {
                let name = QuerySamples.names[below(QuerySamples.names.count)]
                guard let column = object.layout(name), let value = QuerySamples.values[name] else { continue }
                let new = below(5) == 0 ? .null : value[below(value.count)]
                object.set(new, column)
                row.setValue(QuerySamples.stored(new), column)
            }
            rows[key] = row
        }

        /// Changes or deletes whatever passes a random predicate, all at once.
        mutating func batch() throws -> Batch {
            let predicate = FetchPredicate(source.node(2))
            let resolved = try predicate.resolved(QuerySamples.sample)
            let found = rows.filter { resolved.evaluate($1, key: $0, QuerySamples.sample) }
            if below(8) == 0 {
                for key in found.keys { rows[key] = nil }
                return Batch(predicate: predicate, values: nil, count: found.count)
            }
            let text = QuerySamples.texts[below(QuerySamples.texts.count)]
            let number: Int64? = below(3) == 0 ? nil : Int64(below(3))
            var count = 0
            for (key, old) in found {
                guard let name = QuerySamples.sample.column(named: "name"),
                    let long = QuerySamples.sample.column(named: "long")
                else { continue }
                let new = number.map { RowValue.integer($0) } ?? .null
                if !old.holds(.text(text), column: name) || !old.holds(new, column: long) { count += 1 }
                rows[key]?.setText(text, name)
                rows[key]?.setValue(new, long)
            }
            return Batch(
                predicate: predicate, values: [.set(\.name, text), .set(\.long, number)], count: count)
        }

        mutating func question() throws -> Question {
            var request = FetchRequest(SampleEntity.self, where: FetchPredicate(source.node(2)))
            var sort: [SortKey] = []
            for _ in 0..<below(3) {
                let name = QuerySamples.names.filter { $0 != "thing" && $0 != "parent" }[below(12)]
                let options = FetchOrder.Options(rawValue: below(8))
                request.order.append(FetchOrder(name, isAscending: below(2) == 0, options))
                let isText = QuerySamples.strings.contains(name) || name == "site"
                sort.append(
                    SortKey(
                        column: QuerySamples.sample.column(named: name) ?? 0,
                        isAscending: request.order.last?.isAscending ?? true,
                        order: options.isEmpty || !isText
                            ? .bytes : .folded(TextOrder.SortOptions(rawValue: options.rawValue))))
            }
            if below(2) == 0 { request.limit = below(8) }
            if below(2) == 0 { request.offset = below(5) }
            let layout = QuerySamples.sample
            let predicate = try request.predicate?.resolved(layout) ?? .constant(true)
            let all = rows.map { StoredRow(key: $0, row: $1) }.filter { predicate.evaluate($0, layout) }
                .sorted { $0.precedes($1, by: sort, layout) }.map(\.key)
            return Question(
                request: request, all: all,
                answer: Array(all.dropFirst(request.offset).prefix(request.limit ?? .max)))
        }
    }

    private struct Batch: Sendable {
        let predicate: FetchPredicate
        /// Nil for a deletion.
        let values: [FetchAssignment<SampleEntity>]?
        /// How many rows change or go.
        let count: Int
    }

    private struct Question: Sendable {
        var request: FetchRequest<SampleEntity>
        var all: [Int64]
        var answer: [Int64]

        func check(_ found: [Int64], ids: [Int64], count: Int, exists: Bool, _ place: String) {
            guard found != answer || ids != answer || count != answer.count || exists == answer.isEmpty else { return }
            Issue.record(
                "\(place), seed \(TierQueryTests.seed): \(found), \(ids), \(count), \(exists) and not \(answer) for \(request)"
            )
        }

        func ask(_ context: isolated PrivateContext, _ place: String) throws {
            check(
                try context.fetch(request).map(\.objectID.key), ids: try context.ids(request).map(\.key),
                count: try context.count(request), exists: try context.exists(request), place)
        }

        @MainActor func ask(_ main: MainContext, _ place: String) throws {
            check(
                try main.fetch(request).map(\.objectID.key), ids: try main.ids(request).map(\.key),
                count: try main.count(request), exists: try main.exists(request), place)
        }
    }

    @Test func everyTierCounts() async throws {
        print("TierQueryTests: COREDATASOURCE_SEED=\(TierQueryTests.seed)")
        let directory = try TemporaryDirectory()
        let sqlite = try SQLiteStore.open(
            SQLiteStore.Options(
                url: directory.store, layout: QuerySamples.layout,
                identity: StoreIdentity(modelHash: "1", entityHashes: ["Sample": "1"], databaseKey: "1"),
                synchronous: .normal))
        let store = FaultyStore(over: sqlite)
        let container = PersistentContainer(
            QuerySamples.layout, store, StoreStartup(reason: .firstLaunch),
            .init(registeredObjectLimit: TierQueryTests.seed % 2 == 0 ? 0 : 1000))
        let samples = try container.dataSource(SampleDataSource.self)
        let world = Shared(World(source: PredicateSource(random: SeededRandom(seed: TierQueryTests.seed))))
        var asked = 0
        var round = 0
        while asked < TierQueryTests.count {
            round += 1
            // Now and then the disk refuses: saves stay in the log.
            store.fail(with: round % 6 < 3 ? nil : noRoom)
            _ = try? await samples.perform(waitFor: .main) { context in
                try world.withValue { world in
                    try world.edit(in: context)
                    for _ in 0..<4 { try world.question().ask(context, "before the save") }
                }
            }
            try world.withValue { world in
                for _ in 0..<2 { try world.question().ask(container.main, "on main") }
            }
            _ = try await samples.perform(waitFor: .main) { context in
                try world.withValue { world in
                    for _ in 0..<2 { try world.question().ask(context, "after the save") }
                }
            }
            if round % 4 == 0 {
                let batch = try world.withValue { try $0.batch() }
                let report =
                    if let values = batch.values {
                        try await samples.update(
                            SampleEntity.self, where: batch.predicate, set: values, waitFor: .main)
                    } else { try await samples.delete(SampleEntity.self, where: batch.predicate, waitFor: .main) }
                #expect(
                    report.updated + report.deleted == batch.count,
                    "seed \(TierQueryTests.seed): \(report) and not \(batch.count) for \(batch.predicate)")
                try world.withValue { world in
                    for _ in 0..<2 { try world.question().ask(container.main, "after a batch") }
                }
            }
            asked += 8
        }
        store.fail(with: nil)
        try await container.close()
    }
}

extension SampleEntity {
    fileprivate func layout(_ name: String) -> Int? { QuerySamples.sample.column(named: name) }
}

extension Shared {
    /// Calls the body with the value, which no other task uses meanwhile.
    fileprivate func withValue<R>(_ body: (inout Value) throws -> R) rethrows -> R {
        var value = self.value
        defer { self.value = value }
        return try body(&value)
    }
}
