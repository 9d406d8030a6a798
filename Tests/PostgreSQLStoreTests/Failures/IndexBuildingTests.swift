#if PostgreSQL
import Foundation
import PostgreSQLStore
import RowStore
import StoreTestModel
import Synchronization
import TestSupport
import Testing

/// Indexes of a store on a server are built when it is opened.
@Suite(.enabled(if: PostgreSQLServer.isInstalled, Comment(rawValue: PostgreSQLServer.comment)))
struct IndexBuildingTests {
    private let place: FailurePlace
    private let valid = """
        SELECT c.relname FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid \
        WHERE starts_with(c.relname, '_index ') AND i.indisvalid ORDER BY 1
        """

    private let names = ["_index Item USING hash (\"text\")", "_index SubItem USING hash (\"text\")"]

    init() throws { place = try FailurePlace() }

    /// Opens it as a later release does, whose model has an index more.
    private func openNext() throws -> PostgreSQLStore {
        var options = place.options(isDirect: true)
        options.layout = ModelLayout(TestModel.indexedModel)
        return try .open(options)
    }

    private func found() throws -> [String] { try place.run(valid).compactMap { $0[0] } }

    @Test func aMissingIndexIsBuiltWhileOthersHaveTheStore() throws {
        let other = try place.open(isDirect: true)
        defer { other.close() }
        try openNext().close()
        #expect(try found() == names)
        try other.write([FailurePlace.save(1)])
        #expect(try place.keys() == [1])
    }

    /// Somebody reads for long, and the index waits for that: nobody's save waits for the index.
    @Test func buildingAnIndexHoldsUpNoSave() async throws {
        // On a thread of its own: the index waits only so long, and tasks may stand still for longer beside other tests.
        let (didWait, keys) = try await runOnOwnThread { Result { try saveWhileAnIndexIsBuilt() } }.value.get()
        #expect(didWait)
        #expect(keys == [1])
        #expect(try found() == names)
    }

    /// - Returns: Whether the index waited as the save was made, and the keys that were stored then.
    private func saveWhileAnIndexIsBuilt() throws -> (didWait: Bool, keys: [Int64]) {
        let other = try place.open(isDirect: true)
        defer { other.close() }
        let reader = try place.server.session(database: place.database)
        try reader.run("BEGIN ISOLATION LEVEL REPEATABLE READ")
        try reader.run("SELECT count(*) FROM \"store 1\".\"Item\"")
        let built = DispatchSemaphore(value: 0)
        let isOpen = Mutex(false)
        Thread.detachNewThread {
            let store = try? openNext()
            store?.close()
            isOpen.withLock { $0 = store != nil }
            built.signal()
        }
        let waits = """
            SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND query LIKE 'CREATE INDEX CONC%' \
            AND wait_event_type = 'Lock'
            """
        let end = ContinuousClock.now + .seconds(600)
        while try place.run(waits) != [["1"]], ContinuousClock.now < end { Thread.sleep(forTimeInterval: 0.005) }
        try other.write([FailurePlace.save(1)])
        let keys = try place.keys()
        let didWait = try place.run(waits) == [["1"]]
        try reader.run("COMMIT")
        built.wait()
        return (didWait && isOpen.withLock { $0 }, keys)
    }

    /// Somebody else builds: the store opens without it.
    @Test func anIndexThatCannotBeBuiltIsLeftOut() throws {
        let other = try place.open(isDirect: true)
        let builder = try place.server.session(database: place.database)
        try builder.run("SELECT pg_advisory_lock(hashtext('coredatasource index'), hashtext('store 1'))")
        try openNext().close()
        #expect(try found() == [])
        other.close()
        try openNext().close()
        #expect(try found() == names)
    }

    /// A process that died while it built one leaves one that the server keeps up and never uses.
    @Test(arguments: [true, false]) func anUnfinishedIndexIsBuiltAgain(isAlone: Bool) throws {
        let other = try place.open(isDirect: true)
        try openNext().close()
        try #require(try found() == names)
        try place.run(
            "UPDATE pg_index SET indisvalid = false WHERE indexrelid = (SELECT oid FROM pg_class WHERE relname = '\(names[0])')"
        )
        if isAlone { other.close() }
        try openNext().close()
        if !isAlone { other.close() }
        #expect(try found() == names)
    }
}
#endif
