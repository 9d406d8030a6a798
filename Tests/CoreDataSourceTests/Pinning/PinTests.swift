import CoreDataSource
import Foundation
import RowStore
import SQLiteStore
import TestSupport
import Testing

/// A pinned main context keeps its state while others save.
@MainActor
struct PinTests {
    private func change(_ contacts: ContactDataSource) async throws {
        try await contacts.add(contactList(1..<8) { "new \($0)" })
        try await contacts.delete(contactList(0..<1))
    }

    @Test(arguments: PinPlace.all)
    func readsShowThePinnedRows(place: PinPlace) async throws {
        try await place.withContacts { container, contacts in
            let main = container.main
            let held = try #require(try main.first(ContactEntity.self, where: \.uid, equals: "uid-1"))
            let deleted = try #require(try main.first(ContactEntity.self, where: \.uid, equals: "uid-0"))
            let ids = try main.ids(ObjectRequest(ContactEntity.self, order: [.ascending(\.uid)]))
            try main.pin(for: .ample)
            try await change(contacts)
            #expect(held.name == "name 1" && !deleted.isDeleted)
            #expect(try main.names == Dictionary(uniqueKeysWithValues: (0..<5).map { ("uid-\($0)", "name \($0)") }))
            #expect(try main.count(ContactEntity.self) == 5)
            #expect(try main.count(ContactEntity.self, where: .beginsWith(\.name, "new")) == 0)
            // No object of these rows was registered before.
            #expect(try main.first(ContactEntity.self, where: \.uid, equals: "uid-3")?.name == "name 3")
            #expect(try main.first(ContactEntity.self, where: \.uid, equals: "uid-7") == nil)
            #expect(try main.object(ContactEntity.self, id: ids[2])?.name == "name 2")
            #expect(try main.objects(ContactEntity.self, ids: ids).count == 5)
            #expect(try main.values(ObjectRequest<ContactEntity>(), \.name).sorted().first == "name 0")
            let last: String? = try main.aggregate(ObjectRequest(ContactEntity.self), .max(\.name))
            #expect(last == "name 4")
            #expect(try !main.exists(ContactEntity.self, where: \.name == "new 1"))
            main.unpin()
            #expect(held.name == "new 1" && deleted.isDeleted)
            #expect(try main.names == Dictionary(uniqueKeysWithValues: (1..<8).map { ("uid-\($0)", "new \($0)") }))
        }
    }

    @Test(arguments: PinPlace.all)
    func relationshipsShowThePinnedRows(place: PinPlace) async throws {
        let directory = try TemporaryDirectory()
        let container = try await place.open(directory.store, model: .peers())
        let peers = try container.dataSource(PeerDataSource.self)
        try await peers.perform { context in
            for key in ["a", "b", "c"] { try context.insert(Peer.self).key = key }
            for key in ["b", "c"] { try context.peer(key).boss = try context.peer("a") }
        }
        try container.main.pin(for: .ample)
        try await peers.perform { context in
            try context.peer("c").boss = try context.peer("b")
            context.delete(try context.peer("a"))
        }
        let (a, c) = (try container.main.peer("a"), try container.main.peer("c"))
        #expect(a.reports.map(\.key) == ["b", "c"])
        #expect(c.boss === a)
        let isReportOfA = try FetchPredicate<Peer>(format: "boss.key == %@", "a")
        #expect(try container.main.count(Peer.self, where: isReportOfA) == 2)
        try container.main.advance()
        #expect(a.isDeleted)
        #expect(c.boss?.key == "b" && c.boss?.boss == nil)
        #expect(try container.main.count(Peer.self, where: isReportOfA) == 0)
        try await container.close()
    }

    @Test(arguments: StoreKind.allCases)
    func largeValuesThatAreReadLaterArePinned(kind: StoreKind) async throws {
        try await withRecordings([200_000, 200_000], kind) { container, recordings in
            let held = try container.main.fetch(Recording.self, order: [.ascending(\.title)])
            try container.main.pin(for: .ample)
            try await recordings.perform { context in
                for recording in try context.fetch(Recording.self) { recording.sound = .large(100, seed: 9) }
            }
            #expect(held.map(\.sound) == [.large(200_000, seed: 0), .large(200_000, seed: 1)])
            container.main.unpin()
            #expect(held.map(\.sound) == [.large(100, seed: 9), .large(100, seed: 9)])
        }
    }

