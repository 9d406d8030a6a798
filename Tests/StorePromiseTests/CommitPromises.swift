import ManagedModel
import RowStore
import StoreTestModel
import TestSupport
import Testing

/// What is in a store after saves were written to it.
struct CommitPromises {
    private func item(_ key: Int64, _ code: String) -> StoredRow {
        StoredRow(key: key, row: TestModel.row(code: code))
    }

    private func update(_ key: Int64, _ old: String, _ new: String) -> UpdatedRow {
        .of(key, TestModel.row(code: old), TestModel.row(code: new), TestModel.layout.entities[TestModel.item])
    }

    @Test(arguments: TestedStore.all)
    func aGroupIsWrittenInItsOrder(kind: TestedStore) throws {
        try kind.withStore { store in
            try store.write([
                .of(insert: [item(1, "a"), item(2, "b")]),
                .of(update: [update(1, "a", "c")], delete: [item(2, "b")]),
                .of(insert: [item(3, "a")]),
            ])
            #expect(try store.keys(RowQuery(entity: TestModel.item)) == [1, 3])
            #expect(try store.row(1)?.text(TestModel.code) == "c")
        }
    }

    @Test(arguments: TestedStore.all)
    func aChangeSetThatIsRefusedLeavesNothingAndOthersAreWritten(kind: TestedStore) throws {
        try kind.withStore { store in
            try store.write([.of(insert: [item(1, "a"), item(2, "b"), item(9, "y")])])
            var refused = ChangeSet.of(insert: [item(3, "y")], update: [update(1, "a", "x")], delete: [item(2, "b")])
            var later = ChangeSet.of(insert: [item(5, "later")])
            (refused.origin, later.origin) = (1, 1)
            var other = ChangeSet.of(insert: [item(4, "c")])
            other.origin = 2
            let outcome = try store.commit([refused, other, later])
            #expect(outcome.refused.mapValues(\.code) == [0: .uniquenessViolated, 2: .saveRolledBack])
            #expect(try store.keys(RowQuery(entity: TestModel.item)) == [1, 2, 4, 9])
            #expect(try store.row(1)?.text(TestModel.code) == "a")
            #expect(try store.row(constraint: 0, .text("b"))?.key == 2)
            #expect(try store.row(constraint: 0, .text("x")) == nil)
            try store.write([.of(insert: [item(10, "x")])])
            #expect(try store.count() == 5)
        }
    }

