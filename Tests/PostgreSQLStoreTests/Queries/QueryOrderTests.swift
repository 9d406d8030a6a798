import PostgreSQLStore
import PredicateSQL
import RowStore
import StoreTestModel
import Testing

/// Order, limit and cursors, as SQL.
struct QueryOrderTests {
    private let ascending = SortKey(column: TestModel.integer)
    private let descending = SortKey(column: TestModel.text, isAscending: false)

    private func query(_ sort: [SortKey] = [], _ predicate: RowPredicate = .constant(true)) -> RowQuery {
        RowQuery(entity: TestModel.item, predicate: predicate, sort: sort, columns: [TestModel.real])
    }

    @Test func theKeyComesFirstAndDecidesLast() throws {
        let statement = try QueryFixture.statement(query([ascending, descending]))
        #expect(
            statement.sql == #"SELECT t0."_key", t0."integer", t0."real", t0."text" FROM "s"."Item" AS t0 "#
                + #"ORDER BY t0."integer" ASC NULLS FIRST, t0."text" DESC NULLS LAST, t0."_key""#)
        #expect(statement.columns == [TestModel.integer, TestModel.real, TestModel.text])
        #expect(statement.isSorted && statement.appliesWindow)
    }

    @Test func columnsOfTheFilterAreRead() throws {
        let local = RowPredicate.compare(column: TestModel.decimal, .less, .text("1"))
        #expect(try QueryFixture.statement(query([], local)).columns == [TestModel.real, TestModel.decimal])
        var all = query([], local)
        all.columns = nil
        #expect(try QueryFixture.statement(all).columns == QueryFixture.layout.storedColumns)
    }

    @Test func aWindowIsTwoParameters() throws {
        var window = query([ascending], .compareKey(.less, 9))
        (window.limit, window.offset) = (5, 2)
        let statement = try QueryFixture.statement(window)
        #expect(statement.sql.hasSuffix(#"t0."_key" LIMIT $2::bigint OFFSET $3::bigint"#))
        #expect(statement.parameters == [.value(.integer(9)), .value(.integer(5)), .value(.integer(2))])
        window.limit = nil
        #expect(try QueryFixture.statement(window).sql.hasSuffix(#"t0."_key" OFFSET $2::bigint"#))
    }

    @Test func rowsThatAreTestedOrSortedHereAreCountedHere() throws {
        var window = query([ascending], .compare(column: TestModel.decimal, .less, .text("1")))
        window.limit = 5
        #expect(try !QueryFixture.statement(window).appliesWindow)
        window.predicate = .constant(true)
        window.sort = [SortKey(column: TestModel.decimal)]
        let statement = try QueryFixture.statement(window)
        #expect(!statement.isSorted && !statement.appliesWindow)
        #expect(!statement.sql.contains("ORDER BY") && !statement.sql.contains("LIMIT"))
        window.isOrdered = false
        #expect(try QueryFixture.statement(window).sql.hasSuffix("AS t0 LIMIT $1::bigint"))
    }

    @Test func foldedOrdersAreNoOrdersOfTheServer() throws {
        let folded = SortKey(column: TestModel.text, order: .folded(.caseInsensitive))
        #expect(try !QueryFixture.statement(query([folded])).isSorted)
        // It does not apply to numbers.
        let number = SortKey(column: TestModel.integer, order: .folded(.caseInsensitive))
        #expect(try QueryFixture.statement(query([number])).isSorted)
    }

    @Test func aColumnThatIsNotStoredOrdersNothing() throws {
        let statement = try QueryFixture.statement(query([SortKey(column: TestModel.flag)]))
        #expect(statement.sql.hasSuffix(#"ORDER BY t0."_key""#))
    }

    @Test func ascendingOrdersGoOnAfterOneComparison() throws {
        let sort = [ascending, SortKey(column: TestModel.real)]
        let cursor = RowCursor(key: 8, values: [.integer(3), .real(0.5)])
        let predicate = RowPredicate.follows(cursor, sort)
        #expect(
            try QueryFixture.sql(predicate)
                == #"(t0."integer", t0."real", t0."_key") > ($1::bigint, $2::float8, $3::bigint)"#)
        #expect(try QueryFixture.filter(predicate) == nil)
        #expect(try QueryFixture.sql(.follows(cursor, [])).isEmpty)
        #expect(
            try QueryFixture.sql(.follows(RowCursor(key: 8, values: []), [])) == #"t0."_key" > $1::bigint"#)
    }

    @Test func otherOrdersGoOnAfterOneForEachKey() throws {
        let predicate = RowPredicate.follows(RowCursor(key: 8, values: [.text("a")]), [descending])
        #expect(
            try QueryFixture.sql(predicate) == #"((t0."text" <= $1::text OR t0."text" IS NULL) AND "#
                + #"(t0."text" < $2::text OR t0."text" IS NULL OR (t0."text" = $3::text AND t0."_key" > $4::bigint)))"#)
        let null = RowPredicate.follows(RowCursor(key: 8, values: [.null]), [ascending])
        #expect(
            try QueryFixture.sql(null)
                == #"(t0."integer" IS NOT NULL OR (t0."integer" IS NULL AND t0."_key" > $1::bigint))"#)
    }

    @Test func ordersOfThisSideGoOnHere() throws {
        let folded = [ascending, SortKey(column: TestModel.text, order: .folded(.caseInsensitive))]
        let predicate = RowPredicate.follows(RowCursor(key: 8, values: [.integer(3), .text("a")]), folded)
        #expect(try QueryFixture.sql(predicate) == #"t0."integer" >= $1::bigint"#)
        #expect(try QueryFixture.filter(predicate) == predicate)
    }

    @Test func countsAreMadeThereUnlessRowsAreTestedHere() throws {
        var count = query([ascending], .compareKey(.less, 9))
        (count.limit, count.offset) = (0, 5)
        let statement = try QueryFixture.statement(count, isCount: true)
        #expect(statement.sql == #"SELECT count(*) FROM "s"."Item" AS t0 WHERE t0."_key" < $1::bigint"#)
        #expect(statement.isCount && !statement.isEmpty)
        count.predicate = .compare(column: TestModel.decimal, .less, .text("1"))
        let tested = try QueryFixture.statement(count, isCount: true)
        #expect(tested.sql == #"SELECT t0."_key", t0."decimal" FROM "s"."Item" AS t0"#)
        #expect(!tested.isCount)
    }

    @Test func anExplanationSaysWhatIsDoneHere() throws {
        var mixed = query(
            [SortKey(column: TestModel.decimal)],
            .and([.compareKey(.less, 9), .compare(column: TestModel.decimal, .less, .text("1"))]))
        mixed.limit = 1
        let explanation = try PageSource([]).explain(mixed)
        #expect(explanation.statement.hasSuffix(#"WHERE t0."_key" < $1::bigint"#))
        #expect(
            explanation.steps == [
                "Seq Scan", "TEST EACH ROW OUTSIDE OF POSTGRESQL BY decimal", "SORT OUTSIDE OF POSTGRESQL",
                "APPLY LIMIT AND OFFSET OUTSIDE OF POSTGRESQL",
            ])
        #expect(try PageSource([]).explain(query()).steps == ["Seq Scan"])
        #expect(try PageSource([]).explain(query([], .constant(false))).steps == ["NO ROW CAN MATCH"])
    }
}
