#if PostgreSQL
import PostgreSQLStore
import RowStore
import StoreTestModel
import TestSupport
import Testing

/// An app that gives no database key takes the store on a server with the key that it has.
@Suite(.enabled(if: PostgreSQLServer.isInstalled, Comment(rawValue: PostgreSQLServer.comment)))
struct MissingServerKeyTests {
    @Test func theRowsAndTheKeyStay() throws {
        let place = try FailurePlace()
        var options = place.options(isDirect: true)
        options.resetPolicy = .discard
        func open(_ hash: String, key: String?) throws -> PostgreSQLStore {
            options.identity = TestModel.identity(hash)
            options.identity.databaseKey = key
            return try PostgreSQLStore.open(options)
        }
        var store = try open("hash", key: "7")
        try store.write([FailurePlace.save(1)])
        store.close()
        store = try open("hash", key: nil)
        #expect(store.startup.reason == .current)
        #expect(try store.count() == 1)
        _ = try store.reset()
        store.close()
        store = try open("other", key: nil)
        #expect(store.startup.reason == .modelChanged(entities: ["Item"]))
        store.close()
        store = try open("other", key: "7")
        #expect(store.startup.reason == .current)
        store.close()
    }

    /// A backup of nothing would take the place of one with objects.
    @Test func aStoreWithoutObjectsIsNotBackedUp() throws {
        let place = try FailurePlace()
        var options = place.options(isDirect: true)
        options.resetPolicy = .backup(keep: 1)
        for (hash, count) in [("hash", 1), ("other", 0), ("hash", 0)] {
            options.identity = TestModel.identity(hash)
            let store = try PostgreSQLStore.open(options)
            for key in 0..<count { try store.write([FailurePlace.save(Int64(key) + 1)]) }
            store.close()
        }
        #expect(try place.run("SELECT count(*) FROM \"store backup 1\".\"Item\"") == [["1"]])
    }
}
#endif
