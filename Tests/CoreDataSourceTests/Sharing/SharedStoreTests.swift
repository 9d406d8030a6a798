import CoreDataSource
import ErrorExpectations
import Foundation
import RowStore
import SQLiteStore
import Testing

/// Two containers have one store open. Two of one process count as two.
@MainActor
struct SharedStoreTests {
    private struct Side {
        let container: PersistentContainer
        let contacts: ContactDataSource
        let groups: GroupDataSource

        @MainActor init(_ place: SharedPlace, times: LeaseTimes = .patient) throws {
            container = try place.open(times: times)
            contacts = try container.dataSource(ContactDataSource.self)
            groups = try container.dataSource(GroupDataSource.self)
        }

        @MainActor func names() throws -> [String] {
            try contacts.fetch(ContactEntity.self, order: [.ascending(\.uid)]).map { "\($0.uid) \($0.name)" }
        }
    }

    private func withTwo(
        _ kind: SharedPlace.Kind, times: LeaseTimes = .patient,
        _ body: (Side, Side, SharedPlace) async throws -> Void
    ) async throws {
        let place = try SharedPlace(kind)
        let one = try Side(place, times: times)
        let other = try Side(place, times: times)
        try await body(one, other, place)
        try await one.container.close()
        try await other.container.close()
        guard let url = place.url else { return }
        #expect(try RawConnection(url).column("PRAGMA integrity_check") == ["ok"])
    }

