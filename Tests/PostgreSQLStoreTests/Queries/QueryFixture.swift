import PostgreSQLStore
import PredicateSQL
import RowStore
import StoreTestModel
import Testing

/// A table that no server has, and rows of it.
enum QueryFixture {
    static let layout = TestModel.layout.entities[TestModel.item]

    static let table = QueryTable(
        layout, name: "\"s\".\"Item\"", key: "\"_key\"",
        columns: Dictionary(
            uniqueKeysWithValues: layout.storedColumns.map { ($0, "\"\(layout.columns[$0].name)\"") }))

    static func statement(_ query: RowQuery, isCount: Bool = false) throws -> QueryStatement {
        try #require(QueryStatement(query, isCount: isCount, table, [TestModel.item: table]))
    }

    /// The statement of an unordered query.
    static func statement(_ predicate: RowPredicate) throws -> QueryStatement {
        var query = RowQuery(entity: TestModel.item, predicate: predicate, columns: [])
        query.isOrdered = false
        return try statement(query)
    }

    static func parameters(_ predicate: RowPredicate) throws -> [SQLParameter] {
        try statement(predicate).parameters
    }

    static func filter(_ predicate: RowPredicate) throws -> RowPredicate? { try statement(predicate).filter }

    /// What the server evaluates of a predicate; empty for nothing.
    static func sql(_ predicate: RowPredicate) throws -> String {
        let parts = try statement(predicate).sql.split(separator: " WHERE ", maxSplits: 1)
        return parts.count == 2 ? String(parts[1]) : ""
    }
}

/// Answers statements as a server would that knows the rows, in the order in which it is given them.
final class PageSource: StatementReader {
    let rows: [StoredRow]
    let tables = [TestModel.item: QueryFixture.table]
    let layout = TestModel.layout
    private(set) var readCount = 0
    /// The plans that the server would have, as JSON, and the statements that were planned.
    private let plans: [PlanQuestion: String]
    private(set) var plannedSQL: [String] = []
    private let steps: [String]
    private(set) var indexReadCount = 0

    init(_ rows: [StoredRow], plans: [PlanQuestion: String] = [:], steps: [String] = ["Seq Scan"]) {
        self.rows = rows
        self.plans = plans
        self.steps = steps
    }

    func read(
        _ statement: QueryStatement, _ goOn: (StoredRow) throws(DataSourceError) -> Bool
    ) throws(DataSourceError) {
        for row in rows {
            readCount += 1
            if try !goOn(row) { return }
        }
    }

    func steps(of statement: QueryStatement) -> [String] { steps }

    func planJSON(of statement: QueryStatement, _ question: PlanQuestion) -> String {
        plannedSQL.append(statement.sql)
        return plans[question] ?? ""
    }

    func firstIndexColumns() -> [String: String] {
        indexReadCount += 1
        return ["byNumber": "\"integer\"", "byText": "text"]
    }

    func row(entity: Int, key: Int64) -> RowSnapshot? { rows.first { $0.key == key }?.row }

    func row(entity: Int, constraint: Int, values: [RowValue]) -> StoredRow? { nil }
}
