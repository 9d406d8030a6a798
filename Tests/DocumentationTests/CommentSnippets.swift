import CoreDataSource
import ErrorExpectations
import Foundation
import FrameworkNames
import TestSupport
import Testing

func adultNames(in context: ManagedObjectContext) throws -> [String] {
    try context.fetch(ContactEntity.self, where: \.age >= 18, order: [.ascending(\.name)]).map(\.name)
}

/// The examples in the doc comments of the types that an app meets.
@MainActor
struct CommentSnippets {
    private let directory: TemporaryDirectory
    private var url: URL { directory.url.appending(component: "contacts.sqlite") }

    init() throws {
        directory = try TemporaryDirectory()
    }

    @Test nonisolated func aContainerIsOpenedAnywhere() async throws {
        let url = await url
        let container = try await PersistentContainer(model: .contacts, store: .sqlite(url), databaseKey: "1000")
        print(container.startup.reason)
        let contacts = try await container.dataSource(ContactDataSource.self)
        #expect(try await contacts.count(ContactEntity.self) == 0)
        try await container.close()
    }

    @Test func aRequestHasPages() async throws {
        try await withContacts { _, contacts in
            var request = ObjectRequest(ContactEntity.self, where: \.age >= 18)
            request.order = [.ascending(\.name, [.caseInsensitive, .numeric])]
            request.limit = 50
            let page = try contacts.fetch(request)
            request.after = page.last.map { FetchCursor($0) }
            let next = try contacts.fetch(request)
            #expect(page.count == 2 && next.isEmpty)
            request.after = nil
            request.prefetch = [\.group]
            #expect(try contacts.fetch(request).count == 2)
        }
    }

    @Test func aRequestIsOrdered() async throws {
        try await withContacts { _, contacts in
            var request = ObjectRequest(ContactEntity.self)
            request.order = [.ascending(\.name, [.caseInsensitive, .numeric]), .descending(\.age)]
            let byName = try contacts.fetch(request)
            request.order = [FetchOrder(SortDescriptor(\.name)), .descending(\.age)]
            let byDescriptor = try contacts.fetch(request)
            #expect(byName.map(\.uid) == ["3", "1", "2"] && byDescriptor == byName)
        }
    }

    @Test func aStoreIsInAFileOrInMemory() async throws {
        let file = StoreLocation.sqlite(url)
        let shared = StoreLocation.sqlite(url, sharing: .processes)
        let memory = StoreLocation.inMemory
        for location in [file, shared, memory] {
            try await PersistentContainer(model: .contacts, store: location).close()
        }
        #expect(FileManager.default.fileExists(atPath: url.path))
    }

    @Test func aDescriptionOpensAStore() async throws {
        let userID = "7"
        let description = StoreDescription(name: "contacts", location: .sqlite(url), databaseKey: userID)
        let stores = await PersistentContainer.open([description], model: .contacts)
        let container = try stores.container(named: "contacts")
        #expect(container.startup.reason == .firstLaunch)
        for sentence in container.unsupportedDeclarations { print(sentence) }
        #expect(container.unsupportedDeclarations.isEmpty)
        try await stores.close()
    }

    @Test func aConfigurationTracesStatements() async throws {
        var configuration = PersistentContainer.Configuration(synchronous: .normal, resetPolicy: .migrate)
        configuration.trace = { statement in print(statement) }
        let container = try await PersistentContainer(
            model: .contacts, store: .sqlite(url), configuration: configuration)
        #expect(container.startup.reason == .firstLaunch)
        try await container.close()
    }

    @Test func slowStatementsAreTraced() async throws {
        var configuration = PersistentContainer.Configuration()
        configuration.trace = { if $0.duration > .milliseconds(50) { print($0) } }
        #expect(configuration.trace != nil)
    }

    @Test func everyContextReads() async throws {
        try await withContacts { container, contacts in
            let names = ["Guan Yu", "Zhang Fei"]
            let onMain = try adultNames(in: container.main)
            let besideWriters = try await container.read { try adultNames(in: $0) }
            let inBatch = try await contacts.perform { try adultNames(in: $0) }
            #expect(onMain == names && besideWriters == names && inBatch == names)
        }
    }

