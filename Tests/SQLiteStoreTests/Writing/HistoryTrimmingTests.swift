import Foundation
import ManagedModel
import RowStore
import SQLiteStore
import StoreTestModel
import Testing

/// How many records a history drops.
struct HistoryTrimmingTests {
    private func save(_ key: Int64) -> ChangeSet {
        .of(insert: [StoredRow(key: key, row: TestModel.row(code: "code \(key)"))], number: key)
    }

    /// A group of saves adds more rows than a single save may drop.
    @Test func groupsOfManySavesDropAsManyRecords() throws {
        let folder = try TemporaryFolder()
        var options = SQLiteStore.Options.test(folder)
        options.history = .kept(for: .seconds(3600), upTo: 64 << 10)
        let store = try SQLiteStore.open(options)
        for group in Int64(0)..<12 {
            let first = group * 300 + 1
            try store.write((first..<first + 300).map(save))
        }
        let kept = try RawDatabase(folder).run("SELECT sum(size) <= 200000 FROM _history")
        #expect(kept == ["1"])
        #expect(try store.count() == 12 * 300)
        store.close()
        try checkIntegrity(folder)
    }

    /// The names of all earlier layouts were kept forever, and each migration and each page of a filter read all of them.
    @Test func theNamesOfALayoutAreDroppedAfterItsLastRecord() throws {
        let folder = try TemporaryFolder()
        let names = ["code", "title", "label", "caption"]
        for (version, count) in [1, 2, 2, 3].enumerated() {
            let attribute = AttributeDescription(
                name: names[version], type: .string, isOptional: true,
                renamingIdentifier: version == 0 ? nil : names[version - 1])
            var options = SQLiteStore.Options.of(
                ManagedObjectModel(name: "Shop", entities: [EntityDescription(name: "Item", attributes: [attribute])]),
                folder, .migrate(otherwise: .fail))
            if version == 0 { options.history = .kept(for: .seconds(3600), upTo: 64 << 20) }
            let store = try SQLiteStore.open(options)
            var row = RowSnapshot(columnCount: 1)
            row.setText("\(version)", 0)
            try store.write([.of(0, insert: [StoredRow(key: Int64(version) + 1, row: row)])])
            let raw = try RawDatabase(folder)
            let found = try raw.run("SELECT count(*) FROM _history_state WHERE name LIKE 'names %'")
            #expect(found == ["\(count)"], "\(version)")
            // As if the record of the first version had become too old.
            if version == 1 { try raw.run("DELETE FROM _history WHERE key >> 20 = 1") }
            store.close()
        }
        try checkIntegrity(folder)
    }

    /// A device without a battery for its clock starts in 1970.
    @Test func aClockThatIsSetBackDropsNoRecords() throws {
        let folder = try TemporaryFolder()
        var options = SQLiteStore.Options.test(folder)
        options.history = .kept(for: .seconds(3600), upTo: 64 << 20)
        let first = try SQLiteStore.open(options)
        for key in Int64(1)...100 { try first.write([save(key)]) }
        first.close()
        let raw = try RawDatabase(folder)
        try raw.run("UPDATE _history SET time = time + 1500000000000")
        for key in Int64(101)...102 {
            let later = try SQLiteStore.open(options)
            try later.write([save(key)])
            #expect(try raw.run("SELECT count(*) FROM _history") == ["\(key)"])
            later.close()
        }
        // The records before the first one with the wrong time are as old as that one.
        try raw.run("UPDATE _history SET time = time - 1000000000 WHERE key >> 20 = 101")
        let last = try SQLiteStore.open(options)
        for key in Int64(103)...104 { try last.write([save(key)]) }
        #expect(try raw.run("SELECT min(key >> 20) FROM _history") == ["102"])
        last.close()
    }

    /// The clock was wrong when the record was made.
    @Test func aRecordFromTheFutureKeepsNoOthers() throws {
        let folder = try TemporaryFolder()
        var options = SQLiteStore.Options.test(folder)
        options.history = .kept(for: .seconds(3600), upTo: 64 << 20)
        let first = try SQLiteStore.open(options)
        for key in Int64(1)...4 { try first.write([save(key)]) }
        first.close()
        let raw = try RawDatabase(folder)
        try raw.run("UPDATE _history SET time = time + 1000000000 WHERE key >> 20 = 1")
        try raw.run("UPDATE _history SET time = time - 1000000000 WHERE key >> 20 IN (2, 3)")
        let second = try SQLiteStore.open(options)
        try second.write([save(5)])
        #expect(try raw.run("SELECT key >> 20 FROM _history ORDER BY key") == ["4", "5"])
        second.close()
    }

