import CoreDataSource
import ErrorExpectations
import Foundation
import RowStore
import TestSupport
import Testing

/// The kept history has a record of each save, with the values before and after it.
@MainActor
struct KeptHistoryTests {
    @Test(arguments: HistoryPlace.all)
    func aRecordSaysWhatASaveChanged(place: HistoryPlace) async throws {
        try await place.withContainer { container, _ in
            let contacts = try container.dataSource(ContactDataSource.self)
            let before = Date.now.addingTimeInterval(-1)
            try await contacts.add(contactList(0..<3))
            let id = try #require(try contacts.fetch(ContactEntity.self, where: \.uid == "uid-0").first?.objectID)
            try await container.withAuthor("editor") {
                try await contacts.perform { context in
                    let contact = try #require(try context.first(ContactEntity.self, where: \.uid, equals: "uid-0"))
                    contact.name = "new"
                }
            }
            try await contacts.delete(contactList(0..<1))
            let records = try await container.records()
            #expect(records.map(\.number) == [1, 2, 3])
            #expect(records.map(\.kind) == [.incoming, .local, .incoming])
            #expect(records.map(\.author) == [nil, "editor", nil])
            #expect(records.allSatisfy { $0.dataSourceName == "ContactDataSource" && $0.hasValues && $0.note == nil })
            #expect(records.allSatisfy { $0.entityNames == ["ContactEntity"] })
            #expect(records.allSatisfy { (before...Date.now.addingTimeInterval(1)).contains($0.date) })
            #expect(records.allSatisfy { $0.member.processID == ProcessInfo.processInfo.processIdentifier })
            let inserted = try records[0].changes(of: ContactEntity.self)
            #expect(inserted.map(\.kind) == [.insert, .insert, .insert])
            #expect(inserted.compactMap { $0.new?.phone } == ["0", "2"])
            let updated = try #require(try records[1].changes(of: ContactEntity.self).first)
            #expect(updated.id == id && updated.kind == .update && updated.changedProperties == ["name"])
            #expect(updated.old?.name == "name 0" && updated.new?.name == "new")
            // A record of an update has the other values, too.
            #expect(updated.old?.phone == "0" && updated.new?.phone == "0" && updated.new?.uid == "uid-0")
            let deleted = try records[2].changes(of: ManagedObject.self)
            #expect(deleted.map(\.kind) == [.delete] && deleted[0].old?.map { ($0 as? ContactEntity)?.name } == "new")
            #expect("\(records[1])" == "record 2: local by editor: ContactEntity")
        }
    }

    /// An app may give any text as the author, for example a context of many kilobytes.
    @Test(arguments: HistoryPlace.all)
    func longAuthorsCountTowardTheLimit(place: HistoryPlace) async throws {
        let history = KeptHistory.kept(for: .seconds(86_400), upTo: 64 << 10)
        try await place.withContainer(.keeping(history)) { container, _ in
            let contacts = try container.dataSource(ContactDataSource.self)
            let author = String(repeating: "a", count: 32 << 10)
            for step in 0..<40 {
                try await container.withAuthor(author) { try await contacts.add(contactList(step..<step + 1)) }
            }
            let records = try await container.records()
            #expect(records.count < 10 && records.last?.author == author)
        }
    }

