import ManagedModel
import PostgreSQLStore
import PredicateSQL
import RowStore
import StoreTestModel
import Testing

/// What a server is asked about rows to which relationships lead.
struct RelatedSQLTests {
    private static let (integer, text) = (TestModel.integer, TestModel.text)
    private static let subItem = TestModel.layout.entity(named: "SubItem")

    private static let tables: [Int: QueryTable] = {
        var tables = [TestModel.item: QueryFixture.table]
        if let layout = subItem {
            let names = layout.storedColumns.map { ($0, "\"\(layout.columns[$0].name)\"") }
            tables[layout.index] = QueryTable(
                layout, name: "\"s\".\"SubItem\"", key: "\"_key\"", columns: Dictionary(uniqueKeysWithValues: names))
        }
        return tables
    }()

    /// The row whose key is in the integer, as if that were a relationship.
    private func related(_ family: [Int] = [TestModel.item], _ predicate: RowPredicate = .constant(true)) -> RelatedRows
    {
        RelatedRows(
            .destination(column: Self.integer), destination: TestModel.item, family: family, predicate: predicate)
    }

    private func query(_ joined: JoinedColumn, _ predicate: (Int) -> RowPredicate) -> RowQuery {
        var query = RowQuery(entity: TestModel.item, predicate: predicate(joined.number(at: 0)), columns: [])
        query.joined = [joined]
        query.isOrdered = false
        return query
    }

    private func statement(_ query: RowQuery) -> QueryStatement? {
        QueryStatement(query, QueryFixture.table, Self.tables)
    }

    private func sql(_ query: RowQuery) throws -> String {
        let statement = try #require(self.statement(query))
        #expect(statement.filter == nil && statement.joined.isEmpty)
        return try String(#require(statement.sql.split(separator: " WHERE ", maxSplits: 1).last))
    }

    @Test func anAttributeBeyondARelationshipIsAskedOfTheRelatedRows() throws {
        let title = JoinedColumn(.value(related(), column: Self.text), .text)
        #expect(
            try sql(query(title) { .compare(column: $0, .equal, .text("a")) })
                == #"EXISTS (SELECT 1 AS v FROM "s"."Item" AS t1 "#
                + #"WHERE (t1."_key" = t0."integer") AND (t1."text" = $1::text))"#)
        // What leads nowhere is null, which is not equal to the string.
        #expect(
            try sql(query(title) { .compare(column: $0, .notEqual, .text("a")) })
                == #"NOT EXISTS (SELECT 1 AS v FROM "s"."Item" AS t1 "#
                + #"WHERE (t1."_key" = t0."integer") AND (t1."text" = $1::text))"#
        )
    }

    @Test func rowsOfSeveralEntitiesAreAskedEach() throws {
        let sub = try #require(Self.subItem).index
        let any = JoinedColumn(.exists(related([TestModel.item, sub])), .boolean)
        let (item, other) = (
            #"SELECT 1 AS v FROM "s"."Item" AS t1 WHERE (t1."_key" = t0."integer")"#,
            #"SELECT 1 AS v FROM "s"."SubItem" AS t2 WHERE (t2."_key" = t0."integer")"#
        )
        #expect(
            try sql(query(any) { .compare(column: $0, .equal, .integer(1)) })
                == "(EXISTS (\(item)) OR EXISTS (\(other)))")
        #expect(
            try sql(query(any) { .compare(column: $0, .equal, .integer(0)) })
                == "(NOT EXISTS (\(item)) AND NOT EXISTS (\(other)))")
    }

    @Test func joinedColumnsAreReturnedAndSortedByTheirPlace() throws {
        let title = JoinedColumn(.value(related(), column: Self.text), .text)
        var query = self.query(title) { _ in .constant(true) }
        query.isOrdered = true
        query.sort = [SortKey(column: title.number(at: 0), isAscending: false)]
        query.limit = 3
        let statement = try #require(self.statement(query))
        #expect(
            statement.sql == #"SELECT t0."_key", (SELECT t1."text" AS v FROM "s"."Item" AS t1 "#
                + #"WHERE (t1."_key" = t0."integer") LIMIT 1) FROM "s"."Item" AS t0 "#
                + #"ORDER BY 2 DESC NULLS LAST, t0."_key" LIMIT $1::bigint"#)
        #expect(statement.joined == [title.number(at: 0)])
    }

    @Test func columnsThatAreTestedHereAreReturned() throws {
        let title = JoinedColumn(.value(related(), column: Self.text), .text)
        let matcher = try StringMatcher(.contains, "a", .caseInsensitive)
        let statement = try #require(self.statement(query(title) { .text(.column($0), matcher) }))
        #expect(statement.filter != nil)
        #expect(statement.joined == [title.number(at: 0)])
    }

    @Test func countsAreMadeThereAndSumsHere() throws {
        let count = JoinedColumn(.aggregate(related(), .count, column: nil), .integer)
        #expect(
            try sql(query(count) { .compare(column: $0, .greater, .integer(2)) })
                == #"(SELECT count(*) FROM (SELECT 1 AS v FROM "s"."Item" AS t1 "#
                + #"WHERE (t1."_key" = t0."integer")) AS related) > $1::bigint"#)
        let least = JoinedColumn(.aggregate(related(), .min, column: Self.text), .text)
        #expect(
            try sql(query(least) { .compare(column: $0, .equal, .text("a")) })
                == #"(SELECT min(v) FROM (SELECT t1."text" AS v FROM "s"."Item" AS t1 "#
                + #"WHERE (t1."_key" = t0."integer")) AS related) = $1::text"#)
        // A server would refuse the whole statement for a sum that is too large.
        let sum = JoinedColumn(.aggregate(related(), .sum, column: Self.integer), .integer)
        #expect(statement(query(sum) { .compare(column: $0, .greater, .integer(2)) }) == nil)
    }

    @Test func relatedRowsThatAreTestedHereAreReadHere() {
        let folded = RowPredicate.compareExpressions(
            .column(Self.text), .equal, .constant(.text("a")), .folded(.caseInsensitive))
        let any = JoinedColumn(.exists(related([TestModel.item], folded)), .boolean)
        #expect(statement(query(any) { .compare(column: $0, .equal, .integer(1)) }) == nil)
    }
}
