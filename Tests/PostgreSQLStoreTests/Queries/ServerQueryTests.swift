#if PostgreSQL
import PostgreSQLStore
import RowStore
import StoreTestModel
import TestSupport
import Testing

/// Queries over more rows than come in one page.
@Suite(.enabled(if: PostgreSQLServer.isInstalled, Comment(rawValue: PostgreSQLServer.comment)))
struct ServerQueryTests {
    private static let rowCount: Int64 = 10_000
    /// A test that the server cannot make: decimals are ordered here.
    private static let below100 = RowPredicate.compare(column: TestModel.decimal, .less, .text("100"))

    private let statements = Guarded<[String]>([])

    /// Calls the body with a store of rows whose integers are their keys and whose decimals count down.
    private func withRows(_ body: (any StoreReader) throws(DataSourceError) -> Void) throws {
        let server = try PostgreSQLServer.shared
        var options = PostgreSQLStore.Options(
            connection: server.connectionString(database: try server.makeDatabase()), name: "rows",
            layout: TestModel.layout, identity: TestModel.identity(), synchronous: .normal)
        let statements = statements
        options.tracing = StatementTracing(showsValues: false) { trace in
            statements.withLock { $0.append(trace.sql) }
        }
        let store = try PostgreSQLStore.open(options)
        defer { store.close() }
        var changes = EntityChanges(entity: TestModel.item)
        changes.inserted = (1...Self.rowCount).map { key in
            var row = RowSnapshot(columnCount: TestModel.columnCount)
            row.setInteger(key, TestModel.integer)
            row.setText("\(Self.rowCount - key)", TestModel.decimal)
            return StoredRow(key: key, row: row)
        }
        _ = try store.commit([ChangeSet(entities: [changes])])
        statements.withLock { $0 = [] }
        try store.read(.statement, body)
    }

    private var fetchCount: Int { statements.withLock { $0.count { $0.hasPrefix("FETCH") } } }

    @Test func aFilterWithALimitFetchesNoPageAfterTheLastRowThatIsWanted() throws {
        try withRows { reader throws(DataSourceError) in
            let high = RowPredicate.compare(column: TestModel.decimal, .greater, .text("100"))
            let page = RowQuery(entity: TestModel.item, predicate: high, limit: 5, offset: 3)
            #expect(try reader.rows(page).map(\.key) == [4, 5, 6, 7, 8])
            #expect(fetchCount == 1)
        }
    }

    @Test func aFilterReadsOnUntilEnoughRowsHavePassed() throws {
        try withRows { reader throws(DataSourceError) in
            let all = RowQuery(entity: TestModel.item, predicate: Self.below100)
            #expect(try reader.rows(all).map(\.key) == Array(9_901...10_000))
            #expect(fetchCount > 2)
            #expect(try reader.count(all) == 100)
            // The server tests what it can, so that few rows come.
            let before = fetchCount
            let some = RowQuery(
                entity: TestModel.item,
                predicate: .and([Self.below100, .compare(column: TestModel.integer, .greater, .integer(9_950))]))
            #expect(try reader.rows(some).count == 50)
            #expect(fetchCount <= before + 2)
        }
    }

    @Test func aFewRowsAreOneStatement() throws {
        try withRows { reader throws(DataSourceError) in
            let page = RowQuery(
                entity: TestModel.item, sort: [SortKey(column: TestModel.integer, isAscending: false)], limit: 3)
            let before = statements.withLock { $0.count }
            #expect(try reader.rows(page).map(\.key) == [10_000, 9_999, 9_998])
            #expect(try reader.count(page) == 10_000)
            #expect(statements.withLock { $0.count } == before + 2)
        }
    }

    @Test func rowsThatAreSortedHereComeInTheirWindow() throws {
        try withRows { reader throws(DataSourceError) in
            let query = RowQuery(
                entity: TestModel.item, sort: [SortKey(column: TestModel.decimal)], limit: 2, offset: 1)
            #expect(try reader.rows(query).map(\.key) == [9_999, 9_998])
        }
    }

    @Test func theServerSaysHowItFindsTheRows() throws {
        try withRows { reader throws(DataSourceError) in
            let query = RowQuery(
                entity: TestModel.item,
                predicate: .and([Self.below100, .compare(column: TestModel.integer, .equal, .integer(5))]))
            let explanation = try reader.explain(query)
            #expect(explanation.statement.hasSuffix(#"WHERE t0."integer" = $1::bigint ORDER BY t0."_key""#))
            #expect(explanation.steps.contains { $0.contains("Scan") && $0.contains("Item") })
            #expect(explanation.steps.last == "TEST EACH ROW OUTSIDE OF POSTGRESQL BY decimal")
        }
    }
}
#endif