    @Test(arguments: PinPlace.all)
    func advanceShowsTheNewestRowsAndKeepsThem(place: PinPlace) async throws {
        try await place.withContacts { container, contacts in
            let main = container.main
            let held = try #require(try main.first(ContactEntity.self, where: \.uid, equals: "uid-1"))
            try main.pin(for: .ample)
            for number in 1...20 {
                try await contacts.add(ContactData(uid: "uid-1", name: "\(number)"), waitFor: .main)
                #expect(held.name == (number == 1 ? "name 1" : "\(number - 1)"))
                try main.advance()
                #expect(held.name == "\(number)" && main.pinned != nil)
            }
            main.unpin()
            #expect(main.pinned == nil)
        }
    }

    /// The rows of saves that are not in the store yet are neither lost nor seen too early.
    @Test(arguments: PinPlace.all)
    func waitingSavesBelongToTheStateInWhichTheyWereMade(place: PinPlace) async throws {
        try await place.withContacts(0) { container, contacts in
            for number in 0..<50 {
                try await contacts.add(contactList(number..<number + 1), waitFor: .main)
                try container.main.pin(for: .ample)
                try await contacts.add(contactList(100 + number..<101 + number), waitFor: .main)
                #expect(try container.main.count(ContactEntity.self) == 2 * number + 1)
                #expect(try container.main.names.count == 2 * number + 1)
                try await container.flush()
                #expect(try container.main.names.count == 2 * number + 1)
                container.main.unpin()
                #expect(try container.main.count(ContactEntity.self) == 2 * number + 2)
            }
        }
    }

    @Test func aSaveThatIsRolledBackStaysUntilThePinEnds() async throws {
        let (container, store) = PersistentContainer.faulty()
        let senders = try container.dataSource(SenderDataSource.self)
        try await senders.add(ItemData(key: "a", number: 1))
        store.fail(with: noRoom)
        try await senders.add(ItemData(key: "b", number: 1), waitFor: .main)
        try container.main.pin(for: .ample)
        let held = try #require(try container.main.first(Sender.self, where: \.key == "b"))
        #expect(await container.discardPending() == 1)
        #expect(try container.main.count(Sender.self) == 2)
        #expect(!held.isDeleted)
        container.main.unpin()
        #expect(try container.main.count(Sender.self) == 1)
        #expect(held.isDeleted)
        store.fail(with: nil)
        try await container.close()
    }

    /// A bulk change is made by the store itself, so no save has its rows.
    @Test(arguments: [PinPlace.memory, .sqlite])
    func aBulkChangeIsShownWhenThePinEnds(place: PinPlace) async throws {
        var configuration = PersistentContainer.Configuration(synchronous: .normal)
        configuration.changedRowLimit = 2
        try await place.withContacts(5, configuration) { container, contacts in
            let held = try container.main.fetch(ContactEntity.self)
            try container.main.pin(for: .ample)
            try await contacts.update(ContactEntity.self, set: [.set(\.name, "same")])
            #expect(Set(held.map(\.name)).count == 5)
            #expect(Set(try container.main.names.values).count == 5)
            try container.main.advance()
            #expect(Set(held.map(\.name)) == ["same"])
            try container.main.advance()
            container.main.unpin()
            #expect(Set(try container.main.names.values) == ["same"])
        }
    }

    /// Beyond the limit, waiting saves are dropped, and the context reloads.
    @Test(arguments: PinPlace.all)
    func waitingSavesHaveALimit(place: PinPlace) async throws {
        try await place.withContacts(5, .init(synchronous: .normal, mainBacklogByteLimit: 2000)) {
            container, contacts in
            let main = container.main
            let held = try #require(try main.first(ContactEntity.self, where: \.uid, equals: "uid-1"))
            try main.pin(for: .ample)
            for number in 1...100 {
                try await contacts.add(ContactData(uid: "uid-1", name: "\(number)"))
                #expect(try #require(main.pinned).waitingByteCount <= 2000)
            }
            #expect(held.name == "name 1")
            main.unpin()
            #expect(held.name == "100")
        }
    }

    // MARK: Calls in any order

    @Test(arguments: PinPlace.all)
    func aSecondPinKeepsTheState(place: PinPlace) async throws {
        try await place.withContacts { container, contacts in
            try container.main.pin(for: .ample)
            try await change(contacts)
            try container.main.pin(for: .seconds(5000))
            #expect(container.main.pinned?.limit == .seconds(5000))
            #expect(try container.main.names["uid-1"] == "name 1")
            container.main.unpin()
            container.main.unpin()
            #expect(try container.main.names["uid-1"] == "new 1")
        }
    }

