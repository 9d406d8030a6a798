import CoreDataSource
import Foundation
import QueryLanguage
import RowStore
import SQLiteStore
import TestSupport
import Testing

#if PostgreSQL
import PostgreSQLStore
#endif

/// Every store answers every query as rows in memory do: the same rows, in the same order, on the same pages.
///
/// `COREDATASOURCE_QUERIES` says how many random pairs of predicate and rows are tried, and `COREDATASOURCE_SEED` repeats a run.
struct QueryEqualityTests {
    private static let environment = ProcessInfo.processInfo.environment
    private static let count = environment["COREDATASOURCE_QUERIES"].flatMap { Int($0) } ?? 2000
    private static let seed = testSeed()
    /// How many predicates are tried on the same rows.
    private static let round = 500

    private let layout = QuerySamples.sample

    @Test(arguments: SharedPlace.Kind.all) func everyStoreFindsTheSameRowsAsMemory(kind: SharedPlace.Kind) throws {
        print("QueryEqualityTests: COREDATASOURCE_SEED=\(QueryEqualityTests.seed)")
        var source = PredicateSource(random: SeededRandom(seed: QueryEqualityTests.seed))
        let directory = try TemporaryDirectory()
        let store = try open(kind, directory.store)
        var rows: [StoredRow] = []
        var matches = 0
        for index in 0..<QueryEqualityTests.count {
            if index % QueryEqualityTests.round == 0 { try replace(&rows, in: store, kind, &source) }
            matches += try tryOne(&source, rows, store)
        }
        // Most predicates let some rows pass and not others, or nothing was tested.
        #expect(matches > QueryEqualityTests.count)
        store.close()
    }

    private func open(_ kind: SharedPlace.Kind, _ url: URL) throws -> any PersistentStore {
        let identity = StoreIdentity(modelHash: "1", entityHashes: ["Sample": "1"], databaseKey: "1")
        #if PostgreSQL
        if kind == .postgreSQL {
            let server = try PostgreSQLServer.shared
            return try PostgreSQLStore.open(
                PostgreSQLStore.Options(
                    connection: server.connectionString(database: try server.makeDatabase()), name: "samples",
                    layout: QuerySamples.layout, identity: identity, synchronous: .normal))
        }
        #endif
        return try SQLiteStore.open(
            SQLiteStore.Options(
                url: url, layout: QuerySamples.layout, identity: identity, synchronous: .normal))
    }

    /// - Parameter kind: A server has no strings with a NUL character. The predicates have.
    private func replace(
        _ rows: inout [StoredRow], in store: any PersistentStore, _ kind: SharedPlace.Kind,
        _ source: inout PredicateSource
    ) throws {
        var changes = EntityChanges(entity: 0)
        changes.deleted = rows
        rows = (1...40).map { StoredRow(key: Int64($0), row: QuerySamples.row(&source.random)) }
        if kind == .postgreSQL {
            for index in rows.indices { rows[index].row.removeNULs(layout) }
        }
        changes.inserted = rows
        _ = try store.commit([ChangeSet(entities: [changes])])
    }

    /// - Returns: How many rows matched.
    private func tryOne(_ source: inout PredicateSource, _ rows: [StoredRow], _ store: any PersistentStore) throws
        -> Int
    {
        let node = source.node(3)
        let predicate = try PredicateTree(node).resolved(layout)
        var query = RowQuery(entity: 0, predicate: predicate, sort: source.sort())
        let all = try rows.filter { try predicate.evaluate($0, layout, QueryBudget()) }
            .sorted { $0.precedes($1, by: query.sort, layout) }
        let (count, keys) = try store.read(.statement) { (reader) throws(DataSourceError) in
            (try reader.count(query), try reader.rows(query).map(\.key))
        }
        if count != all.count || keys != all.map(\.key) { record(node, query, keys, all.map(\.key)) }
        // A window, after a row that need not be among them.
        query.limit = Int.random(in: 0...20, using: &source.random)
        query.offset = Int.random(in: 0...5, using: &source.random)
        var rest = all[...]
        if let place = rows.randomElement(using: &source.random) {
            query.predicate = .and([
                predicate, .follows(RowCursor(place, query.sort, layout), query.sort),
            ])
            rest = rest.filter { place.precedes($0, by: query.sort, layout) }[...]
        }
        let page = rest.dropFirst(query.offset).prefix(query.limit ?? 0).map(\.key)
        let found = try store.read(.statement) { (reader) throws(DataSourceError) in try reader.rows(query).map(\.key) }
        if found != Array(page) { record(node, query, found, Array(page)) }
        return all.count
    }

    private func record(_ node: PredicateTree.Node, _ query: RowQuery, _ found: [Int64], _ expected: [Int64]) {
        Issue.record("seed \(QueryEqualityTests.seed): \(found) and not \(expected) for \(node), as \(query)")
    }

