import RowStore
import SQLiteStore
import StoreTestModel
import TestSupport
import Testing

/// What SQLite is asked, word by word.
struct PredicateSQLTests {
    private static let (integer, text) = (TestModel.integer, TestModel.text)

    private func sql(_ predicates: [RowPredicate], joined: [JoinedColumn] = []) throws -> [String] {
        let folder = try TemporaryFolder()
        let store = try SQLiteStore.open(.test(folder))
        defer { store.close() }
        return try predicates.map { predicate in
            var query = RowQuery(entity: TestModel.item, predicate: predicate, columns: [])
            query.isOrdered = false
            query.joined = joined
            let statement = try store.read(.statement) { (reader) throws(DataSourceError) in
                try reader.explain(query).statement
            }
            let parts = statement.split(separator: " WHERE ", maxSplits: 1)
            return parts.count == 2 ? String(parts[1]) : ""
        }
    }

    @Test func aNegationIsPushedDownToTheComparisons() throws {
        let less = RowPredicate.compare(column: Self.integer, .less, .integer(1))
        let equal = RowPredicate.compare(column: Self.text, .equal, .text("a"))
        #expect(
            try sql([.not(.and([less, equal])), .not(.or([.compareKey(.less, 5), .not(equal)]))]) == [
                #"(("integer" < ?1) IS NOT TRUE OR "text" IS NOT ?2)"#, #"("_key" >= ?1 AND "text" = ?2)"#,
            ])
    }

    @Test func listsAreFilledUpToAPowerOfTwo() throws {
        let list = RowPredicate.isIn(column: Self.integer, (1...3).map { .integer($0) } + [.null, .text("no")])
        #expect(try sql([list]) == [#"("integer" IS NULL OR "integer" IN (?1, ?2, ?3, ?4))"#])
    }

    /// The values of what is left out are not bound.
    @Test func conditionsWithoutEffectAreLeftOut() throws {
        let never = RowPredicate.compare(column: Self.integer, .equal, .text("1"))
        let equal = RowPredicate.compare(column: Self.text, .equal, .text("a"))
        #expect(
            try sql([.or([never, equal]), .and([equal, never]), .or([.and([equal, never]), equal])]) == [
                #""text" = ?1"#, "FALSE", #""text" = ?1"#,
            ])
    }

    @Test func aCursorIsABoundAndAllThatMustBeTrue() throws {
        let sort = [SortKey(column: Self.integer)]
        let cursor = RowPredicate.follows(RowCursor(key: 8, values: [.integer(3)]), sort)
        #expect(
            try sql([cursor, .not(cursor)]) == [
                #"("integer" >= ?1 AND ("integer" > ?2 OR ("integer" = ?3 AND "_key" > ?4)))"#,
                #"(("integer" > ?1) IS NOT TRUE AND ("integer" IS NOT ?2 OR "_key" <= ?3))"#,
            ])
        let folded = [SortKey(column: Self.text, order: .folded(.caseInsensitive))]
        #expect(
            try sql([.follows(RowCursor(key: 8, values: [.text("a")]), folded)]) == [
                #"row_test(?1, "_key", "text")"#
            ])
    }

    @Test func ownersAreLookedUpInAListOfRelatedRows() throws {
        let related = RelatedRows(
            .destination(column: Self.integer), destination: TestModel.item, family: [TestModel.item])
        let title = JoinedColumn(.value(related, column: Self.text), .text)
        let count = JoinedColumn(.aggregate(related, .count, column: nil), .integer)
        let predicates = [
            RowPredicate.compare(column: title.number(at: 0), .notEqual, .text("a")),
            .compare(column: count.number(at: 1), .greater, .integer(2)),
        ]
        #expect(
            try sql(predicates, joined: [title, count]) == [
                #"(t0."integer" IN (SELECT t1."_key" FROM "Item" AS t1 WHERE (t1."text" = ?1))) IS NOT TRUE"#,
                #"(SELECT count(*) FROM (SELECT 1 AS v FROM "Item" AS t1 WHERE (t1."_key" = t0."integer"))) > ?1"#,
            ])
    }
}
