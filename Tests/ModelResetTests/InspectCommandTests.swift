import Foundation
import RowStore
import SQLiteStore
import TestSupport
import Testing

@Suite struct InspectCommandTests {
    private let program: Program
    private let model: String
    private let store: URL

    init() throws {
        program = try Program()
        model = try program.write(Shop.first)
        store = program.file("shop.sqlite")
    }

    private func open(isShared: Bool = true) throws -> SQLiteStore {
        try Store.open(store, model: program.file(model), isShared: isShared)
    }

    @Test func membersLeasesAndSavesOfALiveStoreAreShown() async throws {
        let holder = try open()
        let other = try open()
        defer { holder.close() }
        _ = try holder.takeLeases([0], for: "ItemDataSource")
        _ = try other.takeLeases([0], for: "ToolDataSource", owners: ["ItemDataSource"])
        try Store.add([1: "pen", 2: "ink"], to: holder)
        try Store.rename(1, from: "pen", to: "a \"red\" pen", in: other)
        try Store.delete(2, named: "ink", in: holder)
        let outcome = try await program.run("inspect", "shop.sqlite")
        #expect(outcome.status == 0, "\(outcome.errors)")
        #expect(outcome.output.contains("\nthe store is open in \(holder.member), \(other.member)\n"))
        #expect(
            outcome.output.contains(
                """
                entities:
                  Item: 1 object, of ItemDataSource
                members:
                  1: \(holder.member)
                  2: \(other.member)
                leases:
                  Item: \(holder.member) for ItemDataSource, for
                """), "\(outcome.output)")
        #expect(outcome.output.contains("\(other.member) for ToolDataSource, wants Item, for "))
        #expect(outcome.output.contains("feed: position 3, saves recorded from 1 on\n"))
        let lines = outcome.output.split(separator: "\n").map { $0.drop { $0 == " " } }
        #expect(lines.contains(#"+ Item 1: name "pen""#) && lines.contains(#"+ Item 2: name "ink""#))
        #expect(lines.contains(##"* Item 1: name "pen" -> "a \"red\" pen""##))
        #expect(lines.contains(#"- Item 2: name "ink""#))