    @Test func advanceWithoutAPinMergesTheNewestSaves() async throws {
        try await PinPlace.sqlite.withContacts { container, contacts in
            let held = try #require(try container.main.first(ContactEntity.self, where: \.uid, equals: "uid-1"))
            try await change(contacts)
            try container.main.advance()
            #expect(held.name == "new 1" && container.main.pinned == nil)
        }
    }

    // MARK: Others

    @Test(arguments: PinPlace.all)
    func otherContextsAreNotPinned(place: PinPlace) async throws {
        try await place.withContacts { container, contacts in
            try container.main.pin(for: .ample)
            try await change(contacts)
            #expect(try await container.read { try $0.count(ContactEntity.self) } == 7)
            #expect(try await contacts.perform { try $0.count(ContactEntity.self) } == 7)
            #expect(try container.main.count(ContactEntity.self) == 5)
        }
    }

    /// Another container stands for another process.
    @Test(arguments: SharedPlace.Kind.all)
    func savesOfOtherProcessesWait(kind: SharedPlace.Kind) async throws {
        try await kind.withTwo { one, other in
            let contacts = try one.dataSource(ContactDataSource.self)
            let others = try other.dataSource(ContactDataSource.self)
            try await contacts.add(contactList(0..<5))
            let held = try #require(try one.main.first(ContactEntity.self, where: \.uid, equals: "uid-1"))
            try one.main.pin(for: .ample)
            try await change(others)
            // This save follows the others, so this process knows their saves.
            try await contacts.add(ContactData(uid: "uid-2", name: "mine"))
            #expect(held.name == "name 1")
            #expect(try one.main.count(ContactEntity.self) == 5)
            #expect(try other.main.count(ContactEntity.self) == 7)
            try one.main.advance()
            #expect(held.name == "new 1")
            #expect(try one.main.names["uid-2"] == "mine")
            try await change(others)
            one.main.unpin()
            #expect(try one.main.names["uid-2"] == "new 2")
        }
    }

    /// Another program writes the file itself.
    @Test func writesOfOtherProgramsWait() async throws {
        let directory = try TemporaryDirectory()
        let container = try await PinPlace.sqlite.open(directory.store)
        let contacts = try container.dataSource(ContactDataSource.self)
        try await contacts.add(contactList(0..<5))
        let held = try #require(try container.main.first(ContactEntity.self, where: \.uid, equals: "uid-1"))
        try container.main.pin(for: .ample)
        try RawConnection(directory.store).execute("UPDATE ContactEntity SET name = 'theirs'")
        container.stack.root.noticeOutsideWrites()
        #expect(held.name == "name 1")
        #expect(try container.main.names["uid-2"] == "name 2")
        try container.main.advance()
        #expect(held.name == "theirs")
        #expect(try container.main.names["uid-2"] == "theirs")
        try await container.close()
    }

    /// What the context shows is read again only when the pin ends, however often others write.
    @Test(arguments: [PinPlace.sqlite, .sharedFile])
    func aPinnedContextReadsNothingBecauseOthersWrite(place: PinPlace) async throws {
        let directory = try TemporaryDirectory()
        let readCount = Shared(0)
        var options = SQLiteStore.Options.contacts(directory.store, isShared: place == .sharedFile)
        options.tracing = StatementTracing(showsValues: false) { trace in
            // The highest key is needed for new rows.
            if trace.sql.contains("\"ContactEntity\""), !trace.isWriting, !trace.sql.contains("max(") {
                readCount.update { $0 += 1 }
            }
        }
        let store = try SQLiteStore.open(options)
        // No timer checks the file: if one did while the context is pinned, the context would read its rows once more.
        let container = PersistentContainer(
            options.layout, store, startup: store.startup, scheduling: ManualTimers().scheduling)
        let contacts = try container.dataSource(ContactDataSource.self)
        try await contacts.add(contactList(0..<5))
        let held = try container.main.fetch(ContactEntity.self)
        let list = try contacts.list(ObjectRequest(ContactEntity.self, where: \.name == "theirs"))
        // A commit that has not ended would have the same effect.
        container.stack.root.waitForQueue()
        try container.main.pin(for: .ample)
        await container.mainTier.waitForLists()
        readCount.update { $0 = 0 }
        for number in 0..<5 {
            try RawConnection(directory.store).execute("UPDATE ContactEntity SET name = 'theirs', phone = '\(number)'")
            container.stack.root.noticeOutsideWrites()
            container.mainTier.merge()
            await container.mainTier.waitForLists()
        }
        #expect(readCount.value == 0)
        #expect(held.allSatisfy { $0.name != "theirs" } && list.count == 0)
        container.main.unpin()
        await container.mainTier.waitForLists()
        #expect(readCount.value > 0)
        #expect(held.allSatisfy { $0.name == "theirs" } && list.count == 5)
        try await container.close()
    }

