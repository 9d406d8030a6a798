import ManagedModel
import RowStore
import Testing

struct RowPredicateTests {
    private static let layout = ModelLayout(
        ManagedObjectModel(
            name: "Test",
            entities: [
                EntityDescription(
                    name: "A",
                    attributes: [
                        AttributeDescription(name: "number", type: .integer64),
                        AttributeDescription(name: "text", type: .string),
                        AttributeDescription(name: "real", type: .double),
                    ])
            ])
    ).entities[0]

    private func row(_ values: RowValue...) -> RowSnapshot {
        var row = RowSnapshot(columnCount: 3)
        for (column, value) in values.enumerated() { row.setValue(value, column) }
        return row
    }

    private func holds(_ predicate: RowPredicate, _ row: RowSnapshot) throws -> Bool {
        try predicate.evaluate(row, RowPredicateTests.layout, QueryBudget())
    }

    @Test(arguments: [ComparisonOperator.less, .lessOrEqual, .greater, .greaterOrEqual])
    func anOrderWithNullIsFalseAndItsNegationTrue(relation: ComparisonOperator) throws {
        let comparison = RowPredicate.compare(column: 0, relation, .integer(1))
        #expect(try !holds(comparison, row(.null)))
        #expect(try holds(.not(comparison), row(.null)))
        #expect(try !holds(.compare(column: 0, relation, .null), row(.integer(1))))
    }

    @Test func nullEqualsNull() throws {
        #expect(try holds(.compare(column: 0, .equal, .null), row(.null)))
        #expect(try holds(.compare(column: 0, .notEqual, .null), row(.integer(0))))
        #expect(try holds(.compare(column: 0, .notEqual, .integer(1)), row(.null)))
        #expect(try holds(.isIn(column: 0, [.null]), row(.null)))
        #expect(try !holds(.isIn(column: 0, []), row(.null)))
    }

    @Test(arguments: [RowValue.text("1"), .real(1), .blob([1])])
    func aValueOfAnotherKindEqualsNothingAndHasNoOrder(value: RowValue) throws {
        #expect(try !holds(.compare(column: 0, .equal, value), row(.integer(1))))
        #expect(try holds(.compare(column: 0, .notEqual, value), row(.integer(1))))
        #expect(try !holds(.compare(column: 0, .lessOrEqual, value), row(.integer(1))))
        #expect(try !holds(.isIn(column: 0, [value]), row(.integer(1))))
    }

    @Test func notANumberMatchesNothing() throws {
        #expect(try !holds(.compare(column: 2, .equal, .real(.nan)), row(.null, .null, .real(1))))
        #expect(try !holds(.compare(column: 2, .lessOrEqual, .real(.nan)), row(.null, .null, .real(1))))
        #expect(row(.null, .null, .real(.nan)).isNull(2))
    }

    @Test func stringsAreEqualByteByByte() throws {
        #expect(try !holds(.compare(column: 1, .equal, .text("e\u{301}")), row(.null, .text("\u{e9}"))))
        #expect(try !holds(.compare(column: 1, .equal, .text("a")), row(.null, .text("a\0"))))
        #expect(try holds(.compare(column: 1, .greater, .text("a")), row(.null, .text("a\0"))))
    }
}
