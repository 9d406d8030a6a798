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
}
