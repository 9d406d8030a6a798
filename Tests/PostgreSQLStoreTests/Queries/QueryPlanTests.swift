import PostgreSQLStore
import RowStore
import StoreTestModel
import Testing

/// What the plans of a server say about a query.
struct QueryPlanTests {
    private func query(_ sort: [SortKey], _ predicate: RowPredicate) -> RowQuery {
        RowQuery(entity: TestModel.item, predicate: predicate, sort: sort)
    }

    private let number = RowPredicate.compare(column: TestModel.integer, .equal, .integer(5))
    private let ascending = SortKey(column: TestModel.real)

    private func plan(_ nodes: String) -> String { #"[{"Plan": \#(nodes)}]"# }

    private let bitmap = #"""
        {"Node Type": "Aggregate", "Plans": [{"Node Type": "Bitmap Heap Scan", "Plans": [
            {"Node Type": "Bitmap Index Scan", "Index Cond": "(n = 5)"}]}]}
        """#
    private let sequence = #"{"Node Type": "Aggregate", "Plans": [{"Node Type": "Seq Scan", "Filter": "(n = 5)"}]}"#

    @Test func aScanWithoutAConditionReadsEveryRow() throws {
        let scans: [(String, Bool)] = [
            (bitmap, false), (sequence, true), (#"{"Node Type": "Index Scan", "Filter": "(n = 5)"}"#, true),
            (#"{"Node Type": "Index Only Scan", "Index Cond": "(n = 5)"}"#, false),
            (#"{"Node Type": "Result"}"#, false),
        ]
        for (nodes, expected) in scans {
            let source = PageSource([], plans: [.findsRows: plan(nodes)])
            let findings = try source.explain(query([], number)).findings
            #expect(findings.readsEveryRow == expected, "\(nodes)")
            #expect(findings.sort == .none)
            #expect(source.plannedSQL.count == 1 && source.plannedSQL[0].hasPrefix("SELECT count(*)"))
        }
    }

    /// A condition about a later column of an index is tested for each entry of the index.
    @Test func aConditionMustBeAboutTheFirstColumn() throws {
        func scan(_ index: String, _ condition: String) -> String {
            #"{"Node Type": "Bitmap Index Scan", "Index Name": "\#(index)", "Index Cond": "\#(condition)"}"#
        }
        let (first, later) = (scan("byNumber", #"(\"integer\" = 5)"#), scan("byText", #"(\"integer\" = 5)"#))
        let nodes: [(String, Bool)] = [
            (first, false), (later, true), (scan("byText", #"((text = 'a') AND (\"integer\" = 5))"#), false),
            (scan("byNumber", #"(ROW(\"integer\", _key) > ROW(1, 2))"#), false), (scan("other", "(n = 5)"), false),
            (#"{"Node Type": "BitmapAnd", "Plans": [\#(first), \#(later)]}"#, false),
            (#"{"Node Type": "BitmapOr", "Plans": [\#(first), \#(later)]}"#, true),
        ]
        for (node, expected) in nodes {
            let source = PageSource([], plans: [.findsRows: plan(node)])
            #expect(try source.explain(query([], number)).findings.readsEveryRow == expected, "\(node)")
        }
    }

    /// A query without a predicate needs no index that finds its rows.
    @Test func theIndexesAreReadForAPredicateOnly() throws {
        let plans: [PlanQuestion: String] = [
            .findsRows: plan(bitmap), .findsOrder: plan(#"{"Node Type": "Index Scan"}"#),
        ]
        for (predicate, expected) in [(RowPredicate.constant(true), 0), (number, 1)] {
            let source = PageSource([], plans: plans, steps: ["Sort"])
            _ = try source.explain(query([ascending], predicate))
            #expect(source.indexReadCount == expected)
        }
    }

    @Test func sortingByTheKeyAloneIsNoSort() throws {
        let index = #""Plans": [{"Node Type": "Index Scan", "Index Cond": "(n = 5)"}]"#
        let orders: [(String, QueryFindings.Sort)] = [
            (#"{"Node Type": "Sort", "Sort Key": ["n", "_key"], \#(index)}"#, .withoutIndex),
            (#"{"Node Type": "Sort", "Sort Key": ["_key"], \#(index)}"#, .none),
            (
                #"{"Node Type": "Incremental Sort", "Sort Key": ["n", "_key"], "Presorted Key": ["n"], \#(index)}"#,
                .none
            ),
            (
                #"{"Node Type": "Incremental Sort", "Sort Key": ["n", "r", "_key"], "Presorted Key": ["n"], \#(index)}"#,
                .none
            ),
            // The index on the order is not used, because another index finds the rows.
            (#"{"Node Type": "Index Scan", "Filter": "(n = 5)"}"#, .withoutIndex),
        ]
        for (nodes, expected) in orders {
            let source = PageSource(
                [], plans: [.findsRows: plan(bitmap), .findsOrder: plan(nodes)], steps: ["Sort", "  Sort Key: n"])
            var limited = query([ascending], number)
            limited.limit = 3
            #expect(try source.explain(limited).findings.sort == expected, "\(nodes)")
            // A server answers a query with a limit in another way.
            #expect(source.plannedSQL.allSatisfy { !$0.contains("LIMIT") })
        }
        let all = PageSource(
            [], plans: [.findsRows: plan(sequence), .findsOrder: plan(#"{"Node Type": "Index Scan"}"#)])
        #expect(try all.explain(query([ascending], number)).findings.sort == .none)
        // All matching rows have the same number.
        let same = PageSource([], plans: [.findsRows: plan(bitmap)])
        #expect(try same.explain(query([SortKey(column: TestModel.integer)], number)).findings.sort == .none)
        #expect(same.plannedSQL.count == 1)
    }

    /// With a limit, a server can read the rows in order, although another index finds them.
    @Test func theOrderThatTheServerWouldUseIsNoSort() throws {
        let order = plan(#"{"Node Type": "Index Scan", "Filter": "(n = 5)"}"#)
        let steps: [([String], QueryFindings.Sort)] = [
            (["Limit", "  ->  Incremental Sort", "        Sort Key: n, _key", "        Presorted Key: n"], .none),
            (["Limit", "  ->  Index Scan Backward using n"], .none),
            (["Limit", "  ->  Sort", "        Sort Key: n, _key"], .withoutIndex),
        ]
        for (steps, expected) in steps {
            let source = PageSource([], plans: [.findsRows: plan(bitmap), .findsOrder: order], steps: steps)
            #expect(try source.explain(query([ascending], number)).findings.sort == expected, "\(steps)")
        }
    }

    /// The server has no ordered index of strings, and the client orders decimals.
    @Test func someOrdersHaveNoIndex() throws {
        let sort = plan(#"{"Node Type": "Sort", "Sort Key": ["text", "_key"]}"#)
        let text = PageSource([], plans: [.findsOrder: sort])
        #expect(try text.explain(query([SortKey(column: TestModel.text)], .constant(true))).findings.sort == .never)
        let decimal = PageSource([])
        let found = try decimal.explain(query([SortKey(column: TestModel.decimal)], .constant(true))).findings
        #expect(found.sort == .never && decimal.plannedSQL.isEmpty && !found.readsEveryRow)
    }

    @Test func thePartThatTheClientEvaluatesIsNamed() throws {
        let below = RowPredicate.compare(column: TestModel.decimal, .less, .text("1"))
        let findings = try PageSource([]).explain(query([], .and([number, below]))).findings
        #expect(findings.namesOutside == ["decimal"])
        #expect(try PageSource([]).explain(query([], number)).findings.namesOutside == nil)
    }

    /// A server of another release could answer in another form.
    @Test(arguments: ["", "x", "{}", "[]", #"[{"Plan": {}}]"#])
    func anUnreadablePlanIsNoWarning(_ json: String) throws {
        let source = PageSource([], plans: [.findsRows: json, .findsOrder: json])
        let findings = try source.explain(query([ascending], number)).findings
        #expect(!findings.readsEveryRow && findings.sort == .none)
    }
}
