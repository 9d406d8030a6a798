import CoreDataSource
import Foundation
import Testing

@MainActor
struct AddTests {
    @Test(arguments: StoreKind.allCases)
    func addedValuesAreFetched(kind: StoreKind) async throws {
        try await withContainer(kind) { container, _ in
            let contacts = try container.dataSource(ContactDataSource.self)
            let report = try await contacts.add(contactList(0..<10))
            #expect(report == SaveReport(inserted: 10))
            let found = try contacts.fetch(ContactEntity.self, order: [SortDescriptor(\.name)])
            #expect(found.map(\.name) == (0..<10).map { "name \($0)" })
            #expect(found.map(\.phone) == (0..<10).map { $0 % 2 == 0 ? "\($0)" : nil })
        }
    }

    @Test(arguments: StoreKind.allCases)
    func addingAgainUpdatesOnlyWhatChanged(kind: StoreKind) async throws {
        try await withContainer(kind) { container, _ in
            let contacts = try container.dataSource(ContactDataSource.self)
            try await contacts.add(contactList(0..<10))
            let report = try await contacts.add(contactList(5..<15) { $0 == 7 ? "new" : "name \($0)" })
            #expect(report == SaveReport(inserted: 5, updated: 1))
            #expect(try contacts.main.first(ContactEntity.self, where: \.uid == "uid-7")?.name == "new")
        }
    }

    @Test func aReportDescribesItsCounts() async throws {
        try await withContainer(.inMemory) { container, _ in
            let contacts = try container.dataSource(ContactDataSource.self)
            #expect(try await "\(contacts.add(contactList(0..<10)))" == "10 inserted")
            let mixed = contactList(5..<15) { $0 == 7 ? "new" : "name \($0)" }
            #expect(try await "\(contacts.add(mixed))" == "5 inserted, 1 updated")
            #expect(try await "\(contacts.add(mixed))" == "no changes")
        }
        let all = SaveReport(inserted: 1, updated: 2, deleted: 3, ignored: 4)
        #expect("\(all)" == "1 inserted, 2 updated, 3 deleted, 4 ignored")
    }

    @Test func rowsAreThereAtTheNextStart() async throws {
        let directory = try TemporaryDirectory()
        for expected in [0, 100] {
            let container = try await PersistentContainer(
                model: .contacts, store: .sqlite(directory.store), databaseKey: "1")
            let contacts = try container.dataSource(ContactDataSource.self)
            #expect(try contacts.count(ContactEntity.self) == expected)
            #expect(container.startup.reason == (expected == 0 ? .firstLaunch : .current))
            try await contacts.add(contactList(0..<100))
            try await container.close()
        }
    }
}
