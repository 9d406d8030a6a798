import CoreDataSource
import ErrorExpectations
import Foundation
import ManagedModel
import QueryLanguage
import RowStore
import Testing

/// What a predicate by names becomes, and what is refused.
struct ResolutionTests {
    private func resolve(_ node: PredicateTree.Node) throws -> RowPredicate {
        try PredicateTree(node).resolved(QuerySamples.sample)
    }

    private func path(_ name: String) -> FetchExpression {
        .keyPath(name.split(separator: ".").map(String.init))
    }

    private func column(_ name: String) throws -> Int {
        try #require(QuerySamples.sample.column(named: name))
    }

    // MARK: What is refused

    private static let text = FetchExpression.constant(.text("a"))
    private static let refused: [(PredicateTree.Node, DataSourceError.Code)] = [
        (.compare(.keyPath(["nothing"]), .equal, text, []), .unknownAttribute),
        (.compare(.keyPath(["name", "size"]), .equal, text, []), .unknownAttribute),
        (.compare(.keyPath(["name", "length"]), .equal, text, []), .invalidPredicate),
        (.compare(.keyPath(["short", "length"]), .equal, text, []), .unknownAttribute),
        (
            .compare(.arithmetic(.keyPath(["ratio"]), .bitwiseAnd, .keyPath(["long"])), .equal, text, []),
            .invalidPredicate
        ),
        (.compare(.function(.onesComplement, [.keyPath(["price"])]), .equal, text, []), .invalidPredicate),
        (.compare(.function(.median, [text]), .equal, text, []), .invalidPredicate),
        (.compare(.function(.ln, [text]), .equal, text, []), .invalidPredicate),
        (.compare(.keyPath(["place"]), .equal, text, []), .invalidPredicate),
        (.compare(.keyPath(["short"]), .equal, text, []), .invalidPredicate),
        (.compare(.keyPath(["name"]), .less, .constant(.integer(1)), []), .invalidPredicate),
        (.compare(.keyPath(["day"]), .less, .constant(.double(1)), []), .invalidPredicate),
        (.compare(.keyPath(["uuid"]), .equal, text, []), .invalidPredicate),
        (.compare(.keyPath(["name"]), .equal, .keyPath(["short"]), []), .invalidPredicate),
        (.compare(.keyPath(["thing"]), .less, .constant(.data(Data())), []), .invalidPredicate),
        (.compare(.object, .less, .constant(.objectID(entityName: "Sample", key: 1)), []), .invalidPredicate),
        (.compare(.keyPath(["name"]), .equal, .variable("NAME"), []), .invalidPredicate),
        (.compare(.keyPath(["name"]), .equal, .list([text]), []), .invalidPredicate),
        (.compare(.arithmetic(.keyPath(["name"]), .add, text), .equal, text, []), .invalidPredicate),
        (.compare(.function(.uppercase, [.keyPath(["short"])]), .equal, text, []), .invalidPredicate),
        (.compare(.function(.abs, []), .equal, .constant(.integer(1)), []), .invalidPredicate),
        (.compare(.cast(.keyPath(["blob"]), .string), .equal, text, []), .invalidPredicate),
        (.text(.keyPath(["short"]), .contains, text, []), .invalidPredicate),
        (.text(.keyPath(["name"]), .matches, .constant(.text("(")), []), .invalidPredicate),
        (.text(.keyPath(["name"]), .matches, .keyPath(["other"]), []), .unsupportedQuery),
        (.compare(.keyPath(["children", "name"]), .equal, text, []), .unsupportedQuery),
        (.compare(.keyPath(["children", "@first"]), .equal, .constant(.integer(1)), []), .unsupportedQuery),
        (.quantified(.any, .compare(.keyPath(["parent", "name"]), .equal, text, [])), .unsupportedQuery),
    ]

    @Test(arguments: refused.indices)
    func invalidPredicatesAreRefusedByName(index: Int) throws {
        let (node, code) = ResolutionTests.refused[index]
        let error = expectError(code, "\(node)") { try resolve(node) }
        #expect(error?.entityName == "Sample" || error?.message.contains("MATCHES") == true)
    }

    /// An unknown key of an attribute names what can be written.
    @Test(arguments: [
        (["name", "size"], "Write name, or in a predicate name.length."), (["short", "length"], "Write short alone"),
        (["place", "street"], "has no \"street\". The composite has: city."),
        (["place", "city", "size"], "place.city.length"),
        (["blob", "count"], "blob.length"), (["name", "length", "length"], "no stored attribute"),
    ])
    func anUnknownKeyNamesWhatIsPossible(path: [String], words: String) throws {
        let error = expectError(.unknownAttribute) {
            try resolve(.compare(.keyPath(path), .equal, .constant(.integer(1)), []))
        }
        #expect(error?.message.contains(words) == true, "\(error?.message ?? "")")
    }

