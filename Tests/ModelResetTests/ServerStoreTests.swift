#if PostgreSQL
import Foundation
import ManagedModel
import ModelReader
import PostgreSQLStore
import RowStore
import TestSupport
import Testing

@Suite(.enabled(if: PostgreSQLServer.isInstalled, "\(PostgreSQLServer.comment)")) struct ServerStoreTests {
    private let program: Program
    private let model: String
    private let connection: String

    init() throws {
        program = try Program()
        model = try program.write(Shop.first)
        let server = try PostgreSQLServer.shared
        connection = server.connectionString(database: try server.makeDatabase())
    }

    private func open(_ history: KeptHistory = .unchanged) throws -> PostgreSQLStore {
        let model = try ModelReader.read(program.file(model)).model
        let identity = StoreIdentity(
            modelHash: model.hash.description, entityHashes: model.entityHashes.mapValues(\.description),
            databaseKey: "1")
        var options = PostgreSQLStore.Options(
            connection: connection, name: "shop", layout: ModelLayout(model), identity: identity)
        options.history = history
        return try PostgreSQLStore.open(options)
    }

    private func run(_ command: String, _ words: String...) async throws -> Subprocess {
        try await program.run(
            [command, model, "--store", connection, "--name", "shop", "--database-key", "1"] + words)
    }

    @Test func theStatusOfAServerStoreNamesItsMembersAndChangesNothing() async throws {
        #expect(try await run("status").output == "create: there is no store\n")
        let store = try open()
        try Store.add([1: "pen", 2: "ink"], to: store)
        let outcome = try await run("status")
        #expect(outcome.status == 0, "\(outcome.errors)")
        #expect(
            outcome.output == """
                open: the store was made for this model and this database key
                the store is open in \(store.member)

                """)
        store.close()
        try program.write(Shop.second)
        let other = try await run("status")
        #expect(other.status == 1)
        #expect(
            other.output == """
                fail: the store was made for another model (Item); a store on a server is never reset by default, so \
                opening the store throws modelChanged, and its 2 objects stay
                a migration would carry 2 objects over

                """)
    }

    @Test func linksThatLeadToObjectsThatAreGoneAreCounted() async throws {
        try program.write(Shop.linked)
        let store = try open()
        try Shop.addItemsWithLostShelves(to: store, ModelReader.read(program.file(model)).model)
        store.close()
        let outcome = try await run("status")
        #expect(outcome.status == 0, "\(outcome.errors)")
        #expect(
            outcome.output == """
                open: the store was made for this model and this database key
                2 links of Item.shelf lead to objects that are gone, and read as nil

                """)
        let json = try await program.json(
            "status", model, "--store", connection, "--name", "shop", "--database-key", "1")
        #expect(json["danglingLinks"] as? [String: Int] == ["Item.shelf": 2])
        try program.write(Shop.first)
        #expect(try await run("status").output.contains("links") == false)
    }

    @Test func aServerStoreIsResetOnceNobodyHasItOpen() async throws {
        let store = try open()
        try Store.add([1: "pen", 2: "ink"], to: store)
        for words in ["", "--dry-run"] {
            let outcome = try await words.isEmpty ? run("reset") : run("reset", words)
            #expect(outcome.status == 4)
            #expect(outcome.errors.contains("storeInUse: ") && outcome.errors.contains("\(store.member)"))
        }
        store.close()
        #expect(
            try await run("reset", "--if-needed").output
                == "nothing to reset: the store was made for this model and this database key\n")
        #expect(
            try await run("reset").output
                == "reset: the store was made for this model and this database key; 2 objects dropped\n")
        let next = try open()
        #expect(next.startup.reason == .current)
        try Store.add([1: "pen"], to: next)
        next.close()
        try program.write(Shop.second)
        #expect(
            try await run("reset", "--if-needed").output
                == "reset: the store was made for another model (Item); 1 object set aside in another schema\n")
        #expect(try await run("status").output == "open: the store was made for this model and this database key\n")
        #expect(try await run("reset", "--backup", "old").status == 2)
    }

    @Test func aServerStoreIsInspectedAndFollowed() async throws {
        let store = try open()
        defer { store.close() }
        _ = try store.takeLeases([0], for: "ItemDataSource")
        try Store.add([1: "pen"], to: store)
        let following = try program.converse("inspect", connection, "--name", "shop", "--follow")
        let output = await following.next { $0 == #"    + Item 1: name "pen""# }
        #expect(output.first?.hasPrefix("PostgreSQL store shop: format ") == true)
        #expect(output.contains("  Item: 1 object, of ItemDataSource"))
        #expect(output.contains("  1: \(store.member)"))
        #expect(output.contains { $0.hasPrefix("  Item: \(store.member) for ItemDataSource, for ") })
        try Store.rename(1, from: "pen", to: "ink", in: store)
        #expect(await following.next()?.hasSuffix(" \(store.member)") == true)
        #expect(await following.next() == #"  * Item 1: name "pen" -> "ink""#)
        await following.terminate()
        let json = try await program.json("inspect", connection, "--name", "shop")
        #expect((json["feed"] as? [String: Any])?["position"] as? Int == 2)
        let other = try await program.run("inspect", connection, "--name", "other")
        #expect(other.status == 4)
        #expect(other.errors.contains("storeNotFound: The database has no store other."), "\(other.errors)")
    }

    /// The values of the history are shown only when they are asked for.
    @Test func theHistoryOfAServerStoreIsShown() async throws {
        let store = try open(.kept(for: .seconds(60), upTo: 1 << 20))
        defer { store.close() }
        let words = ["inspect", connection, "--name", "shop"]
        let empty = try await program.run(words)
        #expect(empty.output.contains("\nhistory: no records, 0 bytes; kept for 60 s, up to 1048576 bytes\n"))
        try Store.add([1: "pen"], to: store)
        try Store.rename(1, from: "pen", to: "ink", in: store)
        let position = try store.historyEnd()
        _ = try store.changeConsumer("index", .register)
        _ = try store.changeConsumer("widget", .register)
        _ = try store.changeConsumer("widget", .move(position))
        let outcome = try await program.run(words)
        #expect(outcome.status == 0, "\(outcome.errors)")
        #expect(outcome.output.contains("\nhistory: records 1 to 2, "))
        let consumers = "\n  consumer \"index\": 2 to read\n  consumer \"widget\": 0 to read\n"
        #expect(outcome.output.contains(consumers))
        #expect(outcome.output.contains(" local: Item\n"))
        let values = try await program.run(words + ["--values"])
        #expect(values.output.contains(##"    * Item 1: name "pen" -> "ink""##), "\(values.output)")
        let json = try await program.json("inspect", connection, "--name", "shop")
        let history = try #require(json["history"] as? [String: Any])
        #expect(history["newest"] as? Int == 2 && (history["bytes"] as? Int ?? 0) > 0)
        let records = try #require(history["records"] as? [[String: Any]])
        #expect(records.map { $0["number"] as? Int } == [1, 2])
        #expect(records.allSatisfy { $0["changes"] == nil })
    }

    /// The values of the newest records can be many megabytes, and are then left out.
    @Test func theNewestRecordIsShownAfterLargeOnes() async throws {
        let store = try open(.kept(for: .seconds(60), upTo: 64 << 20))
        defer { store.close() }
        for key in Int64(1)...4 { try Store.add([key: String(repeating: "x", count: 1 << 20)], to: store) }
        try Store.add([5: "pen"], to: store)
        let json = try await program.json("inspect", connection, "--name", "shop")
        let history = try #require(json["history"] as? [String: Any])
        let records = try #require(history["records"] as? [[String: Any]])
        #expect(records.map { $0["number"] as? Int } == [1, 2, 3, 4, 5])
    }
}
#endif
