internal import Foundation
internal import PredicateSQL
internal import RowStore

/// A question about the indexes of a statement.
///
/// For a small table, a server reads all rows and sorts them, whatever indexes there are. So the server is asked again, with
/// settings that make it prefer an index. If the server's plan with these settings still reads all rows, or still sorts the
/// rows, no existing index can prevent this.
package enum PlanQuestion: Sendable, CaseIterable {
    /// Do the conditions of indexes find the rows?
    case findsRows
    /// Does an index have the rows in the order of the statement?
    case findsOrder

    /// The settings of the server that make it prefer an index.
    package var settings: [(name: String, isOn: Bool)] {
        switch self {
        // A bitmap scan always uses the conditions of an index. The other kinds of index scans can read the whole index.
        case .findsRows:
            [
                ("enable_bitmapscan", true), ("enable_seqscan", false), ("enable_indexscan", false),
                ("enable_indexonlyscan", false),
            ]
        // A bitmap scan does not return the rows in the order of the index.
        case .findsOrder:
            [
                ("enable_indexscan", true), ("enable_indexonlyscan", true), ("enable_incremental_sort", true),
                ("enable_sort", false), ("enable_seqscan", false), ("enable_bitmapscan", false),
            ]
        }
    }
}

/// A node of a server's plan.
struct QueryPlan: Decodable {
    let type: String
    /// The name of the table in the statement; nil for a node that reads no table.
    let alias: String?
    let indexName: String?
    /// The condition by which an index finds rows; nil if the node reads the whole index, and for other nodes.
    let indexCondition: String?
    let sortKey: [String]?
    /// The first parts of the sort key, by which the rows are already ordered.
    let presortedKey: [String]?
    let children: [QueryPlan]?

    private enum CodingKeys: String, CodingKey {
        case type = "Node Type", alias = "Alias", indexName = "Index Name", indexCondition = "Index Cond", sortKey =
            "Sort Key",
            presortedKey = "Presorted Key"
        case children = "Plans"
    }

    private struct Root: Decodable {
        let plan: QueryPlan

        private enum CodingKeys: String, CodingKey {
            case plan = "Plan"
        }
    }

    /// Reads the answer of `EXPLAIN (FORMAT JSON)`. Nil if the answer is not readable.
    init?(json: String) {
        do {
            guard let root = try JSONDecoder().decode([Root].self, from: Data(json.utf8)).first else { return nil }
            self = root.plan
        } catch {
            return nil
        }
    }

    /// Returns the tables that the plan reads as a whole: all rows, or all entries of an index. The names are those in the
    /// statement. If a condition is not about the first column of an index, the server tests each entry of the index.
    ///
    /// - Parameters:
    ///   - firstColumns: The first column of each index, as SQL, by the name of the index.
    ///   - table: The table of the node above.
    func scans(_ firstColumns: [String: String], of table: String = PredicateWriter.outermost) -> Set<String> {
        let table = alias ?? table
        let inner = children?.map { $0.scans(firstColumns, of: table) } ?? []
        switch type {
        case "Seq Scan", "Sample Scan": return [table]
        case "BitmapAnd": return inner.allSatisfy { !$0.isEmpty } ? inner.first ?? [] : []
        case "Index Scan", "Index Only Scan", "Bitmap Index Scan":
            guard let indexCondition else { return [table] }
            guard let indexName, let column = firstColumns[indexName] else { return [] }
            // A condition is `(column = 1)`, `((column = 1) AND (...))` or `(ROW(column, other) > ROW(...))`.
            let isFound = indexCondition.contains("(\(column) ") || indexCondition.contains("(\(column),")
            return isFound ? [] : [table]
        default: return inner.reduce(into: []) { $0.formUnion($1) }
        }
    }

    /// Whether the plan sorts all rows before the first one is returned. The last part of the order is always the key of the
    /// rows. An index need not contain this key: an incremental sort then sorts only rows that are equal in the presorted
    /// parts of the order.
    var sorts: Bool {
        let isSort = type == "Sort" || type == "Incremental Sort"
        if isSort && (sortKey?.count ?? 0) > 1 && presortedKey?.isEmpty ?? true { return true }
        return children?.contains(where: \.sorts) ?? false
    }
}

extension StatementReader {
    /// Finds the slow parts of a query.
    ///
    /// - Parameter steps: How the server would find the rows now.
    func findings(
        _ query: RowQuery, _ statement: QueryStatement, _ table: QueryTable, steps: [String]
    ) throws(DataSourceError) -> QueryFindings {
        var findings = QueryFindings()
        findings.hasHashedStrings = true
        findings.namesOutside = statement.filter?.names(statement.layout)
        var firstColumns: [String: String]?
        if query.predicate != .constant(true), let count = QueryStatement(query, isCount: true, table, tables) {
            let indexes = try firstIndexColumns()
            firstColumns = indexes
            findings.setScans(of: try plan(of: count, .findsRows)?.scans(indexes) ?? [], count.relatedTables)
        }
        // Leave out columns that have the same value in all matching rows: they do not change the order.
        let fixed = Set(
            query.predicate.requiredParts.compactMap {
                if case .compare(let column, .equal, _) = $0 { column } else { nil }
            })
        let sort = query.sort.filter { !fixed.contains($0.column) }
        guard query.isOrdered, !sort.isEmpty else { return findings }
        let hasUnindexedOrder = sort.contains { key in
            let order = statement.layout.order(of: key.column)
            return order.isDecimal || order.storage == .text || order.storage == .blob
        }
        guard statement.isSorted else {
            findings.sort = .never
            return findings
        }
        // Ask about the query without its limit: with a limit, a server may prefer to read the rows in order until enough of
        // them match.
        guard let whole = QueryStatement(query.unlimited, table, tables),
            let plan = try plan(of: whole, .findsOrder)
        else { return findings }
        // If one index finds the rows, and only another index has their order, the server usually uses the first index and
        // sorts the rows. With a limit, the server may use the second index, to find the first rows sooner. So check whether
        // it would sort now.
        var isUnused = false
        if let firstColumns, findings.findsRows, steps.contains(where: \.isSort) {
            isUnused = plan.scans(firstColumns).contains(PredicateWriter.outermost)
        }
        if plan.sorts || isUnused {
            findings.sort = hasUnindexedOrder ? .never : .withoutIndex
        }
        return findings
    }

    private func plan(
        of statement: QueryStatement, _ question: PlanQuestion
    ) throws(DataSourceError) -> QueryPlan? {
        QueryPlan(json: try planJSON(of: statement, question))
    }
}

extension String {
    /// Whether a line of `EXPLAIN` is a node that sorts all its rows.
    fileprivate var isSort: Bool {
        let node = drop { $0 == " " || $0 == "-" || $0 == ">" }
        return node == "Sort" || node.hasPrefix("Sort ") && !node.hasPrefix("Sort Key")
    }
}