    @Test(arguments: HistoryPlace.all)
    func linksAreNamed(place: HistoryPlace) async throws {
        try await place.withContainer(model: .mail) { container, _ in
            let mail = try container.dataSource(MailDataSource.self)
            try await mail.perform { context in
                _ = try context.insert(MailNote.self)
                try context.insert(MailTag.self).name = "blue"
            }
            let position = try await container.historyPosition()
            try await mail.perform { context in
                let note = try #require(try context.fetch(MailNote.self).first)
                note.tags = try context.fetch(MailTag.self)
            }
            try await mail.perform { try #require(try $0.fetch(MailNote.self).first).tags = [] }
            let records = try await container.records(after: position)
            let links = records.flatMap(\.linkChanges)
            #expect(links.map(\.kind) == [.insert, .delete])
            let ends = Set(links.flatMap { [$0.source.entityName, $0.destination.entityName] })
            #expect(ends == ["Note", "Tag"])
            #expect(records.map(\.entityNames) == links.map { [$0.relationshipName] })
            #expect(try records.allSatisfy { try $0.changes(of: ManagedObject.self).isEmpty })
        }
    }

    @Test(arguments: HistoryPlace.all)
    func aFilterLeavesOutRecords(place: HistoryPlace) async throws {
        try await place.withContainer(.keeping(author: "app")) { container, _ in
            let contacts = try container.dataSource(ContactDataSource.self)
            let groups = try container.dataSource(GroupDataSource.self)
            try await contacts.add(contactList(0..<1))
            try await groups.add(GroupData(gid: "1", name: "one"))
            try await container.withAuthor("editor") {
                try await contacts.perform { try $0.fetch(ContactEntity.self).first?.name = "edited" }
            }
            try container.withAuthor("waiter") {
                try contacts.performAndWait { try $0.fetch(ContactEntity.self).first?.name = "waited" }
            }
            func numbers(_ filter: HistoryFilter) async throws -> [Int64] {
                try await container.records(where: filter).map(\.number)
            }
            #expect(try await numbers(HistoryFilter()) == [1, 2, 3, 4])
            #expect(try await numbers(HistoryFilter(authors: ["app"])) == [1, 2])
            #expect(try await numbers(HistoryFilter(authors: ["editor", "waiter"])) == [3, 4])
            #expect(try await numbers(HistoryFilter(authors: [""])) == [])
            #expect(try await numbers(HistoryFilter(dataSourceNames: ["GroupDataSource"])) == [2])
            #expect(try await numbers(HistoryFilter(kinds: [.local])) == [3, 4])
            #expect(try await numbers(HistoryFilter(authors: ["app"], entityNames: ["ContactEntity"])) == [1])
        }
    }

    /// An import is a save of the user: it can be reverted, and is no answer of a server.
    @Test(arguments: HistoryPlace.all)
    func anImportIsNamed(place: HistoryPlace) async throws {
        try await place.withContainer { container, _ in
            let contacts = try container.dataSource(ContactDataSource.self)
            let groups = try container.dataSource(GroupDataSource.self)
            try await contacts.add(contactList(0..<1))
            let json = #"{"GroupEntity": [{"gid": "1", "name": "one"}, {"gid": "2", "name": "two"}]}"#
            let graph = try ObjectGraph(json: Data(json.utf8))
            try await container.withAuthor("importer") { _ = try await container.importGraph(graph) }
            let records = try await container.records(where: HistoryFilter(kinds: [.imported]))
            let record = try #require(records.first)
            #expect(records.count == 1 && record.number == 2 && record.kind == .imported)
            #expect(record.author == "importer" && record.entityNames == ["GroupEntity"])
            #expect(try record.changes(of: GroupEntity.self).compactMap { $0.new?.name } == ["one", "two"])
            #expect(try await container.revert(record).save == SaveReport(deleted: 2))
            #expect(try groups.count(GroupEntity.self) == 0 && contacts.count(ContactEntity.self) == 1)
        }
    }

    /// Calls with a callback and child tasks are recorded with the author of the task that made them.
    @Test func theAuthorIsThatOfTheCall() async throws {
        try await HistoryPlace.sqlite.withContainer { container, _ in
            let contacts = try container.dataSource(ContactDataSource.self)
            try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
                container.withAuthor("callback") {
                    contacts.add(contactList(0..<1)) { continuation.resume(with: $0.map { _ in }) }
                }
            }
            let other = try await HistoryPlace.memory.open(URL(filePath: "/"), .keeping())
            let others = try other.dataSource(ContactDataSource.self)
            try await container.withAuthor("outer") {
                try await container.withAuthor("inner") { _ = try await contacts.add(contactList(1..<2)) }
                try await others.add(contactList(0..<1))
                async let child = contacts.add(contactList(2..<3))
                _ = try await child
            }
            #expect(try await container.records().map(\.author) == ["callback", "inner", "outer"])
            #expect(try await other.records().map(\.author) == [nil])
        }
    }

    @Test(arguments: HistoryPlace.all)
    func aStoreWithoutAHistorySaysSo(place: HistoryPlace) async throws {
        try await place.withContainer(.init(synchronous: .normal)) { container, _ in
            try await container.dataSource(ContactDataSource.self).add(contactList(0..<1))
            await expectError(.historyNotKept) { try await container.records() }
            await expectError(.historyNotKept) { try await container.historyPosition() }
            await expectError(.historyNotKept) { try await container.historyConsumer("index") }
        }
    }