    // MARK: Drafts

    @Test(arguments: PinPlace.all)
    func aDraftBeginsWithThePinnedRowsAndMerges(place: PinPlace) async throws {
        try await place.withContacts { container, contacts in
            try container.main.pin(for: .ample)
            try await contacts.add(ContactData(uid: "uid-2", name: "theirs", phone: "2"))
            try await contacts.add(ContactData(uid: "uid-4", name: "name 4", phone: "new"))
            let contact = try #require(try container.main.first(ContactEntity.self, where: \.uid, equals: "uid-4"))
            let draft = try contacts.draft(of: contact)
            #expect(draft.object.phone == "4")
            #expect(try draft.context.first(ContactEntity.self, where: \.uid, equals: "uid-2")?.name == "name 2")
            draft.object.name = "mine"
            try await draft.save()
            #expect(contact.name == "name 4")
            // The draft itself continues with the stored values.
            #expect(draft.object.name == "mine" && draft.object.phone == "new" && !draft.hasChanges)
            #expect(try draft.context.first(ContactEntity.self, where: \.uid, equals: "uid-2")?.name == "theirs")
            container.main.unpin()
            #expect(contact.name == "mine" && contact.phone == "new")
            #expect(try draft.context.first(ContactEntity.self, where: \.uid, equals: "uid-2")?.name == "theirs")
        }
    }

    /// From its first save on, a draft shows the newest rows, and a draft without a save shows the pinned rows.
    @Test(arguments: PinPlace.all)
    func aDraftLeavesThePinWithItsFirstSave(place: PinPlace) async throws {
        try await place.withContacts { container, contacts in
            try container.main.pin(for: .ample)
            let contact = try #require(try container.main.first(ContactEntity.self, where: \.uid, equals: "uid-1"))
            let (draft, other) = (try contacts.draft(of: contact), try contacts.draft(of: contact))
            let held = try #require(try draft.context.first(ContactEntity.self, where: \.uid, equals: "uid-2"))
            try await contacts.add(contactList(2..<7) { "theirs \($0)" })
            #expect(held.name == "name 2")
            try await draft.save()
            #expect(try draft.context.count(ContactEntity.self) == 5)
            draft.object.name = "mine"
            try await draft.save()
            #expect(held.name == "theirs 2")
            #expect(try draft.context.count(ContactEntity.self) == 7)
            try await contacts.add(contactList(2..<9) { "later \($0)" })
            try container.main.pin(for: .ample)
            #expect(try draft.context.count(ContactEntity.self) == 9)
            #expect(held.name == "later 2" && draft.object.name == "mine")
            #expect(try other.context.count(ContactEntity.self) == 5)
            #expect(other.object.name == "name 1" && contact.name == "name 1")
            try container.main.advance()
            try await contacts.add(contactList(9..<11))
            #expect(try draft.context.count(ContactEntity.self) == 9)
            #expect(contact.name == "mine" && other.object.name == "mine")
        }
    }

    @Test func aDraftOfThePinnedRowsFindsConflicts() async throws {
        try await PinPlace.sqlite.withContacts { container, contacts in
            try container.main.pin(for: .ample)
            try await contacts.add(ContactData(uid: "uid-2", name: "theirs", phone: "2"))
            let contact = try #require(try container.main.first(ContactEntity.self, where: \.uid, equals: "uid-2"))
            let draft = try contacts.draft(of: contact)
            draft.object.name = "mine"
            #expect(try draft.conflicts().map(\.propertyName) == ["name"])
            let report = try await draft.save(resolving: .keepMine)
            #expect(report.conflicts.count == 1)
            try container.main.advance()
            #expect(contact.name == "mine")
        }
    }
}
