import CoreDataSource
import ErrorExpectations
import Foundation
import Testing

/// Changing many objects at once is a save like any other.
@MainActor
struct BatchTests {
    private func withContacts(
        _ kind: StoreKind, _ body: @MainActor (ContactDataSource, PersistentContainer) async throws -> Void
    ) async throws {
        try await withContainer(kind) { container, _ in
            let contacts = try container.dataSource(ContactDataSource.self)
            try await contacts.add(contactList(0..<100) { "n\($0 % 10)" })
            try await body(contacts, container)
        }
    }

    private let third = \ContactEntity.name == "n3"

    @Test(arguments: StoreKind.allCases)
    func everythingThatShowsTheRowsSeesTheUpdate(kind: StoreKind) async throws {
        try await withContacts(kind) { contacts, container in
            let shown = try contacts.fetch(ContactEntity.self)
            let report = try await contacts.update(
                ContactEntity.self, where: third, set: [.set(\.name, "new"), .set(\.phone, nil)], waitFor: .main)
            #expect(report == SaveReport(updated: 10))
            #expect(shown.count { $0.name == "new" && $0.phone == nil } == 10)
            #expect(try contacts.count(ContactEntity.self, where: third) == 0)
            let elsewhere = try container.dataSource(GroupDataSource.self)
            let inPrivate = try await contacts.perform {
                try $0.fetch(ContactEntity.self, where: \.name == "new").count
            }
            let inOther = try await elsewhere.perform {
                try $0.fetch(ContactEntity.self, where: \.name == "new").count
            }
            #expect((inPrivate, inOther) == (10, 10))
            // The same again changes nothing, so nothing is saved.
            let again = try await contacts.update(
                ContactEntity.self, where: \ContactEntity.name == "new", set: [.set(\.name, "new")])
            #expect(again == SaveReport())
        }
    }

    @Test(arguments: StoreKind.allCases)
    func everythingThatShowsTheRowsSeesTheDeletion(kind: StoreKind) async throws {
        try await withContacts(kind) { contacts, _ in
            let shown = try contacts.fetch(ContactEntity.self)
            let report = try await contacts.delete(ContactEntity.self, where: third, waitFor: .main)
            #expect(report == SaveReport(deleted: 10))
            #expect(shown.count { $0.isDeleted } == 10)
            #expect(try contacts.count(ContactEntity.self) == 90)
            #expect(try await contacts.delete(ContactEntity.self, where: nil) == SaveReport(deleted: 90))
        }
    }

    /// A unique value for all of them can only be refused, with nothing changed.
    @Test(arguments: StoreKind.allCases)
    func rulesHoldForAll(kind: StoreKind) async throws {
        try await withContacts(kind) { contacts, container in
            await expectError(.uniquenessViolated) {
                try await contacts.update(ContactEntity.self, where: third, set: [.set(\.uid, "same")])
            }
            #expect(try contacts.count(ContactEntity.self, where: third) == 10)
            #expect(try contacts.main.first(ContactEntity.self, where: \.uid == "same") == nil)
            let groups = try container.dataSource(GroupDataSource.self)
            for work in [
                { try await groups.update(ContactEntity.self, set: [.set(\.name, "x")]) },
                { try await groups.delete(ContactEntity.self, where: nil) },
            ] as [@Sendable () async throws -> SaveReport] {
                await expectError(.entityNotOwned) { try await work() }
            }
            #expect(try contacts.count(ContactEntity.self) == 100)
        }
    }
}
