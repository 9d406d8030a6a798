import PostgreSQLStore
import RowStore
import StoreTestModel
import Testing

/// What is done here with the rows that a server returns.
struct StatementRowTests {
    /// Rows whose decimals are their keys, descending.
    private static func rows(_ count: Int64) -> [StoredRow] {
        (1...count).map { key in
            var row = RowSnapshot(columnCount: TestModel.columnCount)
            row.setText("\(count - key)", TestModel.decimal)
            return StoredRow(key: key, row: row)
        }
    }

    private static let below10 = RowPredicate.compare(column: TestModel.decimal, .less, .text("10"))

    private func keys(_ query: RowQuery, _ source: PageSource) throws -> [Int64] {
        try source.rows(query).map(\.key)
    }

    @Test func aFilterWithALimitReadsNoFurtherThanItHasTo() throws {
        let source = PageSource(Self.rows(100))
        let query = RowQuery(entity: TestModel.item, predicate: Self.below10, limit: 3, offset: 2)
        #expect(try keys(query, source) == [93, 94, 95])
        #expect(source.readCount == 95)
    }

    @Test func aFilterWithoutALimitReadsAll() throws {
        let source = PageSource(Self.rows(30))
        #expect(try keys(RowQuery(entity: TestModel.item, predicate: Self.below10), source) == Array(21...30))
        #expect(source.readCount == 30)
    }

    @Test func aWindowOfTheServerIsNotAppliedTwice() throws {
        let source = PageSource(Self.rows(3))
        #expect(try keys(RowQuery(entity: TestModel.item, limit: 3, offset: 2), source) == [1, 2, 3])
    }

    @Test func rowsThatTheServerCannotOrderAreSortedHere() throws {
        let sort = [SortKey(column: TestModel.decimal)]
        let source = PageSource(Self.rows(5000))
        let all = try keys(RowQuery(entity: TestModel.item, sort: sort), source)
        #expect(all == (1...5000).reversed())
        let page = try keys(RowQuery(entity: TestModel.item, sort: sort, limit: 3, offset: 700), source)
        #expect(page == [4300, 4299, 4298])
        let endless = RowQuery(entity: TestModel.item, sort: sort, limit: .max, offset: 4999)
        #expect(try keys(endless, source) == [1])
        #expect(try keys(RowQuery(entity: TestModel.item, sort: sort, limit: 1, offset: 6000), source) == [])
    }

    @Test func rowsThatAreTestedHereAreCountedHere() throws {
        let query = RowQuery(entity: TestModel.item, predicate: Self.below10, limit: 1)
        #expect(try PageSource(Self.rows(50)).count(query) == 10)
    }

    @Test func theNumberOfACountIsWhereAKeyWouldBe() throws {
        let answer = StoredRow(key: 1234, row: RowSnapshot(columnCount: TestModel.columnCount))
        #expect(try PageSource([answer]).count(RowQuery(entity: TestModel.item)) == 1234)
    }

    @Test func aCancelledTaskEndsTheQuery() async {
        let (code, readCount) = await Task {
            withUnsafeCurrentTask { $0?.cancel() }
            let source = PageSource(Self.rows(10_000))
            let query = RowQuery(
                entity: TestModel.item, sort: [SortKey(column: TestModel.decimal)],
                budget: QueryBudget(isCancellable: true))
            do throws(DataSourceError) {
                try source.forEachRow(query) { _ in }
                return (DataSourceError.Code?.none, source.readCount)
            } catch {
                return (error.code, source.readCount)
            }
        }.value
        #expect(code == .cancelled)
        #expect(readCount < 100)
    }
}
