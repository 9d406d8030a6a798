#if PostgreSQL
import ErrorExpectations
import PostgreSQLStore
import RowStore
import StoreTestModel
import TestSupport
import Testing

/// Which records the history of a store on a server keeps, and how they are read.
@Suite(
    .enabled(if: PostgreSQLServer.isInstalled, "PostgreSQL is not installed; Scripts/prepare --postgresql installs it.")
)
struct ServerHistoryTests {
    private func open(_ place: FailurePlace, _ history: KeptHistory) throws -> PostgreSQLStore {
        var options = place.options(isDirect: true)
        options.history = history
        return try .open(options)
    }

    private func kept(_ bytes: Int) -> KeptHistory { .kept(for: .seconds(3600), upTo: bytes) }

    private func save(_ store: PostgreSQLStore, _ keys: ClosedRange<Int64>) throws {
        try store.write(keys.map { FailurePlace.save($0, number: $0) })
    }

    /// Whether the records have few more bytes than 64 KiB.
    private func isSmall(_ place: FailurePlace) throws -> Bool {
        try place.run("SELECT sum(size) <= 100000 FROM _history WHERE number > 0") == [["t"]]
    }

    /// A group of saves adds more rows than a single save may drop.
    @Test func groupsOfManySavesDropAsManyRecords() throws {
        let place = try FailurePlace()
        let store = try open(place, kept(64 << 10))
        for group in Int64(0)..<20 { try save(store, group * 300 + 1...group * 300 + 300) }
        #expect(try isSmall(place))
        #expect(try store.count() == 20 * 300)
        store.close()
    }

    /// A program that makes a few saves each time also drops records.
    @Test func aMemberThatSavesLittleDropsOldRecords() throws {
        let place = try FailurePlace()
        let first = try open(place, kept(64 << 20))
        for group in Int64(0)..<5 { try save(first, group * 300 + 1...group * 300 + 300) }
        first.close()
        #expect(try !isSmall(place))
        let second = try open(place, kept(64 << 10))
        for key in Int64(1501)...1508 { try save(second, key...key) }
        #expect(try isSmall(place))
        second.close()
    }

    /// No member saves anything.
    @Test func writesOfOtherProgramsDropOldRecords() throws {
        let place = try FailurePlace()
        let store = try open(place, kept(64 << 10))
        try place.run("DO 'BEGIN FOR i IN 1..2000 LOOP UPDATE \"Item\" SET _key = 1; COMMIT; END LOOP; END'")
        #expect(try isSmall(place))
        let newest = try store.historyEnd()
        #expect(newest.number == 2000)
        store.close()
    }

    /// The server's clock was set back.
    @Test func aClockThatIsSetBackDropsNoRecords() throws {
        let place = try FailurePlace()
        let store = try open(place, kept(64 << 20))
        for key in Int64(1)...20 { try save(store, key...key) }
        try place.run("UPDATE _history SET time = time + 1500000000000")
        for key in Int64(21)...90 { try save(store, key...key) }
        #expect(try place.run("SELECT count(*) FROM _history WHERE number > 0") == [["90"]])
        // The records before the first one with the wrong time are as old as that one.
        try place.run("UPDATE _history SET time = time - 1000000000 WHERE number BETWEEN 21 AND 30")
        for key in Int64(91)...160 { try save(store, key...key) }
        #expect(try place.run("SELECT min(number) FROM _history WHERE number > 0") == [["31"]])
        store.close()
    }

    /// The clock was wrong when the record was made.
    @Test func aRecordFromTheFutureKeepsNoOthers() throws {
        let place = try FailurePlace()
        let store = try open(place, kept(64 << 20))
        for key in Int64(1)...4 { try save(store, key...key) }
        try place.run("UPDATE _history SET time = time + 1000000000 WHERE number = 1")
        try place.run("UPDATE _history SET time = time - 1000000000 WHERE number IN (2, 3)")
        for key in Int64(5)...80 { try save(store, key...key) }
        #expect(try place.run("SELECT min(number) FROM _history WHERE number > 0") == [["4"]])
        store.close()
    }