        other.close()
        let members = try await program.json("inspect", "shop.sqlite")["members"] as? [[String: Any]]
        #expect(members?.map { $0["alive"] as? Bool } == [true, false])
    }

    @Test func theJSONSaysTheSame() async throws {
        let live = try open()
        defer { live.close() }
        _ = try live.takeLeases([0], for: "ItemDataSource")
        try Store.add([1: "pen"], to: live)
        try Store.rename(1, from: "pen", to: "ink", in: live)
        let json = try await program.json("inspect", store.path)
        #expect(json["store"] as? String == store.path)
        #expect(json["open"] as? Bool == true)
        let entities = try #require(json["entities"] as? [[String: Any]])
        #expect(entities.map { $0["source"] as? String } == ["ItemDataSource"])
        #expect(entities.map { $0["count"] as? Int } == [1])
        let leases = try #require(json["leases"] as? [[String: Any]])
        #expect(leases.map { $0["holder"] as? Int } == [Int(live.member.number)])
        let feed = try #require(json["feed"] as? [String: Any])
        #expect(feed["position"] as? Int == 2)
        let saves = try #require(feed["saves"] as? [[String: Any]])
        let changes = try #require(saves.last?["changes"] as? [[String: Any]])
        #expect(changes.map { $0["change"] as? String } == ["updated"])
        #expect(
            changes.first?["attributes"] as? [[String: String]] == [["name": "name", "before": "pen", "after": "ink"]])
    }

    /// After a crash, the store still lists the lease. The next container that wants the lease gets it.
    @Test func theLeaseOfAProcessThatHasEndedIsFree() async throws {
        let live = try open()
        defer { live.close() }
        let waiting = try open()
        defer { waiting.close() }
        _ = try live.takeLeases([0], for: "ItemDataSource")
        _ = try waiting.takeLeases([0], for: "ToolDataSource")
        // A copy of an open store is what a crash leaves: it has the lease, but nobody locks the copied files.
        for (name, contents) in try program.files("shop.sqlite") where !name.hasSuffix("-shm") {
            try contents.write(to: program.file("crashed" + name.dropFirst("shop".count)))
        }
        let crashed = try await program.run("inspect", "crashed.sqlite")
        #expect(
            crashed.output.contains("leases:\n  Item: free, because \(live.member) has ended without releasing it\n"),
            "\(crashed.output)\(crashed.errors)")
        #expect(crashed.output.contains(": of no effect, because \(waiting.member) has ended\n"))
        let json = try await program.json("inspect", "crashed.sqlite")
        for list in ["leases", "waiting"] {
            #expect((json[list] as? [[String: Any]])?.map { $0["alive"] as? Bool } == [false])
        }
        let leases = try await program.json("inspect", "shop.sqlite")["leases"] as? [[String: Any]]
        #expect(leases?.map { $0["alive"] as? Bool } == [true])
    }

    @Test func inspectingAClosedStoreChangesNoFile() async throws {
        let live = try open()
        try Store.add([1: "pen"], to: live)
        _ = try live.takeLeases([0], for: "ItemDataSource")
        live.close()
        let before = try program.files("shop")
        let outcome = try await program.run("inspect", "shop.sqlite")
        #expect(
            outcome.output.contains(
                """

                members: none
                members that have ended, listed because the feed may have saves of them:
                  1: \(live.member)
                leases: none

                """), "\(outcome.output)")
        #expect(try program.files("shop") == before)
    }

    /// Two things that a look must not do to a process that works with the store.
    @Test(arguments: [false, true]) func inspectingBlocksNeitherMembersNorCleanup(_ isShared: Bool) async throws {
        let live = try open(isShared: isShared)
        #expect(try await program.run("inspect", "shop.sqlite").status == 0)
        try Store.add([1: "pen"], to: live)
        #expect(try await program.run("inspect", "shop.sqlite").output.contains("Item: 1 object"))
        live.close()
        let next = try open(isShared: isShared)
        next.close()
        let names = try program.files("shop.sqlite").keys
        #expect(!names.contains("shop.sqlite-wal") && !names.contains("shop.sqlite-shm"))
    }

    @Test func aStoreThatNobodySharesHasNoFeed() async throws {
        let live = try open(isShared: false)
        defer { live.close() }
        try Store.fill(live, 3)
        let outcome = try await program.run("inspect", "shop.sqlite")
        #expect(outcome.status == 0, "\(outcome.errors)")
        #expect(outcome.output.contains("\nanother process has the store open for itself alone\n"))
        #expect(outcome.output.contains("\n  Item: 3 objects\nfeed: none, "))
        #expect(try await program.json("inspect", "shop.sqlite")["feed"] is NSNull)
        let following = try await program.run("inspect", "shop.sqlite", "--follow")
        #expect(following.status == 4 && following.errors.contains("has no feed to follow"))
    }

    /// The values of the history are shown only when they are asked for.
    @Test(arguments: [false, true]) func theHistoryIsShown(_ isShared: Bool) async throws {
        let live = try Store.open(
            store, model: program.file(model), isShared: isShared, history: .kept(for: .seconds(60), upTo: 1 << 20))
        defer { live.close() }
        try Store.add([1: "pen"], to: live)
        try Store.rename(1, from: "pen", to: "ink", in: live)
        _ = try live.changeConsumer("index", .register)
        let outcome = try await program.run("inspect", "shop.sqlite")
        #expect(outcome.status == 0, "\(outcome.errors)")
        #expect(outcome.output.contains("\nhistory: records 1 to 2, "))
        #expect(outcome.output.contains("; kept for 60 s, up to 1048576 bytes\n  consumer \"index\": 2 to read\n"))
        #expect(outcome.output.contains(" local: Item\n"))
        if !isShared { #expect(!outcome.output.contains("\"pen\"")) }
        let shown = try await program.run("inspect", "shop.sqlite", "--values")
        #expect(shown.output.contains(##"    * Item 1: name "pen" -> "ink""##), "\(shown.output)")
        let history = try #require(try await program.json("inspect", "shop.sqlite")["history"] as? [String: Any])
        #expect(history["newest"] as? Int == 2)
        let records = try #require(history["records"] as? [[String: Any]])
        #expect(records.map { $0["number"] as? Int } == [1, 2])
        #expect(records.allSatisfy { $0["changes"] == nil })
    }

    /// The values of the newest records can be many megabytes, and are then left out.
    @Test func theNewestRecordIsShownAfterLargeOnes() async throws {
        let live = try Store.open(store, model: program.file(model), history: .kept(for: .seconds(60), upTo: 64 << 20))
        defer { live.close() }
        for key in Int64(1)...4 { try Store.add([key: String(repeating: "x", count: 1 << 20)], to: live) }
        try Store.add([5: "pen"], to: live)
        let history = try #require(try await program.json("inspect", "shop.sqlite")["history"] as? [String: Any])
        let records = try #require(history["records"] as? [[String: Any]])
        #expect(records.map { $0["number"] as? Int } == [1, 2, 3, 4, 5])
    }

    @Test func savesOfAnotherOrderOfAttributesNeedTheirModel() async throws {
        let model = try program.write(
            """
            <entity name="Item"><attribute name="name" optional="YES" attributeType="String"/>
            <attribute name="shown" optional="YES" transient="YES" attributeType="Boolean"/></entity>
            """)
        let live = try open()
        defer { live.close() }
        try Store.add([1: "pen"], to: live, columnCount: 2)
        let without = try await program.run("inspect", "shop.sqlite")
        #expect(without.status == 0 && without.output.contains("Item: 1 object"))
        #expect(without.output.contains("its changes cannot be decoded"))
        let with = try await program.run("inspect", "shop.sqlite", "--model", "Shop.xcdatamodeld", "--model", model)
        #expect(with.output.contains(#"+ Item 1: name "pen""#), "\(with.output)\(with.errors)")
    }

    @Test func inspectFollowsNewSavesUntilItIsEnded() async throws {
        let live = try open()
        try Store.add([1: "pen"], to: live)
        let following = try program.converse("inspect", "shop.sqlite", "--follow")
        _ = await following.next { $0 == #"    + Item 1: name "pen""# }
        try Store.rename(1, from: "pen", to: "ink", in: live)
        #expect(await following.next()?.hasSuffix(" \(live.member)") == true)
        #expect(await following.next() == #"  * Item 1: name "pen" -> "ink""#)
        _ = try live.reset {}
        #expect(await following.next { $0 == "the store was reset" }.last == "the store was reset")
        try Store.add([2: "cap"], to: live)
        #expect(await following.next { $0 == #"  + Item 2: name "cap""# }.count == 2)
        await following.terminate()
        live.close()
        let names = try program.files("shop.sqlite").keys
        #expect(!names.contains("shop.sqlite-wal") && !names.contains("shop.sqlite-shm"))
    }

    @Test func aFileThatIsNoStoreIsAnError() async throws {
        #expect(try await program.run("inspect", "none.sqlite").errors.contains("storeNotFound: There is no store at "))
        try Data().write(to: store)
        let empty = try await program.run("inspect", "shop.sqlite")
        #expect(empty.errors.contains("storeNotFound: The database does not contain a store yet."), "\(empty.errors)")
        try Data("a photo of a shop".utf8).write(to: store)
        let outcome = try await program.run("inspect", "shop.sqlite")
        #expect(outcome.status == 4 && outcome.errors.hasPrefix("model-reset: error: notADatabase: "))
    }
}
