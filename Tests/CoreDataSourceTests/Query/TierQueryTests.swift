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
        let hasParts: Bool
        var rows: [Int64: RowSnapshot] = [:]
        /// The keys of those that are parts.
        var parts: Set<Int64> = []
        var source: PredicateSource
        /// The keys of those that were deleted since the last save. Links to them read as none at once, and go when it is made.
        var deleted: Set<Int64> = []

        mutating func below(_ bound: Int) -> Int { Int.random(in: 0..<bound, using: &source.random) }

        /// Inserts, edits and deletes a few objects.
        mutating func edit(in context: PrivateContext) throws {
            for _ in 0..<(1 + below(6)) {
                let known = rows.keys.sorted()
                switch known.count > 25 ? 2 : below(known.isEmpty ? 1 : 4) {
                case 2:
                    let key = known[below(known.count)]
                    try context.delete(object(key, in: context))
                    rows[key] = nil
                    deleted.insert(key)
                case 3:
                    let key = known[below(known.count)]
                    try change(object(key, in: context), attributes: 1 + below(3))
                default: try change(inserted(in: context), attributes: 12)
                }
            }
        }

        private func object(_ key: Int64, in context: PrivateContext) throws -> SampleEntity {
            let layout = hasParts ? QuerySamples.layoutWithParts : QuerySamples.layout
            let name = parts.contains(key) ? "Part" : "Sample"
            let id = ManagedObjectID(try #require(layout.entities.first { $0.name == name }), key: key)
            return try #require(try context.object(SampleEntity.self, id: id))
        }

        private mutating func inserted(in context: PrivateContext) throws -> SampleEntity {
            guard hasParts, below(2) == 0 else { return try context.insert(SampleEntity.self) }
            let part = try context.insert(PartEntity.self)
            parts.insert(part.objectID.key)
            return part
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

        /// Does what the rule Nullify does when the edits are saved.
        mutating func save() {
            let gone = deleted
            deleted = []
            World.nullify(&rows) { gone.contains($0) }
        }

        /// The rows as they are read: once a batch has deleted objects, a link counts only if it leads to one.
        private var rowsRead: [Int64: RowSnapshot] {
            var read = rows
            if !deleted.isEmpty { World.nullify(&read) { rows[$0] == nil } }
            return read
        }

        private static func nullify(_ rows: inout [Int64: RowSnapshot], where isGone: (Int64) -> Bool) {
            guard let parent = QuerySamples.sample.column(named: "parent") else { return }
            for (key, row) in rows where !row.isNull(parent) && isGone(row.integer(parent)) {
                rows[key]?.setNull(parent)
            }
        }

        /// Changes or deletes whatever passes a random predicate, all at once.
        mutating func batch() throws -> Batch {
            let predicate = FetchPredicate<SampleEntity>(source.node(2))
            let resolved = try predicate.tree.resolved(QuerySamples.sample)
            let found = try rows.filter { try resolved.evaluate($1, key: $0, QuerySamples.sample, QueryBudget()) }
            if below(8) == 0 {
                for key in found.keys { rows[key] = nil }
                deleted = Set(found.keys)
                save()
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

        mutating func question() throws -> TierQuestion {
            var request = ObjectRequest(SampleEntity.self, where: FetchPredicate(source.node(2)))
            var sort: [SortKey] = []
            for _ in 0..<below(3) {
                let name = QuerySamples.names.filter { $0 != "thing" && $0 != "parent" }[below(12)]
                let options = StringSorting(rawValue: below(8))
                request.order.append(FetchOrder(name, isAscending: below(2) == 0, options))
                let isText = QuerySamples.strings.contains(name) || name == "site"
                sort.append(
                    SortKey(
                        column: QuerySamples.sample.column(named: name) ?? 0,
                        isAscending: request.order.last?.isAscending ?? true,
                        order: options.isEmpty || !isText
                            ? .bytes : .folded(options)))
            }
            if below(2) == 0 { request.limit = below(8) }
            if below(2) == 0 { request.offset = below(5) }
            request.includesSubentities = below(4) > 0
            let layout = QuerySamples.sample
            let predicate = try request.predicate?.tree.resolved(layout) ?? .constant(true)
            let all = try rowsRead.map { StoredRow(key: $0, row: $1) }
                .filter { request.includesSubentities || !parts.contains($0.key) }
                .filter { try predicate.evaluate($0, layout, QueryBudget()) }
                .sorted { $0.precedes($1, by: sort, layout) }
            return TierQuestion(request: request, all: all)
        }
    }

    private struct Batch: Sendable {
        let predicate: FetchPredicate<SampleEntity>
        /// Nil for a deletion.
        let values: [FetchAssignment<SampleEntity>]?
        /// How many rows change or go.
        let count: Int
    }

    private nonisolated func check(_ answers: TierAnswers, _ question: TierQuestion, _ place: String) {
        let expected = question.expected
        if answers == expected { return }
        Issue.record(
            "\(place), seed \(TierQueryTests.seed): \(answers) and not \(expected) for \(question.request)")
    }

    /// - Parameter hasParts: Whether there is a sub-entity, whose rows are in a table of their own.
    @Test(arguments: [false, true])
    func queriesIncludeEveryTier(hasParts: Bool) async throws {
        print("TierQueryTests: COREDATASOURCE_SEED=\(TierQueryTests.seed)")
        let layout = hasParts ? QuerySamples.layoutWithParts : QuerySamples.layout
        let directory = try TemporaryDirectory()
        let sqlite = try SQLiteStore.open(
            SQLiteStore.Options(
                url: directory.store, layout: layout,
                identity: StoreIdentity(modelHash: "1", entityHashes: ["Sample": "1", "Part": "1"], databaseKey: "1"),
                synchronous: .normal))
        let store = FaultyStore(over: sqlite)
        let container = PersistentContainer(
            layout, store, startup: StoreStartup(reason: .firstLaunch),
            configuration: .init(registeredObjectByteLimit: TierQueryTests.seed % 2 == 0 ? 0 : 300_000))
        let samples: EntityDataSource =
            hasParts
            ? try container.dataSource(PlainDataSource<SampleEntity, PartEntity>.self)
            : try container.dataSource(PlainDataSource<SampleEntity>.self)
        let source = PredicateSource(random: SeededRandom(seed: TierQueryTests.seed))
        let world = Shared(World(hasParts: hasParts, source: source))
        var asked = 0
        var round = 0
        while asked < TierQueryTests.count {
            round += 1
            // Now and then the disk refuses: saves stay in the log.
            store.fail(with: round % 6 < 3 ? nil : noRoom)
            _ = try await samples.perform(waitFor: .main) { context in
                try world.withValue { world in
                    try world.edit(in: context)
                    for _ in 0..<4 {
                        let question = try world.question()
                        check(try context.answers(question.request), question, "before the save")
                    }
                }
            }
            try world.withValue { world in
                world.save()
                for _ in 0..<2 {
                    let question = try world.question()
                    check(try container.main.answers(question.request), question, "on main")
                }
            }
            _ = try await samples.perform(waitFor: .main) { context in
                try world.withValue { world in
                    for _ in 0..<2 {
                        let question = try world.question()
                        check(try context.answers(question.request), question, "after the save")
                    }
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
                    (batch.values == nil ? report.deleted : report.updated) == batch.count,
                    "seed \(TierQueryTests.seed): \(report) and not \(batch.count) for \(batch.predicate)")
                try world.withValue { world in
                    for _ in 0..<2 {
                        let question = try world.question()
                        check(try container.main.answers(question.request), question, "after a batch")
                    }
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