    /// However a predicate is shortened for SQL, it means what it says: each key read through a calculation, lists and ranges
    /// as comparisons, no text or number in a place where it could be looked up.
    @Test func shortFormsMeanWhatLongOnesDo() throws {
        var source = PredicateSource(random: SeededRandom(seed: QueryEqualityTests.seed))
        var rows: [RowSnapshot] = []
        for index in 0..<QueryEqualityTests.count {
            if index % 100 == 0 { rows = (0..<20).map { _ in QuerySamples.row(&source.random) } }
            let node = source.node(2)
            let short = try PredicateTree(node).resolved(layout)
            let long = try PredicateTree(node.spelledOut).resolved(layout)
            for row in rows {
                let budget = QueryBudget()
                if try short.evaluate(row, layout, budget) == long.evaluate(row, layout, budget) { continue }
                Issue.record("seed \(QueryEqualityTests.seed): \(PredicateTree(node)) is \(short) and not \(long)")
                break
            }
        }
    }

    /// The comparisons that an index serves give what comparing the values does.
    @Test func aColumnAndANumberOfAnotherKindAreComparedExactly() throws {
        var random = SeededRandom(seed: 1)
        let wanted =
            QuerySamples.numbers.flatMap { QuerySamples.values[$0] ?? [] }
            + [.double(1.5), .double(-0.5), .double(1e19), .double(-1e19), .decimal(Decimal(string: "0.5") ?? 0)]
        let relations: [ComparisonOperator] = [.equal, .notEqual, .less, .lessOrEqual, .greater, .greaterOrEqual]
        for _ in 0..<40 {
            let row = QuerySamples.row(&random)
            for name in QuerySamples.numbers {
                guard let column = layout.column(named: name) else { continue }
                let held = row.value(column, layout.columns[column].storage)
                for value in wanted {
                    for relation in relations {
                        let predicate = try PredicateTree(
                            .compare(.keyPath([name]), relation, .constant(value), [])
                        ).resolved(layout)
                        var order = ValueOrder.natural
                        if name == "price" { order = .decimal }
                        if case .decimal = value { order = .decimal }
                        #expect(
                            try predicate.evaluate(row, layout, QueryBudget())
                                == order.holds(held, relation, QuerySamples.stored(value)),
                            "\(name) = \(held) \(relation) \(value): \(predicate)")
                    }
                }
            }
        }
    }
}

extension RowSnapshot {
    /// Without the strings that a server cannot have.
    fileprivate mutating func removeNULs(_ layout: EntityLayout) {
        for column in layout.columns.indices where layout.columns[column].storage == .text {
            if withBytes(column, { $0.contains(0) }) { setNull(column) }
        }
    }
}

extension PredicateTree.Node {
    /// The same, said so that no short cut applies.
    fileprivate var spelledOut: Self {
        switch self {
        case .constant, .custom, .invalid, .isWithin: self
        case .compare(let one, let relation, let other, let options):
            .compare(one.spelledOut, relation, other.spelledOut, options)
        case .text(let one, .matches, let other, let options): .text(one.spelledOut, .matches, other, options)
        case .text(let one, let comparison, let other, let options):
            .text(one.spelledOut, comparison, other.spelledOut, options)
        case .isIn(let one, .list(let items), let options):
            .or(items.map { .compare(one.spelledOut, .equal, $0.spelledOut, options) })
        // Only formats say that of a string.
        case .isIn(let one, let other, let options):
            .formatText(other.spelledOut, .contains, with: one.spelledOut, options: options)
        case .between(let one, let low, let high, let options):
            .and([
                .compare(one.spelledOut, .greaterOrEqual, low.spelledOut, options),
                .compare(one.spelledOut, .lessOrEqual, high.spelledOut, options),
            ])
        case .quantified(let quantifier, let inner): .quantified(quantifier, inner.spelledOut)
        case .not(let inner): .not(inner.spelledOut)
        case .and(let nodes): nodes.reduce(.constant(true)) { .and([$0, $1.spelledOut]) }
        case .or(let nodes): nodes.reduce(.constant(false)) { .or([$0, $1.spelledOut]) }
        }
    }
}

extension FetchExpression {
    fileprivate var spelledOut: Self {
        switch self {
        case .keyPath: .coalesce(self, .constant(.null))
        case .object, .constant, .variable: self
        case .path(let base, let path): .path(base.spelledOut, path)
        case .subquery(let objects, let name, let test): .subquery(objects, variable: name, test.spelledOut)
        case .list(let items): .list(items.map(\.spelledOut))
        case .arithmetic(let one, let operation, let other): .arithmetic(one.spelledOut, operation, other.spelledOut)
        case .negated(let inner): .negated(inner.spelledOut)
        case .function(let function, let items): .function(function, items.map(\.spelledOut))
        case .conditional(let test, let one, let other):
            .conditional(test.spelledOut, one.spelledOut, other.spelledOut)
        case .coalesce(let one, let other): .coalesce(one.spelledOut, other.spelledOut)
        case .cast(let inner, let type): .cast(inner.spelledOut, type)
        }
    }
}