    @Test(arguments: TestedStore.all)
    func anUpdateOfARowThatIsNotThereIsRefused(kind: TestedStore) throws {
        try kind.withStore { store in
            try store.write([.of(insert: [item(1, "a"), item(2, "b")])])
            #expect(code { try store.write([.of(update: [update(1, "a", "c"), update(9, "x", "y")])]) } == .objectGone)
            #expect(try store.row(1)?.text(TestModel.code) == "a")
            #expect(
                code {
                    try store.write([.of(update: [update(2, "b", "a"), update(1, "a", "b"), update(9, "x", "y")])])
                } == .objectGone)
            #expect(try store.row(1)?.text(TestModel.code) == "a")
            #expect(try store.count() == 2)
        }
    }

    @Test(arguments: TestedStore.all)
    func aViolationNamesItsAttribute(kind: TestedStore) throws {
        try kind.withStore { store in
            try store.write([.of(insert: [item(1, "secret")])])
            do {
                try store.write([.of(insert: [item(2, "secret")])])
                Issue.record("The second row was accepted.")
            } catch let error as DataSourceError {
                #expect(error.entityName == "Item")
                #expect(error.attributeName == "code")
                #expect(!error.description.contains("secret"))
            }
        }
    }

    /// Who adds an object cannot do anything about its key.
    @Test(arguments: TestedStore.all)
    func theErrorForATakenKeyNamesTheKey(kind: TestedStore) throws {
        try kind.withStore { store in
            try store.write([.of(insert: [item(1, "one")])])
            do {
                try store.write([.of(insert: [item(1, "other")])])
                Issue.record("The second row was accepted.")
            } catch let error as DataSourceError {
                #expect(error.code == .uniquenessViolated && error.attributeName == nil)
                #expect(error.message.contains("already has the key of a new object") && error.message.contains("Add"))
            }
        }
    }

    @Test(arguments: TestedStore.all)
    func rowsMayExchangeUniqueKeys(kind: TestedStore) throws {
        try kind.withStore { store in
            try store.write([.of(insert: [item(1, "a"), item(2, "b"), item(3, "c")])])
            try store.write([.of(update: [update(1, "a", "b"), update(2, "b", "a")])])
            #expect(try store.row(constraint: 0, .text("a"))?.key == 2)
            #expect(try store.row(constraint: 0, .text("b"))?.key == 1)
            #expect(try store.count() == 3)
        }
    }

    @Test(arguments: TestedStore.all)
    func aNewRowMayTakeOverTheKeyOfADeletedOne(kind: TestedStore) throws {
        try kind.withStore { store in
            try store.write([.of(insert: [item(1, "a")])])
            try store.write([.of(insert: [item(2, "a")], delete: [item(1, "a")])])
            #expect(try store.row(constraint: 0, .text("a"))?.key == 2)
        }
    }

    @Test(arguments: TestedStore.all)
    func nullsNeverCollide(kind: TestedStore) throws {
        try kind.withStore { store in
            let half = TestModel.row(.integer(1))
            try store.write([.of(insert: [StoredRow(key: 1, row: half), StoredRow(key: 2, row: half)])])
            #expect(try store.count() == 2)
            #expect(try store.row(constraint: 0, .null) == nil)
            #expect(try store.row(constraint: 1, .integer(1), .null) == nil)
        }
    }

    @Test(arguments: TestedStore.all)
    func rowsAreFoundByEachConstraint(kind: TestedStore) throws {
        try kind.withStore { store in
            let code = kind.codeOfNUL == nil ? "a\0b" : "a\u{1}b"
            let row = TestModel.row(.integer(1), .null, .text("t"), .null, .null, .text(code))
            try store.write([.of(insert: [StoredRow(key: 1, row: row)])])
            #expect(try store.row(constraint: 0, .text(code))?.key == 1)
            #expect(try store.row(constraint: 0, .text("a")) == nil)
            #expect(try store.row(constraint: 1, .integer(1), .text("t"))?.key == 1)
            #expect(try store.row(constraint: 1, .integer(2), .text("t")) == nil)
            #expect(try store.row(constraint: 1, .text("1"), .text("t")) == nil)
        }
    }

    @Test(arguments: TestedStore.all)
    func eachEntityHasRowsOfItsOwn(kind: TestedStore) throws {
        try kind.withStore { store in
            var sub = RowSnapshot(columnCount: TestModel.columnCount + 1)
            sub.setText("extra", TestModel.columnCount)
            try store.write([.of(insert: [item(1, "a")]), .of(1, insert: [StoredRow(key: 2, row: sub)])])
            #expect(try store.row(2) == nil)
            #expect(try store.row(2, entity: 1)?.text(TestModel.columnCount) == "extra")
        }
    }

    @Test(arguments: TestedStore.all)
    func aConstraintThatIsInheritedHoldsAmongRowsOfTheEntity(kind: TestedStore) throws {
        try kind.withStore { store in
            var sub = RowSnapshot(columnCount: TestModel.columnCount + 1)
            sub.setText("a", TestModel.code)
            try store.write([.of(insert: [item(1, "a")]), .of(1, insert: [StoredRow(key: 2, row: sub)])])
            #expect(code { try store.write([.of(1, insert: [StoredRow(key: 3, row: sub)])]) } == .uniquenessViolated)
            #expect(try store.count(RowQuery(entity: 1)) == 1)
        }
    }

    @Test(arguments: TestedStore.all)
    func aSaveOfManyRowsIsWrittenAsAWhole(kind: TestedStore) throws {
        try kind.withStore { store in
            let count: Int64 = 20_000
            try store.write([.of(insert: (1...count).map { item($0, "code \($0)") })])
            #expect(try store.count() == Int(count))
            var refused = ChangeSet.of(
                insert: [item(count + 1, "code 1")], update: (2...count).map { update($0, "code \($0)", "new \($0)") })
            #expect(try store.commit([refused]).refused[0]?.code == .uniquenessViolated)
            #expect(try store.row(count)?.text(TestModel.code) == "code \(count)")
            refused.entities[0].inserted = []
            try store.write([refused, .of(delete: (1...count / 2).map { item($0, "") })])
            #expect(try store.keys() == Array(count / 2 + 1...count))
            #expect(try store.row(constraint: 0, .text("new \(count)"))?.key == count)
            #expect(try store.row(constraint: 0, .text("code \(count)")) == nil)
        }
    }

    @Test(arguments: TestedStore.all)
    func columnsThatAllRowsShareAreWrittenToAll(kind: TestedStore) throws {
        try kind.withStore { store in
            let layout = TestModel.layout.entities[TestModel.item]
            let rows = (1...50).map { TestModel.row(.integer($0), .real(Double($0)), .text("\($0)")) }
            try store.write([.of(insert: rows.enumerated().map { StoredRow(key: Int64($0.offset), row: $0.element) })])
            var set = ChangeSet.of(
                update: rows.enumerated().dropFirst(10).map { key, old in
                    var new = old
                    new.setReal(0.5, TestModel.real)
                    new.setNull(TestModel.text)
                    return .of(Int64(key), old, new, layout)
                })
            set.entities[0].sharedColumns = set.entities[0].updated[0].columns
            try store.write([set])
            for (key, row) in rows.enumerated() {
                let found = try #require(try store.row(Int64(key)))
                #expect(found.integer(TestModel.integer) == row.integer(TestModel.integer))
                #expect(found.real(TestModel.real) == (key < 10 ? Double(key + 1) : 0.5))
                #expect(found.isNull(TestModel.text) == (key >= 10))
            }
        }
    }

    @Test(arguments: TestedStore.all)
    func deletingARowThatIsGoneIsNoError(kind: TestedStore) throws {
        try kind.withStore { store in
            try store.write([.of(insert: [item(1, "a")])])
            try store.write([.of(delete: [item(1, "a"), item(2, "b")])])
            try store.write([.of(insert: [item(2, "a")], delete: [item(1, "a")])])
            #expect(try store.keys() == [2])
        }
    }
}