    @Test func anObjectOfMainFollowsSaves() async throws {
        try await withContacts { container, contacts in
            let contact = try container.main.first(ContactEntity.self, where: \.uid, equals: "1")
            try await contacts.add(Contact(uid: "1", name: "Guan Yunchang"))
            print(contact?.name ?? "none")  // Guan Yunchang
            #expect(contact?.name == "Guan Yunchang")
        }
    }

    @Test func aPrivateContextEdits() async throws {
        try await withContacts { container, contacts in
            try await contacts.perform { context in
                try context.delete(ContactEntity.self, where: \.age < 18)
                for contact in try context.fetch(ContactEntity.self) { contact.isFavorite = true }
            }
            #expect(try contacts.fetch(ContactEntity.self).map(\.isFavorite) == [true, true])
            let count = try await contacts.perform { context in
                try context.update(ContactEntity.self, where: \.age >= 30, set: [.set(\.isFavorite, true)])
            }
            #expect(count == 1)
        }
    }

    @Test func aReadSeesOneState() async throws {
        try await withContacts { container, _ in
            let (count, names) = try await container.read { context in
                (try context.count(ContactEntity.self), try context.values(ObjectRequest<ContactEntity>(), \.name))
            }
            #expect(names.count == count)
        }
    }

    @Test func anIDLeadsToTheObjectOfAnotherContext() async throws {
        try await withContacts { _, contacts in
            let id = try await contacts.perform { context in
                let contact = try context.insert(ContactEntity.self)
                contact.uid = "4"
                return contact.objectID
            }
            let contact = try contacts.main.object(ContactEntity.self, id: id)
            #expect(contact?.uid == "4")
        }
    }

    @Test func aSaveReportsItsCounts() async throws {
        try await withContacts { _, contacts in
            let report = try await contacts.add([
                Contact(uid: "3", name: "Guan Ping"), Contact(uid: "4", name: "Zhao Yun"),
            ])
            print("\(report.inserted) new, \(report.updated) changed")
            #expect(report == SaveReport(inserted: 1, updated: 1))
        }
    }

    @Test func aSyncIsRestricted() async throws {
        try await withContacts { _, contacts in
            let onePage = [Contact(uid: "1", name: "Guan Yu")]
            let serverList = onePage + [Contact(uid: "2", name: "Zhang Fei")]
            try await contacts.sync(onePage, deleting: .none)
            try await contacts.sync(serverList, deleting: .atMost(0.5))
            #expect(try contacts.count(ContactEntity.self) == 2)
            try await contacts.sync(serverList, operations: [.insert, .update])
            let sync = try await contacts.sync([], options: [.allowsEmpty, .reportsIDs])
            print(sync.ids?.deleted ?? [])
            #expect(sync.ids?.deleted.count == 2)
        }
    }

    @Test func aSyncOfOneEntityDeletesAtMostAPart() async throws {
        try await withContacts { _, contacts in
            let serverList = [Contact(uid: "1", name: "Guan Yu"), Contact(uid: "2", name: "Zhang Fei")]
            await expectError(.tooManyDeletions) {
                let report = try await contacts.sync(serverList, entity: ContactEntity.self, deleting: .atMost(0.2))
                print(report)
            }
            let count = try contacts.count(ContactEntity.self)
            #expect(count == 3)
        }
    }

    @Test func everythingIsReadFromOneMoment() async throws {
        try await withContacts { container, _ in
            let (names, count) = try await container.read { context in
                (try context.values(ObjectRequest<ContactEntity>(), \.name), try context.count(GroupEntity.self))
            }
            #expect(names.count == 3 && count == 0)
        }
    }

