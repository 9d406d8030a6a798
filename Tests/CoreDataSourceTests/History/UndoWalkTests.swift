import CoreDataSource
import Foundation
import RowStore
import TestSupport
import Testing

/// The search for a step of an undo sees records of others, and records that are dropped meanwhile.
@MainActor
struct UndoWalkTests {
    /// A restore is no save of the author.
    @Test func anUndoIsRedoneAfterARestore() async throws {
        try await HistoryPlace.sqlite.withContainer(.keeping(author: "me")) { container, url in
            let contacts = try container.dataSource(ContactDataSource.self)
            try await contacts.perform { try $0.insert(ContactEntity.self).uid = "x" }
            try await container.undo(author: "me")
            let copy = url.deletingLastPathComponent().appending(path: "copy.sqlite")
            try await container.backup(to: copy)
            try await container.close()
            try await PersistentContainer.restore(copy, to: url, replacingStore: true)
            let restored = try await HistoryPlace.sqlite.open(url)
            _ = try restored.dataSource(ContactDataSource.self)
            #expect(try await restored.redo(author: "me") != nil)
            #expect(try restored.main.count(ContactEntity.self) == 1)
            try await restored.close()
        }
    }

    /// Another member has dropped the record since the search has visited it.
    @Test(arguments: HistoryPlace.all)
    func aRecordThatWasDroppedMeanwhileIsNoStep(place: HistoryPlace) async throws {
        let history = KeptHistory.kept(for: .seconds(86_400), upTo: 64 << 10)
        try await place.withContainer(.keeping(history)) { container, _ in
            let contacts = try container.dataSource(ContactDataSource.self)
            try await container.withAuthor("me") { try await contacts.add(contactList(0..<1)) }
            var walk = RecordWalk(container, authors: ["me"])
            let record = try #require(try await walk.next())
            #expect(try await walk.read(record.number)?.record.author == "me")
            let long = String(repeating: "x", count: 4_000)
            for step in 1...60 { try await contacts.add(contactList(step..<step + 1) { _ in long }) }
            #expect(try await container.records().first?.number ?? 0 > record.number)
            let found = try await walk.read(record.number)
            #expect(found == nil)
            #expect(try await container.undo(author: "me") == nil)
        }
    }

    /// Each record is read about once, however many are passed over.
    @Test func recordsThatArePassedOverAreReadOnce() async throws {
        let rows = Guarded(0)
        var configuration = PersistentContainer.Configuration.keeping()
        configuration.trace = { statement in
            if statement.sql.contains("\"changes\" FROM \"_history\"") { rows.withLock { $0 += statement.rowCount } }
        }
        try await HistoryPlace.sqlite.withContainer(configuration) { container, _ in
            let contacts = try container.dataSource(ContactDataSource.self)
            try await contacts.add(contactList(0..<1))
            try await container.write(note: "old", by: "other")
            // Others take each save back.
            for number in 0..<300 {
                try await container.write(note: "\(number)", by: "me")
                try await container.write(note: "old", by: "other")
            }
            rows.withLock { $0 = 0 }
            #expect(try await container.undo(author: "me") == nil)
            let count = rows.withLock { $0 }
            #expect(count < 3_000)
            #expect(try container.note == "old")
        }
    }

    /// A long history has its steps at the end.
    @Test(arguments: HistoryPlace.all)
    func stepsAreFoundBehindManyRecordsOfOthers(place: HistoryPlace) async throws {
        try await place.withContainer { container, _ in
            let contacts = try container.dataSource(ContactDataSource.self)
            try await contacts.add(contactList(0..<1))
            try await container.write(note: "mine", by: "me")
            for number in 0..<600 { try await contacts.add(contactList(1..<2) { _ in "\(number)" }, waitFor: .main) }
            try await container.undo(author: "me")
            #expect(try container.note == nil)
            #expect(try await container.undo(author: "me") == nil)
        }
    }

    /// The oldest steps were dropped.
    @Test(arguments: HistoryPlace.all)
    func undoEndsWhereTheHistoryBegins(place: HistoryPlace) async throws {
        try await place.withContainer(.keeping(.kept(for: .seconds(3600), upTo: 64 << 10))) { container, _ in
            let contacts = try container.dataSource(ContactDataSource.self)
            try await contacts.add(contactList(0..<1))
            for number in 0..<200 {
                try await container.write(note: String(repeating: "\(number) ", count: 150), by: "me")
            }
            var undone = 0
            while try await container.undo(author: "me") != nil { undone += 1 }
            #expect(undone > 2 && undone < 200)
        }
    }
}
