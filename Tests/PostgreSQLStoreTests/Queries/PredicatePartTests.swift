import PostgreSQLStore
import RowStore
import StoreTestModel
import Testing

/// Which parts of a predicate the server tests, and which are tested here.
struct PredicatePartTests {
    private let portable = RowPredicate.compare(column: TestModel.integer, .equal, .integer(1))
    private let local = RowPredicate.compare(column: TestModel.decimal, .less, .text("1"))
    private let sql = #"t0."integer" = $1::bigint"#

    @Test func eachPartOfAConjunctionGoesWhereItCanBeTested() throws {
        let predicate = RowPredicate.and([local, .and([portable, .not(.or([local, .not(portable)]))])])
        #expect(try QueryFixture.sql(predicate) == #"t0."integer" = $1::bigint AND t0."integer" = $2::bigint"#)
        #expect(try QueryFixture.filter(predicate) == .and([local, .not(local)]))
    }

    @Test func alternativesAreTestedTogether() throws {
        let predicate = RowPredicate.or([portable, local])
        #expect(try QueryFixture.sql(predicate).isEmpty)
        #expect(try QueryFixture.parameters(predicate).isEmpty)
        #expect(try QueryFixture.filter(predicate) == predicate)
    }

    @Test func alternativesOfConjunctionsSendWhatEachOfThemCan() throws {
        let predicate = RowPredicate.or([.and([local, portable]), portable])
        #expect(
            try QueryFixture.sql(predicate) == #"(t0."integer" = $1::bigint OR t0."integer" = $2::bigint)"#)
        #expect(try QueryFixture.filter(predicate) == predicate)
    }

    @Test func aNegationReachesTheComparisons() throws {
        let predicate = RowPredicate.not(.and([portable, .not(.compareKey(.less, 5))]))
        #expect(
            try QueryFixture.sql(predicate)
                == #"(t0."integer" IS DISTINCT FROM $1::bigint OR t0."_key" < $2::bigint)"#)
        #expect(try QueryFixture.filter(predicate) == nil)
    }

    @Test func partsThatDecideNothingAreLeftOut() throws {
        #expect(try QueryFixture.sql(.and([.constant(true), portable])) == sql)
        #expect(try QueryFixture.sql(.or([.constant(false), portable])) == sql)
        #expect(try QueryFixture.sql(.or([.constant(true), portable])).isEmpty)
        #expect(try QueryFixture.parameters(.or([portable, .constant(true)])).isEmpty)
        #expect(try QueryFixture.sql(.and([])).isEmpty)
    }

    @Test func aPredicateThatNoRowMatchesAsksNobody() throws {
        let statement = try QueryFixture.statement(
            RowQuery(entity: TestModel.item, predicate: .and([portable, local, .constant(false)])))
        #expect(statement.isEmpty)
        #expect(statement.filter == nil && statement.parameters.isEmpty)
        let source = PageSource([StoredRow(key: 1, row: RowSnapshot(columnCount: TestModel.columnCount))])
        #expect(try source.rows(statement.query).isEmpty)
        #expect(try source.count(statement.query) == 0)
        #expect(source.readCount == 0)
    }

    @Test func deepAndLongPredicatesAreTestedHere() throws {
        var deep = portable
        for _ in 0..<100 { deep = .or([.and([deep, portable]), portable]) }
        #expect(try QueryFixture.filter(deep) == deep)
        let long = RowPredicate.or((0..<20_000).map { .compare(column: TestModel.integer, .less, .integer($0)) })
        #expect(try QueryFixture.filter(long) == long)
        #expect(try QueryFixture.parameters(long).isEmpty)
        let wide = RowPredicate.and((0..<20_000).map { .compare(column: TestModel.integer, .less, .integer($0)) })
        #expect(try QueryFixture.parameters(wide).count == 10_000)
        #expect(try QueryFixture.filter(wide) != nil)
    }
}