    @Test func aSyncReportsItsCounts() async throws {
        try await withContacts { _, contacts in
            let serverList = [Contact(uid: "1", name: "Guan Yunchang")]
            let sync = try await contacts.sync(serverList)
            print("\(sync.inserted) new, \(sync.updated) changed, \(sync.deleted) gone")
            #expect(sync.updated == 1 && sync.deleted == 2)
        }
    }

    @Test func aTableViewFollowsAList() async throws {
        try await withContacts { _, contacts in
            let table = ContactTable()
            let request = ObjectRequest(ContactEntity.self, where: \.age >= 18, order: [.ascending(\.name)])
            try contacts.register(table, dataKey: "list", request, sectionBy: \.isFavorite)
            try await contacts.add(Contact(uid: "3", name: "Guan Ping", age: 18))
            try await contacts.update(ContactEntity.self, where: \.uid == "2", set: [.set(\.isFavorite, true)])
            #expect(
                table.tableView.calls == [
                    "begin", "insert [0, 0]", "end",
                    "begin", "insert section 1", "delete [0, 2]", "insert [1, 0]", "end",
                ])
            let imported = (100..<301).map { Contact(uid: "\($0)", name: "Name", age: 18) }
            try await contacts.add(imported, waitFor: .main)
            #expect(table.tableView.calls.suffix(2) == ["end", "reload"])
        }
    }

    @Test func stringsAreMatchedWithoutCaseAndMarks() async throws {
        try await withContacts { _, contacts in
            let named: FetchPredicate<ContactEntity> = .contains(
                \.name, "guan", [.caseInsensitive, .diacriticInsensitive])
            let found = try contacts.fetch(ContactEntity.self, where: named, order: [.ascending(\.name)])
            #expect(found.map(\.name) == ["Guan Ping", "Guan Yu"])
        }
    }
}

/// A stand-in for a table view of UIKit, which records its calls.
@MainActor
final class TableView {
    enum RowAnimation { case automatic }

    private(set) var calls: [String] = []

    func beginUpdates() { calls.append("begin") }

    func reloadData() { calls.append("reload") }

    func endUpdates() { calls.append("end") }

    func insertSections(_ sections: IndexSet, with animation: RowAnimation) {
        for section in sections { calls.append("insert section \(section)") }
    }

    func deleteSections(_ sections: IndexSet, with animation: RowAnimation) {
        for section in sections { calls.append("delete section \(section)") }
    }

    func insertRows(at indexPaths: [IndexPath], with animation: RowAnimation) {
        for path in indexPaths { calls.append("insert \(path)") }
    }

    func deleteRows(at indexPaths: [IndexPath], with animation: RowAnimation) {
        for path in indexPaths { calls.append("delete \(path)") }
    }

    func reloadRows(at indexPaths: [IndexPath], with animation: RowAnimation) {
        for path in indexPaths { calls.append("reload \(path)") }
    }
}

@MainActor
final class ContactTable {
    let tableView = TableView()
}

extension ContactTable: DataSourceDelegate {
    func willChangeContent(dataKey: String) { tableView.beginUpdates() }

    func didChangeSection(_ section: ListSection, at index: Int, for type: ListChangeType, dataKey: String) {
        if type == .insert {
            tableView.insertSections([index], with: .automatic)
        } else {
            tableView.deleteSections([index], with: .automatic)
        }
    }

    func didChangeObject(
        _ object: ManagedObject, at indexPath: IndexPath?, for type: ListChangeType, newIndexPath: IndexPath?,
        dataKey: String
    ) {
        if type == .update, let indexPath { return tableView.reloadRows(at: [indexPath], with: .automatic) }
        // The values of an object that moved may have changed too, so its row
        // is not moved but replaced.
        if let indexPath { tableView.deleteRows(at: [indexPath], with: .automatic) }
        if let newIndexPath { tableView.insertRows(at: [newIndexPath], with: .automatic) }
    }

    func didChangeContent(dataKey: String) { tableView.endUpdates() }

    // The import of ten thousand rows is not animated.
    func changeLimit(dataKey: String) -> Int { 200 }

    func didReloadContent(dataKey: String) { tableView.reloadData() }
}