    private func openShared(
        _ folder: TemporaryFolder, upTo bytes: Int, calls: FileCalls = .system
    ) throws -> SQLiteStore {
        var options = SQLiteStore.Options.test(folder, calls: calls)
        (options.isShared, options.history) = (true, .kept(for: .seconds(3600), upTo: bytes))
        return try SQLiteStore.open(options)
    }

    /// Saves groups of 300 objects.
    private func saveGroups(_ groups: Range<Int64>, _ store: SQLiteStore) throws {
        for group in groups { try store.write((group * 300 + 1...group * 300 + 300).map(save)) }
    }

    /// The one that has opened the store last has asked for a larger history, and later for a smaller one.
    @Test func allMembersKeepAsMuchAsTheLastOneAskedFor() throws {
        let folder = try TemporaryFolder()
        let first = try openShared(folder, upTo: 64 << 10)
        let second = try openShared(folder, upTo: 64 << 20)
        let raw = try RawDatabase(folder)
        try saveGroups(0..<3, first)
        #expect(try raw.run("SELECT count(*) FROM _history") == ["900"])
        let third = try openShared(folder, upTo: 64 << 10)
        try saveGroups(3..<9, second)
        #expect(try raw.run("SELECT sum(size) <= 200000 FROM _history") == ["1"])
        for store in [first, second, third] { store.close() }
        try checkIntegrity(folder)
    }

    /// The open member has looked for old records at its last save, and adds too few bytes to look again with the lower limit.
    @Test func aLowerLimitOfAnotherMemberCountsFromTheNextSave() throws {
        let folder = try TemporaryFolder()
        let filler = try openShared(folder, upTo: 64 << 20)
        let long = String(repeating: "x", count: 1000)
        for number in Int64(1)...20 {
            let rows = (number * 20 - 19...number * 20).map { key in
                StoredRow(key: key, row: TestModel.row(code: "\(long) \(key)"))
            }
            try filler.write([.of(insert: rows, number: number)])
        }
        filler.close()
        let raw = try RawDatabase(folder)
        func isSmall() throws -> [String] { try raw.run("SELECT sum(size) <= 100000 FROM _history") }
        let first = try openShared(folder, upTo: 64 << 20)
        try first.write([save(401)])
        #expect(try isSmall() == ["0"])
        let second = try openShared(folder, upTo: 64 << 10)
        try first.write([save(402)])
        #expect(try isSmall() == ["1"])
        for store in [first, second] { store.close() }
        try checkIntegrity(folder)
    }

    /// A member that cannot open the store does not say how much the others keep. Each call for the files fails once.
    @Test func aMemberThatCannotOpenTheStoreChangesNoLimits() throws {
        let folder = try TemporaryFolder()
        let first = try openShared(folder, upTo: 64 << 20)
        let raw = try RawDatabase(folder)
        func limits() throws -> [String] { try raw.run("SELECT value FROM _history_state WHERE name = 'bytes'") }
        let before = try limits()
        var failureCount = 0
        for failing in 0..<200 {
            let count = Shared(0)
            let calls = FileCalls { _, _ in
                count.value += 1
                return count.value == failing + 1 ? EIO : 0
            }
            guard let opened = try? openShared(folder, upTo: 64 << 10, calls: calls) else {
                failureCount += 1
                #expect(try limits() == before, "call \(failing)")
                continue
            }
            let callCount = count.value
            opened.close()
            if callCount <= failing { break }
            // The failed call was not needed.
            try openShared(folder, upTo: 64 << 20).close()
        }
        #expect(failureCount > 3)
        #expect(try limits() == ["\(64 << 10)"])
        first.close()
        try checkIntegrity(folder)
    }

    /// Whether a save is too large depends on the limits that the store has now.
    @Test func aSaveThatIsTooLargeForTheOldLimitsHasItsValues() throws {
        let folder = try TemporaryFolder()
        let first = try openShared(folder, upTo: 64 << 10)
        let second = try openShared(folder, upTo: 64 << 20)
        let long = String(repeating: "x", count: 1000)
        try first.write([
            .of(insert: (1...40).map { StoredRow(key: $0, row: TestModel.row(code: "\(long) \($0)")) })
        ])
        #expect(try first.readHistory(after: nil, HistoryFilter()).records.map(\.note) == [nil])
        for store in [first, second] { store.close() }
    }
}
