import CoreDataSource
import Foundation
import FrameworkNames
import TestSupport
import Testing

/// The examples of the kept history.
@MainActor
struct HistorySnippets {
    private func withHistory(_ body: @MainActor (PersistentContainer, ContactDataSource) async throws -> Void)
        async throws
    {
        let directory = try TemporaryDirectory()
        let url = directory.url.appending(component: "contacts.sqlite")
        var configuration = PersistentContainer.Configuration()
        configuration.history = .kept(for: .seconds(7 * 86_400), upTo: 64 << 20)
        configuration.author = "app"
        let container = try await PersistentContainer(
            model: .contacts, store: .sqlite(url), configuration: configuration)
        let contacts = try container.dataSource(ContactDataSource.self)
        try await contacts.add([Contact(uid: "1", name: "Guan Yu"), Contact(uid: "2", name: "Zhang Fei")])
        try await body(container, contacts)
        try await container.close()
    }

    private func upload(_ record: HistoryRecord) async throws {}
    private func update(_ record: HistoryRecord) async throws {}
    private func uploadAll() async throws {}

    @Test func recordsArePrinted() async throws {
        try await withHistory { container, contacts in
            try await contacts.delete([Contact(uid: "1", name: "")])
            for try await record in container.history() {
                print(record.number, record.kind, record.author ?? "-")
                for change in try record.changes(of: ContactEntity.self) {
                    print(change.kind, change.old?.name ?? "-", change.new?.name ?? "-")
                }
                for link in record.linkChanges {
                    print(link.relationshipName, link.source, link.destination)
                }
            }
            for try await record in container.history() where record.author != "sync" {
                print(record.date, record.author ?? "-", record.entityNames)
                for change in try record.changes(of: ContactEntity.self) {
                    print(change.id, change.changedProperties)
                }
                for link in record.linkChanges where link.kind == .insert {
                    print(link.source, link.relationshipName, link.destination)
                }
            }
            var iterator = container.history().makeAsyncIterator()
            let first = try await iterator.next()
            if let record = try await iterator.next() { print(record.kind) }
            #expect(first?.author == "app" && first?.number == 1)
        }
    }

    @Test func recordsAreFiltered() async throws {
        try await withHistory { container, _ in
            let filter = HistoryFilter(authors: ["editor"], kinds: [.local])
            for try await record in container.history(where: filter) {
                print(record)
            }
        }
        do {
            var filter = HistoryFilter()
            filter.kinds = [.local]
            filter.entityNames = ["ContactEntity"]
            let kind = HistoryKind(rawValue: "incoming")
            #expect(filter.kinds != [kind])
        }
        let filter = HistoryFilter(authors: ["importer"])
        let history = KeptHistory.kept(for: .seconds(86_400), upTo: 16 << 20)
        #expect(filter.authors?.count == 1 && history != .unchanged)
    }

    @Test func aReaderContinues() async throws {
        try await withHistory { container, contacts in
            var position: HistoryPosition?
            for try await record in container.history(after: position) {
                for change in try record.changes(of: ContactEntity.self) {
                    print(change.kind, change.id)
                }
                position = record.position
            }
            try await contacts.add([Contact(uid: "3", name: "Guan Ping")])
            for try await record in container.history(after: position) {
                try await upload(record)
                position = record.position
            }
            do {
                for try await record in container.history(after: position) {
                    try await upload(record)
                }
            } catch let error as DataSourceError where error.code == .historyExpired {
                position = error.historyStart
                try await uploadAll()
            }
            do {
                let position = try await container.historyPosition()
                let data = try JSONEncoder().encode(position)
                let same = try JSONDecoder().decode(HistoryPosition.self, from: data)
                #expect(same == position)
            }
            #expect(try await container.historyPosition() == position)
        }
    }

    @Test func aConsumerContinues() async throws {
        try await withHistory { container, _ in
            let consumer = try await container.historyConsumer("uploader")
            for try await record in consumer.records() {
                try await upload(record)
                try await consumer.didRead(record.position)
            }
            let index = try await container.historyConsumer("search index")
            for try await record in index.records() { print(record) }
            for try await record in index.records() {
                try await update(record)
                try await index.didRead(record.position)
            }
            try await index.remove()
            let next = try await container.historyConsumer("next")
            try await next.didRead(container.historyPosition())
            for try await record in next.records() { Issue.record("\(record) is not a later save") }
        }
    }

    @Test func aConsumerFollowsTheHistory() async throws {
        try await withHistory { container, contacts in
            let consumer = try await container.historyConsumer("uploader")
            var uploaded: [Int64] = []
            var other: Task<Void, any Error>?
            // The second record is made while the loop runs. Then the loop ends.
            func upload(_ record: HistoryRecord) async throws {
                uploaded.append(record.number)
                if uploaded.count == 2 { throw CancellationError() }
                other = Task { try await contacts.add([Contact(uid: "3", name: "Zhao Yun")]) }
            }
            do {
                let saves = container.saves
                let (signals, signal) = AsyncStream.makeStream(
                    of: Void.self, bufferingPolicy: .bufferingNewest(1))
                let listener = Task {
                    for await _ in saves { signal.yield() }
                    signal.finish()
                }
                defer { listener.cancel() }
                signal.yield()
                for await _ in signals {
                    for try await record in consumer.records() {
                        try await upload(record)
                        try await consumer.didRead(record.position)
                    }
                }
            } catch is CancellationError {}
            try await other?.value
            #expect(uploaded == [1, 2])
        }
    }

