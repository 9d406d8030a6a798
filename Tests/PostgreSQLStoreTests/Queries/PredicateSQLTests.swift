import PostgreSQLStore
import PredicateSQL
import RowStore
import StoreTestModel
import Testing

/// What a server is asked, word by word.
struct PredicateSQLTests {
    private static let (integer, real, text, blob) = (
        TestModel.integer, TestModel.real, TestModel.text, TestModel.blob
    )

    private func expect(
        _ predicate: RowPredicate, _ sql: String, _ parameters: SQLParameter..., filtersHere: Bool = false,
        at location: SourceLocation = #_sourceLocation
    ) throws {
        #expect(try QueryFixture.sql(predicate) == sql, sourceLocation: location)
        #expect(try QueryFixture.parameters(predicate) == parameters, sourceLocation: location)
        #expect(try (QueryFixture.filter(predicate) != nil) == filtersHere, sourceLocation: location)
    }

    private func pattern(
        _ comparison: StringOperator, _ pattern: String, _ options: StringOptions = []
    ) throws -> RowPredicate {
        .text(.column(Self.text), try StringMatcher(comparison, pattern, options))
    }

    @Test func eachStorageHasItsOwnCast() throws {
        try expect(
            .compare(column: Self.integer, .equal, .integer(5)), #"t0."integer" = $1::bigint"#, .value(.integer(5)))
        try expect(.compare(column: Self.real, .less, .real(0.5)), #"t0."real" < $1::float8"#, .value(.real(0.5)))
        try expect(.compare(column: Self.text, .greater, .text("a")), #"t0."text" > $1::text"#, .value(.text("a")))
        try expect(
            .compare(column: Self.blob, .lessOrEqual, .blob([1])), #"t0."blob" <= $1::bytea"#, .value(.blob([1])))
        try expect(.compareKey(.greaterOrEqual, 7), #"t0."_key" >= $1::bigint"#, .value(.integer(7)))
    }

    @Test func nullIsAValueOfEqualityOnly() throws {
        try expect(.compare(column: Self.text, .equal, .null), #"t0."text" IS NULL"#)
        try expect(.compare(column: Self.text, .notEqual, .null), #"t0."text" IS NOT NULL"#)
        try expect(.compare(column: Self.text, .less, .null), "FALSE")
        try expect(.not(.compare(column: Self.text, .less, .null)), "")
        try expect(
            .compare(column: Self.integer, .notEqual, .integer(1)), #"t0."integer" IS DISTINCT FROM $1::bigint"#,
            .value(.integer(1)))
    }

    @Test func aNegatedComparisonHoldsForNull() throws {
        try expect(
            .not(.compare(column: Self.integer, .less, .integer(1))),
            #"(t0."integer" >= $1::bigint OR t0."integer" IS NULL)"#, .value(.integer(1)))
        try expect(
            .not(.compare(column: Self.integer, .equal, .integer(1))), #"t0."integer" IS DISTINCT FROM $1::bigint"#,
            .value(.integer(1)))
        try expect(.not(.compareKey(.less, 3)), #"t0."_key" >= $1::bigint"#, .value(.integer(3)))
    }

    @Test func aValueOfAnotherKindEqualsNothing() throws {
        try expect(.compare(column: Self.integer, .equal, .real(1)), "FALSE")
        try expect(.compare(column: Self.integer, .notEqual, .text("1")), "")
        try expect(.compare(column: Self.real, .equal, .real(.nan)), "FALSE")
        try expect(.compare(column: Self.real, .less, .integer(1)), "FALSE")
    }

    @Test func aStringWithNULIsBetweenThoseThatAServerHolds() throws {
        try expect(.compare(column: Self.text, .equal, .text("a\0b")), "FALSE")
        try expect(.not(.compare(column: Self.text, .equal, .text("a\0b"))), "")
        try expect(.compare(column: Self.text, .notEqual, .text("a\0b")), "")
        try expect(.compare(column: Self.text, .less, .text("a\0b")), #"t0."text" <= $1::text"#, .value(.text("a")))
        try expect(
            .compare(column: Self.text, .greaterOrEqual, .text("a\0")), #"t0."text" > $1::text"#, .value(.text("a")))
        try expect(.isIn(column: Self.text, [.text("\0")]), "FALSE")
    }

    @Test func listsAreOneParameter() throws {
        let list = RowPredicate.isIn(column: Self.integer, [.integer(1), .null, .text("no"), .integer(2)])
        try expect(
            list, #"(t0."integer" IS NULL OR t0."integer" = ANY($1::bigint[]))"#,
            .list([.integer(1), .integer(2)], .integer))
        try expect(
            .not(.isIn(column: Self.text, [.text("a"), .text("b\0")])),
            #"(t0."text" = ANY($1::text[])) IS NOT TRUE"#, .list([.text("a")], .text))
        try expect(
            .isMember(.key, ValueList([.integer(4)], .natural)), #"t0."_key" = ANY($1::bigint[])"#,
            .list([.integer(4)], .integer))
        try expect(.isIn(column: Self.blob, [.null]), #"t0."blob" IS NULL"#)
        try expect(.not(.isIn(column: Self.blob, [.null])), #"t0."blob" IS NOT NULL"#)
        try expect(.isIn(column: Self.blob, []), "FALSE")
        try expect(
            .isIn(column: Self.real, [.real(0.5), .real(.nan)]), #"t0."real" = ANY($1::float8[])"#,
            .list([.real(0.5)], .real))
    }

    @Test func decimalsAreEqualThereAndOrderedHere() throws {
        try expect(
            .compare(column: TestModel.decimal, .equal, .text("1.5")), #"t0."decimal" = $1::text"#,
            .value(.text("1.5")))
        try expect(.compare(column: TestModel.decimal, .less, .text("1.5")), "", filtersHere: true)
    }

    @Test func bytesOfStringsAreLookedForThere() throws {
        try expect(pattern(.contains, "a"), #"strpos(t0."text", $1::text) > 0"#, .value(.text("a")))
        try expect(pattern(.beginsWith, "a"), #"starts_with(t0."text", $1::text)"#, .value(.text("a")))
        try expect(
            try pattern(.endsWith, "a", .normalized), #"right(t0."text", char_length($1::text)) = $1::text"#,
            .value(.text("a")))
        try expect(
            .not(pattern(.contains, "a")), #"(strpos(t0."text", $1::text) > 0) IS NOT TRUE"#, .value(.text("a")))
        try expect(pattern(.contains, "\0"), "FALSE")
        try expect(pattern(.contains, "a", .caseInsensitive), "", filtersHere: true)
        try expect(pattern(.matches, "a.*"), "", filtersHere: true)
        try expect(
            .dynamicText(.column(Self.text), .contains, .column(TestModel.code), []),
            #"strpos(t0."text", t0."code") > 0"#)
    }

    @Test func likeSendsWhatStandsBetweenItsWildcards() throws {
        try expect(pattern(.like, #"a\*b"#), #"t0."text" = $1::text"#, .value(.text("a*b")))
        try expect(.not(pattern(.like, "ab")), #"t0."text" IS DISTINCT FROM $1::text"#, .value(.text("ab")))
        try expect(pattern(.like, "ab*"), #"starts_with(t0."text", $1::text)"#, .value(.text("ab")), filtersHere: true)
        try expect(
            try pattern(.like, "*a?bcd*"), #"strpos(t0."text", $1::text) > 0"#, .value(.text("bcd")), filtersHere: true)
        try expect(.not(pattern(.like, "ab*")), "", filtersHere: true)
        try expect(pattern(.like, "*"), "", filtersHere: true)
        try expect(pattern(.like, "*\0"), "FALSE")
    }

    @Test func valuesOfOneStorageAreRelatedThere() throws {
        let (one, other) = (RowExpression.column(Self.text), RowExpression.column(TestModel.code))
        try expect(.compareExpressions(one, .equal, other, .natural), #"t0."text" IS NOT DISTINCT FROM t0."code""#)
        try expect(.not(.compareExpressions(one, .equal, other, .natural)), #"t0."text" IS DISTINCT FROM t0."code""#)
        try expect(.not(.compareExpressions(one, .less, other, .natural)), #"(t0."text" < t0."code") IS NOT TRUE"#)
        try expect(
            .compareExpressions(.coalesce(one, other), .equal, .constant(.text("a")), .natural),
            #"COALESCE(t0."text", t0."code") = $1::text COLLATE "C""#, .value(.text("a")))
        try expect(
            .compareExpressions(
                .arithmetic(.column(Self.integer), .bitwiseAnd, .constant(.integer(4)), .integer), .notEqual,
                .constant(.integer(0)), .natural),
            #"(t0."integer" & $1::bigint) IS DISTINCT FROM $2::bigint"#, .value(.integer(4)), .value(.integer(0)))
        try expect(
            .compareExpressions(.column(Self.integer), .less, .column(Self.real), .natural), "", filtersHere: true)
        try expect(.compareExpressions(one, .equal, other, .folded(.caseInsensitive)), "", filtersHere: true)
        let sum = RowExpression.arithmetic(.column(Self.integer), .add, .constant(.integer(1)), .integer)
        try expect(.compareExpressions(sum, .less, .constant(.integer(0)), .natural), "", filtersHere: true)
    }

    @Test func aColumnThatIsNotStoredIsNull() throws {
        try expect(.compare(column: TestModel.flag, .equal, .null), "NULL::bigint IS NULL")
    }
}
