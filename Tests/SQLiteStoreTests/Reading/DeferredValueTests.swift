import CSQLite
import ManagedModel
import RowStore
import SQLiteStore
import StoreTestModel
import Testing

/// Large values of attributes with `allowsExternalBinaryDataStorage` stay in the store when a query says so.
struct DeferredValueTests {
    private static let blob = TestModel.blob
    private static let limit = RowSnapshot.longestInlineValue

    /// The test model with the flag on its blobs.
    private static let model: ManagedObjectModel = {
        var model = TestModel.model
        model.entities[0].attributes[blob].allowsExternalBinaryDataStorage = true
        return model
    }()

    private static let query: RowQuery = {
        var query = RowQuery(entity: TestModel.item)
        query.defersValues = true
        return query
    }()

    private func withStore(
        _ sizes: [Int?], _ model: ManagedObjectModel = model, _ body: (SQLiteStore, TemporaryFolder) throws -> Void
    ) throws {
        let folder = try TemporaryFolder()
        let store = try SQLiteStore.open(.of(model, folder))
        let rows = sizes.enumerated().map { StoredRow(key: Int64($0 + 1), row: row("\($0 + 1)", $1)) }
        try store.write([.of(insert: rows)])
        try body(store, folder)
        store.close()
        try checkIntegrity(folder)
    }

    private func row(_ code: String, _ size: Int?) -> RowSnapshot {
        var row = TestModel.row(code: code)
        if let size { row.setValue(.blob(bytes(size)), Self.blob) }
        return row
    }

    private func bytes(_ count: Int) -> [UInt8] { (0..<count).map { UInt8(truncatingIfNeeded: $0 * 7) } }

    @Test func onlyLargeValuesAreDeferred() throws {
        #expect(Self.limit == 16_384)
        try withStore([nil, 0, Self.limit, Self.limit + 1, 1 << 20]) { store, _ in
            let rows = try store.rows(Self.query).map(\.row)
            #expect(rows.map { $0.isNull(Self.blob) } == [true, false, false, false, false])
            #expect(rows.map { $0.isDeferred(Self.blob) } == [false, false, false, true, true])
            #expect(rows.map { $0.blobByteCount(Self.blob) } == [0, 0, Self.limit, Self.limit + 1, 1 << 20])
            #expect(rows[2].value(Self.blob, .blob) == .blob(bytes(Self.limit)))
            #expect(rows.map { $0.text(TestModel.code) } == (1...5).map(String.init))
            #expect(rows.allSatisfy { $0.byteCount < Self.limit + 1000 })
            #expect(try store.row(5)?.value(Self.blob, .blob) == .blob(bytes(1 << 20)))
        }
    }

    @Test func queriesThatDoNotSaySoGetWholeRows() throws {
        try withStore([1 << 20]) { store, _ in
            let row = try store.rows(RowQuery(entity: TestModel.item))[0].row
            #expect(row.value(Self.blob, .blob) == .blob(bytes(1 << 20)))
        }
        try withStore([1 << 20], TestModel.model) { store, _ in
            let found = try store.rows(Self.query)
            #expect(found[0].row.value(Self.blob, .blob) == .blob(bytes(1 << 20)))
        }
    }

    /// SQLite knows the size of a blob from the head of its row, and passes over nothing if the blob is the last column.
    @Test func theFileIsNotReadForDeferredValues() throws {
        try withStore(Array(repeating: 1 << 20, count: 100)) { store, folder in
            func pages(_ query: RowQuery) throws -> Int {
                let sql = try store.read(.statement) { (reader) throws(DataSourceError) in
                    try reader.explain(query).statement
                }
                let raw = try RawDatabase(folder.store)
                #expect(try raw.values(sql).count == 100)
                var (missed, highest): (Int32, Int32) = (0, 0)
                sqlite3_db_status(raw.handle, SQLITE_DBSTATUS_CACHE_MISS, &missed, &highest, 0)
                return Int(missed)
            }
            let (apart, whole) = (try pages(Self.query), try pages(RowQuery(entity: TestModel.item)))
            #expect(apart < 200 && whole > 100 * 200)
        }
    }

    // MARK: What needs the bytes gets them

    @Test func predicatesOnTheColumnAreTestedByItsBytes() throws {
        try withStore([nil, 10, 1 << 20, 1 << 20]) { store, _ in
            var query = Self.query
            query.predicate = .compare(column: Self.blob, .equal, .blob(bytes(1 << 20)))
            let found = try store.rows(query)
            #expect(found.map(\.key) == [3, 4] && found.allSatisfy { $0.row.isDeferred(Self.blob) })
            #expect(try store.count(query) == 2)
            query.predicate = .compare(column: Self.blob, .equal, .null)
            #expect(try store.keys(query) == [1])
            query.predicate = .compare(column: Self.blob, .greater, .blob([]))
            #expect(try store.keys(query) == [2, 3, 4])
        }
    }