    /// Each part has one row here, so that the first part is only a third of the record.
    @Test func aPageHasTheBytesOfFewRecords() throws {
        let place = try FailurePlace()
        let store = try open(place, kept(64 << 20))
        let blob = (0..<300_000).map { UInt8(truncatingIfNeeded: $0 &* 2_654_435_761 >> 8) }
        for number in Int64(1)...4 {
            let rows = (number * 3 - 2...number * 3).map { key in
                StoredRow(key: key, row: TestModel.row(.null, .null, .null, .blob(blob), .null, .text("\(key)")))
            }
            try store.write([.of(insert: rows, number: number)])
        }
        try save(store, 13...14)
        #expect(try place.run("SELECT count(*) FROM _history WHERE number = 1") == [["3"]])
        var (numbers, position): ([[Int64]], HistoryPosition?) = ([], nil)
        var isMore = true
        while isMore {
            let page = try store.readHistory(after: position, HistoryFilter())
            numbers.append(page.records.map(\.number))
            (position, isMore) = (page.position, page.isMore)
            #expect(page.records.allSatisfy { $0.changes?.entities.first?.inserted.isEmpty == false })
        }
        #expect(numbers == [[1], [2], [3], [4, 5, 6]])
        store.close()
    }

    /// An app may give authors of any length. The server returns all records of a page at once, including records that the filter
    /// leaves out.
    @Test(arguments: [true, false]) func longAuthorsEndAPage(includesValues: Bool) throws {
        let place = try FailurePlace()
        let store = try open(place, kept(64 << 20))
        let author = String(repeating: "a", count: 100 << 10)
        for key in Int64(1)...40 {
            var save = FailurePlace.save(key, number: key)
            save.facts = SaveFacts(.local, dataSourceName: nil, author: author)
            try store.write([save])
        }
        for authors in [nil, ["b"]] as [Set<String>?] {
            var filter = HistoryFilter(authors: authors)
            filter.includesValues = includesValues
            var (ends, position): ([Int64], HistoryPosition?) = ([], nil)
            var isMore = true
            while isMore, ends.count < 40 {
                let page = try store.readHistory(after: position, filter)
                #expect(page.records.count == (authors == nil ? 10 : 0))
                ends.append(page.position.number)
                (position, isMore) = (page.position, page.isMore)
            }
            #expect(ends == [10, 20, 30, 40])
        }
        store.close()
    }