    @Test func aTreeThatIsTooDeepIsRefused() throws {
        var deep = PredicateTree(.compare(path("short"), .equal, .constant(.integer(1)), []))
        for _ in 0..<900 { deep = !deep }
        #expect(try deep.resolved(QuerySamples.sample) != .constant(true))
        for _ in 0..<10_000 { deep = !deep }
        expectError(.invalidPredicate) { try deep.resolved(QuerySamples.sample) }
    }

    @Test func longChainsAreNotDeep() throws {
        let one = PredicateTree(.compare(path("short"), .greater, .constant(.integer(1)), []))
        var (all, any) = (one, one)
        for _ in 0..<20_000 {
            all = all && one
            any = any || one
        }
        guard case .and(let parts) = try all.resolved(QuerySamples.sample),
            case .or(let others) = try any.resolved(QuerySamples.sample)
        else {
            Issue.record("no chain")
            return
        }
        #expect((parts.count, others.count) == (20_001, 20_001))
    }

    // MARK: What an index serves

    @Test func manyEqualitiesAreOneLookUp() throws {
        let column = try column("short")
        let equalities = (0..<1100).map {
            PredicateTree.Node.compare(path("short"), .equal, .constant(.integer($0)), [])
        }
        let values = (0..<1100).map { RowValue.integer($0) }
        #expect(try resolve(.or(equalities)) == .or([.isMember(.column(column), ValueList(values, .natural))]))
        #expect(try resolve(.or(Array(equalities.prefix(3)))) == .or([.isIn(column: column, Array(values.prefix(3)))]))
    }

    @Test func aBeginningIsARange() throws {
        let column = try column("name")
        func prefix(_ text: String) throws -> RowPredicate {
            try resolve(.text(path("name"), .beginsWith, .constant(.text(text)), []))
        }
        #expect(
            try prefix("ab")
                == .and([
                    .compare(column: column, .greaterOrEqual, .text("ab")),
                    .compare(column: column, .less, .text("ac")),
                ]))
        #expect(
            try prefix("\u{D7FF}\u{10FFFF}")
                == .and([
                    .compare(column: column, .greaterOrEqual, .text("\u{D7FF}\u{10FFFF}")),
                    .compare(column: column, .less, .text("\u{E000}")),
                ]))
        #expect(try prefix("\u{10FFFF}") == .compare(column: column, .greaterOrEqual, .text("\u{10FFFF}")))
        #expect(try prefix("") == .compare(column: column, .notEqual, .null))
    }

    @Test func aToOneRelationshipIsItsKey() throws {
        let column = try column("parent")
        #expect(
            try resolve(.compare(path("parent"), .equal, .constant(.null), []))
                == .compare(column: column, .equal, .null))
        #expect(
            try resolve(.compare(path("parent"), .notEqual, .constant(.objectID(entityName: "Sample", key: 7)), []))
                == .compare(column: column, .notEqual, .integer(7)))
    }

    /// Texts and other values on both sides of every operator, against null.
    @Test func nullIsComparedOnEitherSide() throws {
        let row = RowSnapshot(columnCount: QuerySamples.sample.columns.count)
        let null = FetchExpression.constant(.null)
        for relation in [ComparisonOperator.less, .lessOrEqual, .greater, .greaterOrEqual] {
            #expect(
                try !resolve(.compare(path("short"), relation, null, [])).evaluate(
                    row, QuerySamples.sample, QueryBudget()))
            #expect(
                try !resolve(.compare(null, relation, path("name"), [])).evaluate(
                    row, QuerySamples.sample, QueryBudget()))
            let relate = PredicateTree.Node.compare(path("name"), relation, path("other"), .caseInsensitive)
            #expect(try !resolve(relate).evaluate(row, QuerySamples.sample, QueryBudget()))
        }
        #expect(
            try resolve(.compare(path("name"), .equal, path("other"), [])).evaluate(
                row, QuerySamples.sample, QueryBudget()))
        #expect(
            try !resolve(.compare(path("name"), .notEqual, null, [])).evaluate(row, QuerySamples.sample, QueryBudget()))
        for comparison in [StringOperator.contains, .beginsWith, .endsWith, .like, .matches] {
            #expect(
                try !resolve(.text(path("name"), comparison, .constant(.text("")), [])).evaluate(
                    row, QuerySamples.sample, QueryBudget()))
            #expect(
                try !resolve(.text(path("name"), comparison, null, [])).evaluate(
                    row, QuerySamples.sample, QueryBudget()))
        }
        #expect(try resolve(.isIn(path("name"), .list([null]), [])).evaluate(row, QuerySamples.sample, QueryBudget()))
        #expect(try !resolve(.isIn(path("name"), .list([]), [])).evaluate(row, QuerySamples.sample, QueryBudget()))
        #expect(
            try !resolve(.between(path("short"), null, .constant(.integer(1)), [])).evaluate(
                row, QuerySamples.sample, QueryBudget()))
    }
}
