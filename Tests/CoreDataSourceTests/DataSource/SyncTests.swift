import CoreDataSource
import ErrorExpectations
import Foundation
import Testing

@MainActor
struct SyncTests {
    @Test(arguments: StoreKind.allCases)
    func theStoreBecomesEqualToTheList(kind: StoreKind) async throws {
        try await withContainer(kind) { container, _ in
            let contacts = try container.dataSource(ContactDataSource.self)
            try await contacts.sync(contactList(0..<100), entity: ContactEntity.self)
            let report = try await contacts.sync(
                contactList(50..<120) { $0 == 60 ? "changed" : "name \($0)" }, entity: ContactEntity.self)
            #expect(report.read == 70)
            #expect(report.inserted == 20)
            #expect(report.updated == 1)
            #expect(report.unchanged == 49)
            #expect(report.deleted == 50)
            let uids = Set(try contacts.fetch(ContactEntity.self).map(\.uid))
            #expect(uids == Set(contactList(50..<120).map(\.uid)))
        }
    }

    @Test(arguments: StoreKind.allCases)
    func theSameListAgainChangesNothing(kind: StoreKind) async throws {
        try await withContainer(kind) { container, _ in
            let contacts = try container.dataSource(ContactDataSource.self)
            try await contacts.sync(contactList(0..<100), entity: ContactEntity.self)
            let saves = container.stack.root.newestSave
            let report = try await contacts.sync(contactList(0..<100), entity: ContactEntity.self)
            #expect(report.unchanged == 100)
            #expect(report.inserted + report.updated + report.deleted == 0)
            #expect(container.stack.root.newestSave == saves, "a save was made of nothing")
        }
    }

    @Test func theSameListAgainChangesNothingAfterAStart() async throws {
        let directory = try TemporaryDirectory()
        for start in 0..<2 {
            let container = try await PersistentContainer(model: .contacts, store: .sqlite(directory.store))
            let contacts = try container.dataSource(ContactDataSource.self)
            let report = try await contacts.sync(contactList(0..<300), entity: ContactEntity.self)
            #expect(report.inserted == (start == 0 ? 300 : 0))
            #expect(report.unchanged == (start == 0 ? 0 : 300))
            try await container.close()
        }
    }

    /// D6: an empty answer from a server used to empty the store.
    @Test func anEmptyListIsRefusedUnlessAllowed() async throws {
        try await withContainer { container, _ in
            let contacts = try container.dataSource(ContactDataSource.self)
            try await contacts.sync(contactList(0..<3), entity: ContactEntity.self)
            await expectError(.emptySync) {
                try await contacts.sync([ContactData](), entity: ContactEntity.self)
            }
            #expect(try contacts.count(ContactEntity.self) == 3)
            let report = try await contacts.sync(
                [ContactData](), entity: ContactEntity.self, options: .allowsEmpty)
            #expect(report.deleted == 3)
            #expect(try contacts.count(ContactEntity.self) == 0)
        }
    }

    @Test func anEmptyListForAnEmptyStoreIsFine() async throws {
        try await withContainer { container, _ in
            let contacts = try container.dataSource(ContactDataSource.self)
            let report = try await contacts.sync([ContactData](), entity: ContactEntity.self)
            #expect(report == SyncReport())
        }
    }

    @Test func objectsOutOfScopeAreLeftAlone() async throws {
        try await withContainer { container, _ in
            let contacts = try container.dataSource(ContactDataSource.self)
            try await contacts.add(contactList(0..<10) { $0 < 5 ? "low" : "high" })
            let scope = \ContactEntity.name == "low"
            let report = try await contacts.sync(
                contactList(0..<2) { _ in "low" }, entity: ContactEntity.self, scope: scope)
            #expect(report.deleted == 3)
            #expect(report.updated == 2, "they get the flag")
            #expect(try contacts.count(ContactEntity.self) == 7)
        }
    }

    @Test func duplicatesAndIgnoredValuesAreCounted() async throws {
        try await withContainer { container, _ in
            let contacts = try container.dataSource(ContactDataSource.self)
            let list: [any Sendable] = [
                ContactData(uid: "a", name: "first"), 17, ContactData(uid: "a", name: "second"), "text",
            ]
            let report = try await contacts.sync(list, entity: ContactEntity.self)
            #expect(report.read == 4)
            #expect(report.inserted == 1)
            #expect(report.duplicates == 1)
            #expect(report.ignored == 2)
            #expect(try contacts.fetch(ContactEntity.self).map(\.name) == ["second"])
        }
    }

    @Test func theSyncFlagIsSetOnRowsOfTheList() async throws {
        try await withContainer { container, _ in
            let contacts = try container.dataSource(ContactDataSource.self)
            try await contacts.add(ContactData(uid: "local", name: "x"))
            let scope = \ContactEntity.name != "x"
            try await contacts.sync([ContactData(uid: "a", name: "y")], entity: ContactEntity.self, scope: scope)
            #expect(try contacts.fetch(ContactEntity.self, order: [SortDescriptor(\.uid)]).map(\.syncFlag) == [1, 0])
        }
    }

    @Test func aPlanSaysWhatASyncWouldDoAndDoesNothing() async throws {
        try await withContainer { container, _ in
            let contacts = try container.dataSource(ContactDataSource.self)
            try await contacts.add(contactList(0..<10))
            let list = contactList(5..<12) { $0 == 6 ? "other" : "name \($0)" }
            // The flag makes an update of every row that has not been synced before.
            let plan = try await contacts.planSync(list, entity: ContactEntity.self)
            #expect(try contacts.count(ContactEntity.self) == 10)
            #expect(try contacts.main.first(ContactEntity.self, where: \.uid == "uid-6")?.name == "name 6")
            #expect(container.stack.root.newestSave == 1)
            #expect(try await contacts.sync(list, entity: ContactEntity.self) == plan)
            #expect(plan.inserted == 2)
            #expect(plan.deleted == 5)
        }
    }

    @Test func aSyncThatThrowsLeavesEverythingAsItWas() async throws {
        try await withContainer { container, _ in
            let contacts = try container.dataSource(ContactDataSource.self)
            try await contacts.sync(contactList(0..<10), entity: ContactEntity.self)
            await expectThrows(Poison.self) {
                try await contacts.sync(
                    contactList(5..<20) { $0 == 19 ? "poison" : "changed" }, entity: ContactEntity.self)
            }
            let names = try contacts.fetch(ContactEntity.self).map(\.name)
            #expect(names == contactList(0..<10).map(\.name))
            let report = try await contacts.sync(contactList(0..<10), entity: ContactEntity.self)
            #expect(report.unchanged == 10)
        }
    }

    @Test func anotherSourcesEntityCannotBeSynced() async throws {
        try await withContainer { container, _ in
            let contacts = try container.dataSource(ContactDataSource.self)
            await expectError(.entityNotOwned) {
                try await contacts.sync([GroupData(gid: "g", name: "n")], entity: GroupEntity.self)
            }
        }
    }
}