    /// Nothing of a save that the store refuses is recorded, nor of one that changes nothing.
    @Test(arguments: HistoryPlace.all)
    func aSaveThatIsRefusedHasNoRecord(place: HistoryPlace) async throws {
        try await place.withContainer { container, _ in
            let contacts = try container.dataSource(ContactDataSource.self)
            try await contacts.add(contactList(0..<1))
            try await contacts.add(contactList(0..<1))
            await expectThrows(Poison.self) { try await contacts.add(contactList(0..<1) { _ in "poison" }) }
            await expectError(.validationFailed) {
                try await contacts.perform { _ = try $0.insert(ContactEntity.self) }
            }
            #expect(try await container.records().map(\.number) == [1])
        }
    }

    /// Of a group of saves, those that are refused one by one leave no gap.
    @Test func saveOfAGroupThatTheStoreRefusesLeavesNoGap() async throws {
        try await HistoryPlace.sqlite.withContainer { container, url in
            let contacts = try container.dataSource(ContactDataSource.self)
            let groups = try container.dataSource(GroupDataSource.self)
            try await contacts.add(contactList(0..<1))
            try RawConnection(url).execute("DELETE FROM \"ContactEntity\"")
            // The context does not know yet that its object is gone.
            async let refused = contacts.perform(waitFor: .main) { context in
                try context.fetch(ContactEntity.self).first?.name = "gone"
            }
            _ = try? await refused
            for step in 0..<3 { try await groups.add(GroupData(gid: "\(step)", name: "\(step)"), waitFor: .main) }
            try? await container.flush()
            let records = try await container.records()
            #expect(records.map(\.number) == Array(1...Int64(records.count)))
            #expect(records.map(\.kind).contains(.outsideWrites))
            #expect(records.filter { $0.entityNames == ["GroupEntity"] }.count == 3)
        }
    }

    @Test(arguments: HistoryPlace.all)
    func aLargeSaveIsRecordedInParts(place: HistoryPlace) async throws {
        try await place.withContainer { container, url in
            let contacts = try container.dataSource(ContactDataSource.self)
            try await contacts.add(contactList(0..<3000))
            _ = try await contacts.update(ContactEntity.self, set: [.set(\.note, "all")])
            try await contacts.add(contactList(0..<1) { _ in "last" })
            let records = try await container.records()
            #expect(records.map(\.number) == [1, 2, 3])
            #expect(try records[0].changes(of: ContactEntity.self).count == 3000)
            // The store does not make the change itself, so all old values are known.
            let updated = try records[1].changes(of: ContactEntity.self)
            #expect(
                updated.count == 3000 && updated.allSatisfy { $0.changedProperties == ["note"] && $0.old?.note == nil })
            if place.isFile {
                #expect(try RawConnection(url).column("SELECT count(*) FROM _history") == ["13"])
            }
        }
    }

    @Test(arguments: HistoryPlace.all)
    func aSaveThatIsTooLargeHasARecordWithoutValues(place: HistoryPlace) async throws {
        try await place.withContainer(.keeping(.kept(for: .seconds(86_400), upTo: 64 << 10))) { container, _ in
            let contacts = try container.dataSource(ContactDataSource.self)
            try await contacts.add(contactList(0..<1))
            try await contacts.add(contactList(1..<1000))
            let records = try await container.records()
            #expect(records.map(\.hasValues) == [true, false])
            #expect(records[1].entityNames == ["ContactEntity"] && records[1].note != nil)
            #expect(try records[1].changes(of: ContactEntity.self).isEmpty)
        }
    }

    /// In an exclusive store, a save runs one statement more for its record.
    @Test func aRecordCostsOneStatement() async throws {
        func statements(_ history: KeptHistory) async throws -> [String] {
            let directory = try TemporaryDirectory()
            let found = Guarded<[String]>([])
            var configuration = PersistentContainer.Configuration.keeping(history)
            configuration.trace = { statement in
                if statement.isWriting { found.withLock { $0.append(statement.sql) } }
            }
            let container = try await HistoryPlace.sqlite.open(directory.store, configuration)
            let contacts = try container.dataSource(ContactDataSource.self)
            try await contacts.add(contactList(0..<2))
            found.withLock { $0 = [] }
            try await contacts.add(contactList(2..<5))
            let all = found.withLock { $0 }
            try await container.close()
            return all
        }
        let (off, on) = (try await statements(.unchanged), try await statements(.ample))
        #expect(on.filter { !$0.contains("_history") } == off)
        #expect(on.filter { $0.contains("_history") }.count == 1)
    }
}
