#if PostgreSQL
import ManagedModel
import PostgreSQLStore
import RowStore
import StoreTestModel
import TestSupport
import Testing

/// Other programs have added something to a store's schema or tables. Nothing that replaces the store destroys it.
@Suite(.enabled(if: PostgreSQLServer.isInstalled, Comment(rawValue: PostgreSQLServer.comment)))
struct ForeignObjectTests {
    private static let added: [(make: String, drop: String, name: String)] = [
        ("CREATE TABLE notes AS SELECT 1 AS one", "DROP TABLE notes", "notes"),
        ("CREATE VIEW public.report AS SELECT code FROM \"Item\"", "DROP VIEW public.report", "report"),
        (
            "CREATE TABLE public.stock (item bigint CONSTRAINT stock_item REFERENCES \"Item\")",
            "DROP TABLE public.stock", "stock_item"
        ),
        ("CREATE VIEW public.positions AS SELECT position FROM _changes", "DROP VIEW public.positions", "positions"),
    ]

    private func options(_ place: FailurePlace, _ policy: ResetPolicy) -> PostgreSQLStore.Options {
        var options = place.options(isDirect: true)
        options.resetPolicy = policy
        return options
    }

    private func withOtherModel(_ options: PostgreSQLStore.Options) -> PostgreSQLStore.Options {
        var options = options
        options.identity = TestModel.identity("other")
        return options
    }

    private func failure(_ body: () throws(DataSourceError) -> Void) -> DataSourceError? {
        do throws(DataSourceError) { try body() } catch { return error }
        return nil
    }

    private func schemas(_ place: FailurePlace) throws -> [String?] {
        try place.run("SELECT nspname FROM pg_namespace WHERE nspname LIKE 'store %' ORDER BY 1").map { $0[0] }
    }