    @Test(arguments: [0, 1])
    func numbersThatAreTooLargeAreRefused(part: Int) throws {
        let place = try FailurePlace()
        let store = try open(place, kept(64 << 20))
        try save(store, 1...1)
        let index = try store.changeConsumer("index", .register)
        #expect(index?.number == 0)
        let damage = "UPDATE _history SET number = \(Int64.max), part = \(part)"
        expectThrows(PostgreSQLSession.Failure.self) { try place.run(damage) }
        // The tables of an earlier release have no such check.
        try place.run("ALTER TABLE _history DROP CONSTRAINT _history_number_check; \(damage)")
        #expect(code { _ = try store.readHistory(after: nil, HistoryFilter()) } == .storeCorrupt)
        #expect(code { _ = try store.readHistory(after: index, HistoryFilter()) } == .storeCorrupt)
        if part == 0 { #expect(code { _ = try store.historyEnd() } == .storeCorrupt) }
        try place.run("UPDATE _history_state SET number = \(Int64.max) WHERE name = 'consumer index'")
        #expect(code { _ = try store.changeConsumer("index", .register) } == .storeCorrupt)
        store.close()
    }

    @Test(arguments: [KeptHistory.unchanged, KeptHistory.none])
    func aDamagedHistoryDoesNotPreventAReset(history: KeptHistory) throws {
        let place = try FailurePlace()
        let first = try open(place, kept(64 << 20))
        try save(first, 1...2)
        first.close()
        try place.run("DELETE FROM _history_state WHERE name = 'seconds'")
        var options = place.options(isDirect: true)
        (options.identity, options.resetPolicy, options.history) = (TestModel.identity("other"), .discard, history)
        let second = try PostgreSQLStore.open(options)
        #expect(try second.count() == 0)
        #expect(!second.keepsHistory)
        try save(second, 1...1)
        second.close()
    }

    /// The one that has opened the store last has asked for a larger history.
    @Test func allMembersKeepAsMuchAsTheLastOneAskedFor() throws {
        let place = try FailurePlace()
        let first = try open(place, kept(64 << 10))
        let second = try open(place, kept(64 << 20))
        for group in Int64(0)..<4 { try save(first, group * 200 + 1...group * 200 + 200) }
        #expect(try place.run("SELECT count(*) FROM _history WHERE number > 0") == [["800"]])
        first.close()
        second.close()
    }

    /// The open member adds too few bytes and records to look for old records with its own limit. It can look at its first save if
    /// a minute has passed.
    @Test func aLowerLimitOfAnotherMemberCountsFromTheSecondSave() throws {
        let place = try FailurePlace()
        let first = try open(place, kept(64 << 20))
        let long = String(repeating: "x", count: 1000)
        for number in Int64(1)...20 {
            let rows = (number * 20 - 19...number * 20).map { key in
                StoredRow(key: key, row: TestModel.row(code: "\(long) \(key)"))
            }
            try first.write([.of(insert: rows, number: number)])
        }
        let second = try open(place, kept(64 << 10))
        #expect(try !isSmall(place))
        try save(first, 401...402)
        try save(first, 403...403)
        #expect(try isSmall(place))
        for store in [first, second] { store.close() }
    }

    @Test func aLowerTimeLimitOfAnotherMemberCountsFromTheSecondSave() throws {
        let place = try FailurePlace()
        let first = try open(place, .kept(for: .seconds(86_400), upTo: 64 << 20))
        try save(first, 1...3)
        try place.run("UPDATE _history SET time = time - 7200000 WHERE number <= 2")
        let second = try open(place, kept(64 << 20))
        for key in Int64(4)...5 { try save(first, key...key) }
        #expect(try place.run("SELECT min(number) FROM _history WHERE number > 0") == [["3"]])
        for store in [first, second] { store.close() }
    }

    /// A large save reads the limits before it is recorded. The member then drops old records, although it adds too few bytes and
    /// records to look for them.
    @Test func aLowerLimitThatALargeSaveHasReadCountsFromThatSave() throws {
        let place = try FailurePlace()
        let long = String(repeating: "x", count: 1000)
        func save(_ keys: ClosedRange<Int64>, _ store: PostgreSQLStore) throws {
            let rows = keys.map { StoredRow(key: $0, row: TestModel.row(code: "\(long) \($0)")) }
            try store.write([.of(insert: rows, number: keys.lowerBound)])
        }
        /// Whether the records have few more bytes than a MiB.
        func fits() throws -> Bool {
            try place.run("SELECT sum(size) <= 1100000 FROM _history WHERE number > 0") == [["t"]]
        }
        let filler = try open(place, kept(64 << 20))
        for group in Int64(0)..<100 { try save(group * 20 + 1...group * 20 + 20, filler) }
        filler.close()
        // The first save of a member looks for old records, and then counts from zero.
        let first = try open(place, kept(64 << 20))
        try save(3001...3001, first)
        #expect(try !fits())
        let second = try open(place, kept(1 << 20))
        // More than the 32 KiB above which a save reads the limits, and less than a sixteenth of the new limit.
        try save(3002...3037, first)
        #expect(try fits())
        for store in [first, second] { store.close() }
    }

    /// Whether a save is too large depends on the limits that the store has now.
    @Test func aSaveThatIsTooLargeForTheOldLimitsHasItsValues() throws {
        let place = try FailurePlace()
        let first = try open(place, kept(64 << 10))
        let second = try open(place, kept(64 << 20))
        let long = String(repeating: "x", count: 1000)
        func save(_ keys: ClosedRange<Int64>) throws {
            let rows = keys.map { StoredRow(key: $0, row: TestModel.row(code: "\(long) \($0)")) }
            try first.write([.of(insert: rows, number: keys.lowerBound)])
        }
        try save(1...40)
        let third = try open(place, kept(64 << 10))
        try save(41...80)
        let notes = try first.readHistory(after: nil, HistoryFilter()).records.map(\.note)
        #expect(notes == [nil, StoredRecord.tooLarge])
        for store in [first, second, third] { store.close() }
    }
}
#endif