    @Test(arguments: SharedPlace.Kind.all)
    func eachProcessSeesTheSavesOfTheOther(kind: SharedPlace.Kind) async throws {
        try await withTwo(kind) { one, other, _ in
            try await one.contacts.add(contactList(0..<3))
            #expect(try other.names() == ["uid-0 name 0", "uid-1 name 1", "uid-2 name 2"])
            try await other.contacts.add(contactList(1..<4) { "changed \($0)" })
            #expect(
                try one.names() == ["uid-0 name 0", "uid-1 changed 1", "uid-2 changed 2", "uid-3 changed 3"])
            try await one.contacts.delete(contactList(0..<2))
            #expect(try other.names() == ["uid-2 changed 2", "uid-3 changed 3"])
        }
    }

    @Test(arguments: SharedPlace.Kind.all)
    func hooksFindTheSavesOfAnotherProcess(kind: SharedPlace.Kind) async throws {
        try await withTwo(kind) { one, other, _ in
            #expect(try await one.contacts.add(contactList(0..<100)) == SaveReport(inserted: 100))
            #expect(try await other.contacts.add(contactList(0..<100)) == SaveReport())
            #expect(try await one.contacts.add(contactList(0..<3) { "x \($0)" }) == SaveReport(updated: 3))
            let report = try await other.contacts.sync(contactList(0..<50), entity: ContactEntity.self)
            #expect((report.inserted, report.deleted) == (0, 50))
            #expect(try await one.contacts.add(contactList(49..<51)) == SaveReport(inserted: 1))
        }
    }

    @Test(arguments: SharedPlace.Kind.all)
    func objectsOfMainFollowAnotherProcess(kind: SharedPlace.Kind) async throws {
        try await withTwo(kind) { one, other, _ in
            try await one.contacts.add(contactList(0..<2))
            let held = try #require(try other.contacts.main.first(ContactEntity.self, where: \.uid == "uid-0"))
            try await one.contacts.add(contactList(0..<1) { _ in "new" })
            _ = try other.contacts.count(ContactEntity.self)
            _ = try other.contacts.main.first(ContactEntity.self, where: \.uid == "uid-1")
            #expect(held.name == "new")
            try await one.contacts.delete(contactList(0..<1))
            // It reads the store, which the look-up of a registered object does not.
            _ = try other.contacts.count(ContactEntity.self)
            _ = try other.contacts.main.first(ContactEntity.self, where: \.uid == "uid-1")
            #expect(held.isDeleted)
        }
    }

    @Test(arguments: SharedPlace.Kind.all)
    func aListFollowsAnotherProcessAndNamesIt(kind: SharedPlace.Kind) async throws {
        try await withTwo(kind) { one, other, _ in
            let request = ObjectRequest(ContactEntity.self, order: [.ascending(\.name)])
            var updates = other.contacts.updates(request).makeAsyncIterator()
            #expect(await updates.next()?.snapshot.count == 0)
            try await one.contacts.add(contactList(0..<3))
            let update = try #require(await updates.next())
            #expect(update.snapshot.count == 3)
            #expect(update.reason.kind == .save)
            #expect(!update.reason.didReadStore)
            let name = try #require(one.container.stack.root.store.sharing?.member.description)
            #expect(name.hasPrefix("process \(getpid()) (\(ProcessInfo.processInfo.processName)"))
            // Processes on different hosts can have the same number.
            if kind == .postgreSQL { #expect(name.hasSuffix("@\(ProcessInfo.processInfo.hostName))")) }
            #expect(update.reason.processes == [name])
            #expect("\(update.reason)".contains(" in \(name): 3 rows"))
        }
    }

    @Test(arguments: SharedPlace.Kind.all)
    func keysAreNeverGivenTwice(kind: SharedPlace.Kind) async throws {
        try await withTwo(kind) { one, other, place in
            for step in 0..<10 {
                try await one.contacts.add(contactList(step * 300..<step * 300 + 150))
                try await other.contacts.add(contactList(step * 300 + 150..<step * 300 + 300))
            }
            #expect(try one.names().count == 3000)
            let keys = try one.contacts.fetch(ContactEntity.self).map(\.objectID.key)
            #expect(Set(keys).count == 3000)
        }
    }

    @Test(arguments: SharedPlace.Kind.all)
    func aSaveOfManyRowsIsReloaded(kind: SharedPlace.Kind) async throws {
        try await withTwo(kind) { one, other, _ in
            try await one.contacts.add(contactList(0..<10))
            let held = try #require(try other.contacts.main.first(ContactEntity.self, where: \.uid == "uid-0"))
            try await one.contacts.add(contactList(0..<5000) { "many \($0)" })
            #expect(try other.names().count == 5000)
            other.container.mainTier.merge()
            #expect(held.name == "many 0")
            #expect(try await other.contacts.add(contactList(0..<5000) { "many \($0)" }) == SaveReport())
        }
    }

    @Test func anUnsharedContainerCannotOpenASharedStore() async throws {
        try await withTwo(.sqlite) { _, _, place in
            let url = try #require(place.url)
            await expectThrows(DataSourceError.self) {
                _ = try await PersistentContainer(model: .contacts, store: .sqlite(url))
            }
            let error = await expectError(.storeInUse) {
                try await PersistentContainer(
                    model: .contacts, store: .sqlite(url), configuration: .init(isReadOnly: true))
            }
            #expect(error?.message.hasPrefix("A read-only container cannot open a store while") == true)
        }
    }

    @Test(arguments: [false, true])
    func aStoreThatIsOpenUnsharedCannotBeShared(isReadOnly: Bool) async throws {
        let directory = try TemporaryDirectory()
        let maker = try PersistentContainer.shared(directory.store)
        try await maker.close()
        let alone = try await PersistentContainer(
            model: .contacts, store: .sqlite(directory.store), configuration: .init(isReadOnly: isReadOnly))
        expectError(.storeInUse) { try PersistentContainer.shared(directory.store) }
        try await alone.close()
        try await PersistentContainer.shared(directory.store).close()
    }

    @Test(arguments: SharedPlace.Kind.all)
    func aResetIsRefusedWhileOthersAreThere(kind: SharedPlace.Kind) async throws {
        try await withTwo(kind) { one, other, place in
            try await one.contacts.add(contactList(0..<3))
            let error = await expectError(.storeInUse) { try await one.container.reset() }
            #expect(error?.message.contains("process \(getpid()) (") ?? false)
            #expect(try other.names().count == 3)
            try await other.container.close()
            #expect(try await one.container.reset().rowsDropped == 3)
            #expect(try one.names() == [])
            try await one.contacts.add(contactList(5..<7))
            let third = try Side(place)
            #expect(try third.names() == ["uid-5 name 5", "uid-6 name 6"])
            try await third.contacts.add(contactList(7..<8))
            #expect(try one.names().count == 3)
            try await third.container.close()
        }
    }

    @Test(arguments: SharedPlace.Kind.all)
    func anotherModelIsRefusedWhileOthersAreThere(kind: SharedPlace.Kind) async throws {
        try await withTwo(kind) { one, _, place in
            try await one.contacts.add(contactList(0..<3))
            let error = expectError(kind == .sqlite ? .storeInUse : .modelChanged) { try place.open(model: .chat) }
            #expect(error?.description.contains("process \(getpid()) (") ?? false)
            _ = expectError(.modelChanged) {
                try place.open(model: .chat, configuration: .init(synchronous: .normal, resetPolicy: .fail))
            }
        }
    }

    @Test(arguments: SharedPlace.Kind.all)
    func aSaveThatIsPendingIsSeenByTheOtherOnceItIsWritten(kind: SharedPlace.Kind) async throws {
        try await withTwo(kind) { one, other, _ in
            try await one.contacts.add(contactList(0..<3), waitFor: .main)
            // Who gets the lease finds everything that was pending under it.
            #expect(try await other.contacts.add(contactList(0..<3)) == SaveReport())
        }
    }
}