    @Test(arguments: 0..<added.count)
    func nothingThatOthersHaveAddedIsDropped(number: Int) throws {
        let (make, drop, name) = ForeignObjectTests.added[number]
        let place = try FailurePlace()
        let store = try PostgreSQLStore.open(options(place, .discard))
        try store.write([FailurePlace.save(1)])
        try place.run(make)
        var refusal = failure { () throws(DataSourceError) in _ = try store.reset() }
        #expect(
            refusal?.code == .modelChanged && refusal?.cause?.contains(name) == true, "\(String(describing: refusal))")
        // It goes on with the store that it had.
        try store.write([FailurePlace.save(2)])
        store.close()
        let other = withOtherModel(options(place, .discard))
        refusal = failure { () throws(DataSourceError) in try PostgreSQLStore.open(other).close() }
        #expect(
            refusal?.code == .modelChanged && refusal?.cause?.contains(name) == true, "\(String(describing: refusal))")
        refusal = failure { () throws(DataSourceError) in _ = try PostgreSQLStore.reset(options(place, .discard)) }
        #expect(refusal?.code == .modelChanged)
        #expect(try place.keys() == [1, 2])
        try place.run(drop)
        let next = try PostgreSQLStore.open(other)
        #expect(next.startup.rowsDropped == 2)
        next.close()
        #expect(try schemas(place) == ["store 2"])
    }

    @Test func aBackupKeepsWhatOthersHaveAddedAndIsNotDroppedWithIt() throws {
        let place = try FailurePlace()
        let policy = ResetPolicy.backup(keep: 1)
        let store = try PostgreSQLStore.open(options(place, policy))
        try store.write([FailurePlace.save(1)])
        store.close()
        try place.run("CREATE TABLE notes AS SELECT 1 AS one")
        let next = try PostgreSQLStore.open(withOtherModel(options(place, policy)))
        try next.write([FailurePlace.save(2)])
        next.close()
        #expect(try place.run("SELECT one FROM \"store backup 1\".notes") == [["1"]])
        let refusal = failure { () throws(DataSourceError) in try PostgreSQLStore.open(options(place, policy)).close() }
        #expect(refusal?.code == .modelChanged && refusal?.cause?.contains("notes") == true)
        #expect(try schemas(place) == ["store 2", "store backup 1"])
        try place.run("DROP TABLE \"store backup 1\".notes")
        try PostgreSQLStore.open(options(place, policy)).close()
        #expect(try schemas(place) == ["store 3", "store backup 2"])
    }

    /// It was taken for empty, and dropped.
    @Test func anEntityWhoseNameBeginsLikeATableOfTheLibraryIsCounted() throws {
        let place = try FailurePlace()
        let text = AttributeDescription(name: "text", type: .string, isOptional: true)
        let model = ManagedObjectModel(name: "Log", entities: [EntityDescription(name: "_Log", attributes: [text])])
        var log = options(place, .backup(keep: 1))
        (log.layout, log.identity) = (ModelLayout(model), TestModel.identity("log"))
        let store = try PostgreSQLStore.open(log)
        try store.write([.of(insert: [StoredRow(key: 1, row: TestModel.row(.text("a"), columnCount: 1))])])
        store.close()
        let next = try PostgreSQLStore.open(options(place, .backup(keep: 1)))
        #expect(next.startup.rowsDropped == 1)
        next.close()
        #expect(try place.run("SELECT text FROM \"store backup 1\".\"_Log\"") == [["a"]])
    }

    // MARK: Backups

    @Test func theRowsOfABackupCanBeEdited() throws {
        let place = try FailurePlace()
        let policy = ResetPolicy.backup(keep: 1)
        let store = try PostgreSQLStore.open(options(place, policy))
        try store.write([FailurePlace.save(1)])
        store.close()
        try PostgreSQLStore.open(withOtherModel(options(place, policy))).close()
        let table = "\"store backup 1\".\"Item\""
        #expect(try place.run("UPDATE \(table) SET code = 'x'; SELECT code FROM \(table)") == [["x"]])
    }

    @Test(arguments: [false, true])
    func aStoreWhoseNameIsLikeABackupDoesNotStandInItsWay(isFirst: Bool) throws {
        let place = try FailurePlace()
        let policy = ResetPolicy.backup(keep: 1)
        var similar = options(place, policy)
        similar.name = "store backup"
        func makeSimilar() throws {
            let other = try PostgreSQLStore.open(similar)
            try other.write([FailurePlace.save(7)])
            other.close()
        }
        if isFirst { try makeSimilar() }
        let store = try PostgreSQLStore.open(options(place, policy))
        try store.write([FailurePlace.save(1)])
        _ = try store.reset()
        try store.write([FailurePlace.save(2)])
        if !isFirst { try makeSimilar() }
        // The first backup is dropped.
        _ = try store.reset()
        store.close()
        let other = try PostgreSQLStore.open(similar)
        #expect(try other.keys() == [7])
        other.close()
        let backups = try place.run("SELECT schema FROM coredatasource.backups").compactMap { $0[0] }
        #expect(backups.count == 1)
        #expect(try place.run("SELECT _key FROM \"\(backups[0])\".\"Item\"") == [["2"]])
    }

    /// The schema of a backup that was dropped by hand may be that of a store now.
    @Test func aStoreThatHasTakenTheNameOfABackupStays() throws {
        let place = try FailurePlace()
        let policy = ResetPolicy.backup(keep: 1)
        let store = try PostgreSQLStore.open(options(place, policy))
        try store.write([FailurePlace.save(1)])
        _ = try store.reset()
        try store.write([FailurePlace.save(2)])
        try place.run("DROP SCHEMA \"store backup 1\" CASCADE")
        var similar = options(place, policy)
        similar.name = "store backup"
        let other = try PostgreSQLStore.open(similar)
        try other.write([FailurePlace.save(7)])
        _ = try store.reset()
        #expect(try other.keys() == [7])
        store.close()
        other.close()
    }
}
#endif