    @Test func rowsThatAreSortedByTheColumnAreWhole() throws {
        try withStore([1 << 20, 1 << 16, nil]) { store, _ in
            var query = Self.query
            query.sort = [SortKey(column: Self.blob)]
            let found = try store.rows(query)
            #expect(found.map(\.key) == [3, 2, 1])
            #expect(found[2].row.value(Self.blob, .blob) == .blob(bytes(1 << 20)))
        }
    }

    @Test func aQueryForTheColumnGetsItsBytes() throws {
        try withStore([1 << 20]) { store, _ in
            var query = Self.query
            query.columns = [Self.blob]
            let found = try store.rows(query)
            #expect(found[0].row.value(Self.blob, .blob) == .blob(bytes(1 << 20)))
        }
    }

    @Test func aValueThatIsReplacedIsReadAnew() throws {
        try withStore([1 << 20]) { store, _ in
            var changed = try #require(try store.row(1))
            changed.setValue(.blob([1, 2, 3]), Self.blob)
            let update = UpdatedRow.of(
                1, try #require(try store.row(1)), changed, ModelLayout(Self.model).entities[TestModel.item])
            try store.write([.of(update: [update])])
            let found = try store.rows(Self.query)
            #expect(found[0].row.value(Self.blob, .blob) == .blob([1, 2, 3]))
        }
    }

    // MARK: Existing stores

    @Test(arguments: [true, false])
    func aStoreStaysWhenTheFlagIsSetOrCleared(isSet: Bool) throws {
        let models = isSet ? [TestModel.model, Self.model] : [Self.model, TestModel.model]
        #expect(TestModel.identity(of: models[0]).modelHash == TestModel.identity(of: models[1]).modelHash)
        try withStore([1 << 20], models[0]) { store, folder in
            store.close()
            for model in models.reversed() {
                let again = try SQLiteStore.open(.of(model, folder, .fail))
                #expect(again.startup.reason == .current)
                let found = try again.rows(Self.query)
                #expect(found[0].row.isDeferred(Self.blob) == (model == Self.model))
                #expect(try again.row(1)?.value(Self.blob, .blob) == .blob(bytes(1 << 20)))
                again.close()
            }
        }
    }

    @Test func newTablesHaveLargeValuesLast() throws {
        try withStore([]) { _, folder in
            let names = try RawDatabase(folder.store).run("SELECT name FROM pragma_table_info('Item')")
            #expect(names == ["_key", "code", "decimal", "integer", "real", "text", "blob"])
        }
        try withStore([], TestModel.model) { _, folder in
            let names = try RawDatabase(folder.store).run("SELECT name FROM pragma_table_info('Item')")
            #expect(names == ["_key", "blob", "code", "decimal", "integer", "real", "text"])
        }
    }

    @Test func aTableOfAnotherShapeIsStillRefused() throws {
        try withStore([10]) { store, folder in
            store.close()
            let raw = try RawDatabase(folder.store)
            try raw.run("ALTER TABLE Item ADD COLUMN other BLOB")
            #expect(code { _ = try SQLiteStore.open(.of(Self.model, folder, .fail)) } == .storeCorrupt)
            try raw.run("ALTER TABLE Item DROP COLUMN other")
            try SQLiteStore.open(.of(Self.model, folder, .fail)).close()
        }
    }

    /// The tables are made anew only if something else has changed.
    @Test(arguments: [true, false])
    func aMigrationCarriesLargeValues(isSetBefore: Bool) throws {
        try withStore([1 << 20, nil], isSetBefore ? Self.model : TestModel.model) { store, folder in
            store.close()
            let next = Self.model.changed { model in
                model.edit("Item") {
                    $0.attributes.append(AttributeDescription(name: "note", type: .string, isOptional: true))
                }
            }
            let (startup, raw) = try migrate(folder, next)
            #expect(startup.migration?.rowsCarried == 2)
            #expect(try raw.run("SELECT name FROM pragma_table_info('Item')").last == "blob")
            let again = try SQLiteStore.open(.of(next, folder, .fail))
            let rows = try again.rows(Self.query)
            #expect(rows[0].row.isDeferred(Self.blob) && rows[1].row.isNull(Self.blob))
            #expect(try again.row(1)?.value(Self.blob, .blob) == .blob(bytes(1 << 20)))
            again.close()
        }
    }

    @Test func anUnchangedTableStaysInAMigrationThatSetsTheFlag() throws {
        try withStore([1 << 20], TestModel.model) { store, folder in
            store.close()
            let next = Self.model.changed { $0.entities.append(EntityDescription(name: "Other")) }
            let (startup, raw) = try migrate(folder, next)
            #expect(startup.migration?.rowsCarried == 1)
            #expect(try raw.run("SELECT name FROM pragma_table_info('Item')")[1] == "blob")
        }
    }

    @Test func aResetOfOtherEntitiesKeepsTheTable() throws {
        try withStore([1 << 20], TestModel.model) { store, folder in
            store.close()
            let next = Self.model.changed { $0.entities.append(EntityDescription(name: "Other")) }
            let again = try SQLiteStore.open(.of(next, folder, .changedEntities))
            #expect(again.startup.rowsDropped == 0)
            #expect(try again.row(1)?.value(Self.blob, .blob) == .blob(bytes(1 << 20)))
            again.close()
        }
    }
}
