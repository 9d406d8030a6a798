import ManagedModel
import RowStore
import SQLiteStore
import StoreTestModel
import Testing

struct CommitTests {
    private func item(_ key: Int64, _ code: String) -> StoredRow {
        StoredRow(key: key, row: TestModel.row(code: code))
    }

    private func update(_ key: Int64, _ old: String, _ new: String) -> UpdatedRow {
        .of(key, TestModel.row(code: old), TestModel.row(code: new), TestModel.layout.entities[TestModel.item])
    }

    @Test(arguments: StoreKind.allCases)
    func aGroupIsWrittenInItsOrder(kind: StoreKind) throws {
        try withStore(kind) { store in
            try store.write([
                .of(insert: [item(1, "a"), item(2, "b")]),
                .of(update: [update(1, "a", "c")], delete: [item(2, "b")]),
                .of(insert: [item(3, "a")]),
            ])
            #expect(try store.keys(RowQuery(entity: TestModel.item)) == [1, 3])
            #expect(try store.row(1)?.text(TestModel.code) == "c")
        }
    }

    @Test(arguments: StoreKind.allCases)
    func aChangeSetThatIsRefusedLeavesNothingAndOthersAreWritten(kind: StoreKind) throws {
        try withStore(kind) { store in
            try store.write([.of(insert: [item(1, "a"), item(2, "b"), item(9, "y")])])
            var refused = ChangeSet.of(insert: [item(3, "y")], update: [update(1, "a", "x")], delete: [item(2, "b")])
            var later = ChangeSet.of(insert: [item(5, "later")])
            (refused.origin, later.origin) = (1, 1)
            var other = ChangeSet.of(insert: [item(4, "c")])
            other.origin = 2
            let outcome = try store.commit([refused, other, later])
            #expect(outcome.refused.mapValues(\.code) == [0: .uniquenessViolated, 2: .saveTakenBack])
            #expect(try store.keys(RowQuery(entity: TestModel.item)) == [1, 2, 4, 9])
            #expect(try store.row(1)?.text(TestModel.code) == "a")
            #expect(try store.row(constraint: 0, .text("b"))?.key == 2)
            #expect(try store.row(constraint: 0, .text("x")) == nil)
            try store.write([.of(insert: [item(10, "x")])])
            #expect(try store.count() == 5)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func anUpdateOfARowThatIsNotThereIsRefused(kind: StoreKind) throws {
        try withStore(kind) { store in
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

    @Test(arguments: StoreKind.allCases)
    func aViolationNamesItsAttribute(kind: StoreKind) throws {
        try withStore(kind) { store in
            try store.write([.of(insert: [item(1, "secret")])])
            do {
                try store.write([.of(insert: [item(2, "secret")])])
                Issue.record("The second row was accepted.")
            } catch let error as DataSourceError {
                #expect(error.entityName == "Item")
                #expect(error.attributeName == "code")
                #expect(!error.description.contains("secret"))
            }
            #expect(code { try store.write([.of(insert: [item(1, "other")])]) } == .uniquenessViolated)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func rowsMayExchangeUniqueKeys(kind: StoreKind) throws {
        try withStore(kind) { store in
            try store.write([.of(insert: [item(1, "a"), item(2, "b"), item(3, "c")])])
            try store.write([.of(update: [update(1, "a", "b"), update(2, "b", "a")])])
            #expect(try store.row(constraint: 0, .text("a"))?.key == 2)
            #expect(try store.row(constraint: 0, .text("b"))?.key == 1)
            #expect(try store.count() == 3)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func aNewRowMayTakeOverTheKeyOfADeletedOne(kind: StoreKind) throws {
        try withStore(kind) { store in
            try store.write([.of(insert: [item(1, "a")])])
            try store.write([.of(insert: [item(2, "a")], delete: [item(1, "a")])])
            #expect(try store.row(constraint: 0, .text("a"))?.key == 2)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func nullsNeverCollide(kind: StoreKind) throws {
        try withStore(kind) { store in
            let half = TestModel.row(.integer(1))
            try store.write([.of(insert: [StoredRow(key: 1, row: half), StoredRow(key: 2, row: half)])])
            #expect(try store.count() == 2)
            #expect(try store.row(constraint: 0, .null) == nil)
            #expect(try store.row(constraint: 1, .integer(1), .null) == nil)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func rowsAreFoundByEachConstraint(kind: StoreKind) throws {
        try withStore(kind) { store in
            let row = TestModel.row(.integer(1), .null, .text("t"), .null, .null, .text("a\0b"))
            try store.write([.of(insert: [StoredRow(key: 1, row: row)])])
            #expect(try store.row(constraint: 0, .text("a\0b"))?.key == 1)
            #expect(try store.row(constraint: 0, .text("a")) == nil)
            #expect(try store.row(constraint: 1, .integer(1), .text("t"))?.key == 1)
            #expect(try store.row(constraint: 1, .integer(2), .text("t")) == nil)
            #expect(try store.row(constraint: 1, .text("1"), .text("t")) == nil)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func eachEntityHasRowsOfItsOwn(kind: StoreKind) throws {
        try withStore(kind) { store in
            var sub = RowSnapshot(columnCount: TestModel.columnCount + 1)
            sub.setText("extra", TestModel.columnCount)
            try store.write([.of(insert: [item(1, "a")]), .of(1, insert: [StoredRow(key: 2, row: sub)])])
            #expect(try store.row(2) == nil)
            #expect(try store.row(2, entity: 1)?.text(TestModel.columnCount) == "extra")
        }
    }

    @Test(arguments: StoreKind.allCases)
    func aClosedStoreSaysSo(kind: StoreKind) throws {
        try withStore(kind) { store in
            store.close()
            store.close()
            #expect(code { try store.write([.of(insert: [item(1, "a")])]) } == .storeClosed)
            #expect(code { _ = try store.count() } == .storeClosed)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func theBoundForKeysIsAboveEveryKey(kind: StoreKind) throws {
        try withStore(kind) { store in
            #expect(store.firstFreeKey == 1)
            for key in [1, 500, 5000, Int64.max - 1] {
                try store.write([.of(insert: [item(key, "\(key)")])])
                #expect(store.firstFreeKey > key)
            }
        }
    }

    @Test func keysAreNotUsedAgainAfterDeletionAndReopening() throws {
        let folder = try TemporaryFolder()
        var highest: Int64 = 0
        for _ in 0..<5 {
            let store = try SQLiteStore.open(.test(folder))
            let key = store.firstFreeKey
            #expect(key > highest)
            highest = key + 700
            try store.write([.of(insert: [item(key, "a"), item(highest, "b")])])
            try store.write([.of(delete: [item(key, "a"), item(highest, "b")])])
            store.close()
        }
        try checkIntegrity(folder)
    }

    @Test func whatIsRefusedIsNeitherCountedNorKeepsKeys() throws {
        try withStore(.sqlite) { store in
            let counters = try #require(store as? SQLiteStore).counters
            try store.write([.of(insert: [item(1, "a")])])
            let (bound, rows) = (store.firstFreeKey, counters.rowsWritten)
            var refused = ChangeSet.of(1, insert: [StoredRow(key: bound + 7, row: RowSnapshot(columnCount: 8))])
            refused.entities.insert(contentsOf: ChangeSet.of(insert: [item(2, "a")]).entities, at: 1)
            var other = ChangeSet.of(insert: [item(3, "c")])
            (refused.origin, other.origin) = (1, 2)
            #expect(try store.commit([refused, other]).refused.keys.sorted() == [0])
            #expect(counters.rowsWritten == rows + 1)
            #expect(store.firstFreeKey == bound)
        }
    }

    @Test func reopeningKeepsAllRows() throws {
        let folder = try TemporaryFolder()
        let first = try SQLiteStore.open(.test(folder))
        #expect(first.startup.reason == .firstLaunch)
        try first.write([.of(insert: (1...1000).map { item($0, "code \($0)") })])
        first.close()
        #expect(folder.names == ["test.store", "test.store.lock"])
        let second = try SQLiteStore.open(.test(folder))
        #expect(second.startup == StoreStartup(reason: .current))
        #expect(second.storeID == first.storeID)
        #expect(try second.keys(RowQuery(entity: TestModel.item)) == Array(1...1000))
        second.close()
        try checkIntegrity(folder)
    }

    @Test func onlyWhatChangedIsWritten() throws {
        let folder = try TemporaryFolder()
        let store = try SQLiteStore.open(.test(folder))
        try store.write([.of(insert: (1...100).map { item($0, "code \($0)") })])
        let (rows, statements) = (store.counters.rowsWritten, store.counters.statementsRun)
        try store.write([.of(update: [update(5, "code 5", "new"), update(6, "code 6", "newer")])])
        #expect(store.counters.rowsWritten - rows == 2)
        #expect(store.counters.statementsRun - statements == 4)
        try store.write([])
        try store.write([ChangeSet(entities: [])])
        #expect(store.counters.statementsRun - statements == 4)
        store.close()
    }
}