    @Test func savesHaveAuthors() async throws {
        try await withHistory { container, contacts in
            let list = [Contact(uid: "4", name: "Zhao Yun"), Contact(uid: "5", name: "Ma Chao")]
            try await container.withAuthor("importer") {
                try await contacts.add(list)
                try await contacts.perform { context in
                    try context.fetch(ContactEntity.self).first?.note = "imported"
                }
            }
            try await container.withAuthor("importer") {
                try await contacts.sync(list, entity: ContactEntity.self)
            }
            try container.withAuthor("editor") {
                try contacts.performAndWait { context in
                    try context.fetch(ContactEntity.self).first?.note = "edited"
                }
            }
            let report = try await container.withAuthor("importer") {
                try await contacts.delete(ContactEntity.self, where: \.age < 18)
            }
            print("\(report.deleted) deleted")
            #expect(report.deleted > 0)
            var authors: [String?] = []
            for try await record in container.history() { authors.append(record.author) }
            #expect(authors == ["app", "importer", "importer", "importer", "editor", "importer"])
        }
    }

    @Test func savesAreTakenBack() async throws {
        try await withHistory { container, contacts in
            let position = try await container.historyPosition()
            try await container.withAuthor("importer") {
                try await contacts.perform { try $0.insert(ContactEntity.self).uid = "7" }
            }
            do {
                for try await record in container.history(after: position) {
                    if record.author == "importer" { try await container.revert(record) }
                }
            }
            for try await record in container.history(after: position) {
                if record.author == "importer" {
                    try await container.revert(record)
                }
            }
            #expect(try contacts.fetch(ContactEntity.self, where: \.uid == "7").isEmpty)
            try await container.withAuthor("editor") {
                try await contacts.perform { context in
                    try context.fetch(ContactEntity.self).first?.note = "edited"
                }
            }
            if let record = try await container.nextUndo(author: "editor") {
                print("Undo", record.entityNames, record.date)
            }
            try await container.undo(author: "editor")
            if try await container.redo(author: "editor") == nil {
                print("Nothing to redo.")
            }
            #expect(try contacts.fetch(ContactEntity.self).first?.note == "edited")
            let canRedo = try await container.nextRedo(author: "editor") != nil
            #expect(!canRedo)
            try await container.undo(
                author: "editor",
                resolving: .each {
                    ["modified", "memberCount"].contains($0.propertyName) ? .theirs : .mine
                })
        }
    }

    @Test func aStepIsPassed() async throws {
        var configuration = PersistentContainer.Configuration()
        configuration.history = .kept(for: .seconds(7 * 86_400), upTo: 64 << 20)
        let container = try await PersistentContainer(
            model: .contacts, store: .inMemory, configuration: configuration)
        let contacts = try container.dataSource(ContactDataSource.self)
        try await contacts.add([Contact(uid: "6", name: "Huang Zhong")])
        try await container.withAuthor("editor") {
            _ = try await contacts.delete(ContactEntity.self, where: \.uid == "6")
        }
        try await contacts.add([Contact(uid: "6", name: "Huang Hansheng")])
        do {
            try await container.undo(author: "editor")
        } catch let error as DataSourceError where error.code == .draftConflict {
            print(error.message)
            let report = try await container.undo(author: "editor", resolving: .takeTheirs)
            if report?.save == SaveReport() { print("Nothing was undone.") }
        }
        #expect(try contacts.fetch(ContactEntity.self).map(\.name) == ["Huang Hansheng"])
        #expect(try await container.nextUndo(author: "editor") == nil)
    }

    @Test func aDraftIsUndoneAfterItsSave() async throws {
        var configuration = PersistentContainer.Configuration()
        configuration.history = .kept(for: .seconds(7 * 86_400), upTo: 64 << 20)
        let container = try await PersistentContainer(
            model: .contacts, store: .inMemory, configuration: configuration)
        let contacts = try container.dataSource(ContactDataSource.self)
        try await contacts.add([Contact(uid: "6", name: "Huang Zhong")])
        let contact = try #require(try contacts.fetch(ContactEntity.self).first)
        let draft = try contacts.draft(of: contact)
        draft.object.note = "edited"
        try await draft.save()
        if draft.canUndo { draft.undo() } else { try await draft.undoSave() }
        #expect(contact.note == nil)
        try await draft.redoSave()
        #expect(contact.note == "edited")
    }

    @Test func linksOfASave() async throws {
        try await withContacts { container, contacts in
            var iterator = container.saves.makeAsyncIterator()
            try await contacts.add([Contact(uid: "6", name: "Huang Zhong")])
            guard case .save(let save) = await iterator.next() else { return }
            for link in save.linkChanges { print(link.kind, link.source, link.destination) }
            #expect(save.linkChanges.isEmpty)
        }
    }
}
