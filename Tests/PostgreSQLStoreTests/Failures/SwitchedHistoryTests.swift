#if PostgreSQL
import PostgreSQLStore
import RowStore
import StoreTestModel
import TestSupport
import Testing

/// A member is silent for so long that others take it for ended, and switch the history. No save of the member is without a record.
@Suite(.enabled(if: PostgreSQLServer.isInstalled, Comment(rawValue: PostgreSQLServer.comment)))
struct SwitchedHistoryTests {
    private static let kept = KeptHistory.kept(for: .seconds(3600), upTo: 64 << 20)

    private func open(
        _ place: FailurePlace, _ history: KeptHistory = .unchanged, isDirect: Bool = true
    ) throws -> PostgreSQLStore {
        var options = place.options(isDirect: isDirect)
        options.history = history
        return try .open(options)
    }

    /// Opens the store with each of the histories, while a member is silent.
    private func open(_ place: FailurePlace, _ histories: [KeptHistory], whileSilent member: PostgreSQLStore) throws {
        place.proxy.goOffline()
        try place.run(
            "UPDATE _members SET seen = seen - interval '1000 years' WHERE number = \(member.member.number)")
        for history in histories { try open(place, history).close() }
        place.proxy.goOnline()
    }

    @Test func aSilentMemberWritesNothingWithoutARecord() throws {
        let place = try FailurePlace()
        let store = try open(place, isDirect: false)
        try store.write([FailurePlace.save(1)])
        try open(place, [Self.kept], whileSilent: store)
        #expect(code { try store.write([FailurePlace.save(2)]) } == .storeReset)
        #expect(code { try store.write([FailurePlace.save(3), FailurePlace.save(4)]) } == .storeReset)
        #expect(try place.keys() == [1])
        let other = try open(place)
        try other.write([FailurePlace.save(5)])
        #expect(try other.readHistory(after: nil, HistoryFilter()).records.map(\.kind) == [.reset, .local])
        store.close()
        other.close()
    }

    @Test func aSilentMemberIsToldThatTheHistoryIsOff() throws {
        let place = try FailurePlace()
        let store = try open(place, Self.kept, isDirect: false)
        try store.write([FailurePlace.save(1)])
        try open(place, [.none], whileSilent: store)
        #expect(code { try store.write([FailurePlace.save(2)]) } == .storeReset)
        #expect(code { _ = try store.readHistory(after: nil, HistoryFilter()) } == .storeReset)
        #expect(code { _ = try store.changeConsumer("index", .register) } == .storeReset)
        #expect(try place.keys() == [1])
        #expect(try store.count() == 1)
        store.close()
    }

    /// The member reports when the others have already decided that it has ended.
    @Test func aMemberThatGoesOnPreventsTheSwitch() async throws {
        let place = try FailurePlace()
        try open(place).close()
        try place.run("INSERT INTO _members VALUES (99, 1, 'silent', clock_timestamp(), 7)")
        let hold = place.proxy.hold("SELECT id FROM \"store 1\".\"_feed\" FOR UPDATE")
        let opening = runOnOwnThread { code { try open(place, Self.kept, isDirect: false).close() } }
        hold.wait()
        try place.run("UPDATE _members SET seen = clock_timestamp() WHERE number = 99")
        hold.deliver()
        #expect(await opening.value == .storeInUse)
        #expect(try place.run("SELECT to_regclass('_history')::text") == [[nil]])
    }

    /// The member would leave the names out, which the new history does not have.
    @Test func aSilentMemberWritesNothingIntoAnotherHistory() throws {
        let place = try FailurePlace()
        let store = try open(place, Self.kept, isDirect: false)
        try store.write([FailurePlace.save(1)])
        try open(place, [.none, Self.kept], whileSilent: store)
        #expect(code { try store.write([FailurePlace.save(2)]) } == .storeReset)
        #expect(try place.keys() == [1])
        #expect(try place.run("SELECT number, kind FROM _history") == [["1", "reset"]])
        store.close()
    }
}
#endif
