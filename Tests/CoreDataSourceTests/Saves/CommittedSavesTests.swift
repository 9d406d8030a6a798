import CoreDataSource
import ErrorExpectations
import Foundation
import RowStore
import TestSupport
import Testing

/// `container.saves` has exactly what is in the store, in the order of the commits.
@MainActor
struct CommittedSavesTests {
    private nonisolated static let seed = testSeed()

    /// The kinds of stores.
    enum Place: String, Sendable, CaseIterable {
        case memory, sqlite, sharedFile, server, custom

        static var all: [Place] {
            SharedPlace.Kind.all.contains(.postgreSQL) ? allCases : allCases.filter { $0 != .server }
        }

        /// Those that several containers can have open.
        static var shared: [Place] { all.filter { $0 == .sharedFile || $0 == .server } }

        func withContainer(
            _ model: ManagedObjectModel = .contacts, _ body: @MainActor (PersistentContainer) async throws -> Void
        ) async throws {
            let directory = try TemporaryDirectory()
            let container: PersistentContainer
            switch self {
            case .memory: container = try await PersistentContainer(model: model, store: .inMemory)
            case .sqlite:
                container = try await PersistentContainer(
                    model: model, store: .sqlite(directory.store), configuration: .init(synchronous: .normal))
            case .sharedFile: container = try PersistentContainer.shared(directory.store, model: model)
            case .server: container = try SharedPlace(.postgreSQL).open(model: model)
            case .custom:
                container = try await HistoryPlace.custom.open(
                    directory.store, .init(synchronous: .normal), model: model)
            }
            try await body(container)
            try await container.close()
        }
    }

    /// What a loop gets, up to a number of events.
    private func take(_ count: Int, of saves: CommittedSaves) async -> [SaveEvent] {
        var (events, iterator) = ([SaveEvent](), saves.makeAsyncIterator())
        while events.count < count, let event = await iterator.next() { events.append(event) }
        return events
    }

    private func save(_ event: SaveEvent?) throws -> CommittedSave {
        guard case .save(let save)? = event else {
            return try #require(nil as CommittedSave?, "\(String(describing: event)) is no save.")
        }
        return save
    }

    @Test(arguments: Place.all)
    func aSaveTellsWhatItChanged(place: Place) async throws {
        try await place.withContainer { container in
            let contacts = try container.dataSource(ContactDataSource.self)
            try await contacts.add(contactList(0..<1))
            let id = try #require(try contacts.fetch(ContactEntity.self).first?.objectID)
            let saves = container.saves
            try await contacts.add(contactList(1..<3))
            try await contacts.add(contactList(0..<2) { "changed \($0)" })
            // A save that changes nothing is none.
            try await contacts.add(contactList(0..<2) { "changed \($0)" })
            try await contacts.delete(contactList(0..<1))
            var events = await take(3, of: saves)
            // A server does not tell which saves were before the sequence.
            if place == .server, try save(events.first).changes(of: ContactEntity.self).first?.new?.uid == "uid-0" {
                events = Array(events.dropFirst()) + (await take(1, of: saves))
            }
            let inserted = try save(events[0]).changes(of: ContactEntity.self)
            #expect(inserted.map(\.kind) == [.insert, .insert])
            #expect(inserted.compactMap { $0.new?.name } == ["name 1", "name 2"])
            #expect(inserted.allSatisfy { $0.old == nil && $0.changedProperties.isEmpty })
            let updated = try save(events[1]).changes(of: ContactEntity.self)
            #expect(updated.map(\.kind) == [.update, .update])
            #expect(Set(updated.compactMap { $0.old?.name }) == ["name 0", "name 1"])
            #expect(Set(updated.compactMap { $0.new?.name }) == ["changed 0", "changed 1"])
            #expect(updated.allSatisfy { $0.changedProperties == ["name"] })
            #expect(updated.contains { $0.id == id })
            let deleted = try save(events[2]).changes(of: ManagedObject.self)
            #expect(deleted.map(\.kind) == [.delete] && deleted.map(\.id) == [id])
            #expect(deleted[0].entityName == "ContactEntity" && deleted[0].new == nil)
            #expect(deleted[0].old?.map { ($0 as? ContactEntity)?.name } == "changed 0")
            for event in events {
                #expect(try save(event).member == nil)
                #expect(try save(event).entityNames == ["ContactEntity"])
                #expect(try save(event).changes(of: GroupEntity.self).isEmpty)
            }
            #expect("\(try save(events[1]))" == "0 inserted, 2 updated, 0 deleted")
            let strange = expectError(.unknownEntity) { try save(events[0]).changes(of: MailTag.self) }
            #expect(strange?.entityName == "Tag")
        }
    }

    @Test(arguments: Place.all)
    func linksAreNamed(place: Place) async throws {
        try await place.withContainer(.mail) { container in
            let mail = try container.dataSource(MailDataSource.self)
            try await mail.perform { context in
                _ = try context.insert(MailNote.self)
                try context.insert(MailTag.self).name = "blue"
                try context.insert(MailThread.self).title = "a thread"
            }
            let saves = container.saves
            try await mail.perform { context in
                let note = try #require(try context.fetch(MailNote.self).first)
                note.tags = try context.fetch(MailTag.self)
            }
            try await mail.perform { context in
                try context.fetch(MailNote.self).first?.thread = try context.fetch(MailThread.self).first
            }
            var events = await take(2, of: saves)
            if place == .server, try !save(events[0]).changes(of: MailNote.self).filter({ $0.kind == .insert }).isEmpty
            {
                events = Array(events.dropFirst()) + (await take(1, of: saves))
            }
            let linked = try save(events[0])
            #expect(linked.changedRelationships.count == 1)
            #expect(["Message.tags", "Tag.messages"].contains(linked.changedRelationships.first))
            #expect(try linked.changes(of: ManagedObject.self).isEmpty)
            // An object of a subclass is among the changes of its superclass.
            let moved = try save(events[1]).changes(of: MailMessage.self)
            #expect(moved.map(\.changedProperties) == [["thread"]] && moved.first?.entityName == "Note")
            #expect(try save(events[1]).changedRelationships.isEmpty)
        }
    }

    /// The rows that a loop knows are those of the store, after saves of several data sources and tasks at once.
    @Test(arguments: Place.all)
    func replayedSavesGiveTheStoredRows(place: Place) async throws {
        try await place.withContainer { container in
            let contacts = try container.dataSource(ContactDataSource.self)
            let groups = try container.dataSource(GroupDataSource.self)
            let replay = SavesReplay(container.saves)
            try await withThrowingTaskGroup(of: Void.self) { tasks in
                for task in 0..<4 {
                    tasks.addTask {
                        var random = SeededRandom(seed: Self.seed &+ UInt64(task))
                        for step in 0..<25 {
                            let first = Int.random(in: 0..<12, using: &random)
                            let values = contactList(first..<first + 3) { "\(task) \(step) \($0)" }
                            switch Int.random(in: 0..<4, using: &random) {
                            case 0: try await contacts.delete(values)
                            case 1: try await contacts.add(values, waitFor: .main)
                            case 2: try await groups.add(GroupData(gid: "\(first)", name: "\(task) \(step)"))
                            default: try await contacts.add(values)
                            }
                        }
                    }
                }
                try await tasks.waitForAll()
            }
            try await container.flush()
            let names =
                try contacts.fetch(ContactEntity.self).map { ("\($0.objectID)", $0.name) }
                + groups.fetch(GroupEntity.self).map { ("\($0.objectID)", $0.name) }
            try await container.close()
            let (rows, problems) = await replay.result()
            #expect(problems == [], "seed \(Self.seed)")
            #expect(rows == Dictionary(uniqueKeysWithValues: names), "seed \(Self.seed)")
        }
    }

    /// Two containers that save at once get the same saves in one order, and each is told which are the other's.
    @Test(arguments: Place.shared)
    func allMembersGetOneOrder(place: Place) async throws {
        let shared = try SharedPlace(place == .server ? .postgreSQL : .sqlite)
        let containers = [try shared.open(), try shared.open()]
        let replays = containers.map { SavesReplay($0.saves) }
        let contacts = try containers[0].dataSource(ContactDataSource.self)
        let groups = try containers[1].dataSource(GroupDataSource.self)
        async let saved: Void = {
            for step in 0..<30 { try await contacts.add(contactList(step % 5..<step % 5 + 2) { "\(step) \($0)" }) }
        }()
        for step in 0..<30 { try await groups.add(GroupData(gid: "\(step % 7)", name: "\(step)")) }
        try await saved
        // Each reads the saves of the other before it closes.
        try await containers[0].close()
        try await containers[1].close()
        let results = (await replays[0].order, await replays[1].order)
        // The first container was closed while the second had nothing left to save.
        #expect(results.0.map(\.change) == results.1.map(\.change))
        #expect(results.0.count == 60)
        for (index, order) in [results.0, results.1].enumerated() {
            let isOwn = { (change: String) in change.hasPrefix(index == 0 ? "ContactEntity" : "GroupEntity") }
            #expect(order.allSatisfy { $0.isOwn == isOwn($0.change) })
        }
    }

    @Test(arguments: Place.all)
    func aSaveThatIsRefusedIsNotThere(place: Place) async throws {
        try await place.withContainer { container in
            let contacts = try container.dataSource(ContactDataSource.self)
            let saves = container.saves
            await expectError(.validationFailed) {
                try await contacts.perform { _ = try $0.insert(ContactEntity.self) }
            }
            await expectThrows(Poison.self) { try await contacts.add(contactList(0..<1) { _ in "poison" }) }
            try await contacts.add(contactList(5..<6))
            let event = await take(1, of: saves).first
            #expect(try save(event).changes(of: ContactEntity.self).map { $0.new?.uid } == ["uid-5"])
        }
    }

    /// What a store takes back is never reported, although main has shown it.
    @Test func onlyCommittedSavesAreReported() async throws {
        let (container, store) = PersistentContainer.faulty()
        let rooms = try container.dataSource(RoomDataSource.self)
        let saves = container.saves
        store.fail(with: noRoom)
        try await rooms.add(ItemData(key: "shown", number: 1), waitFor: .main)
        #expect(try rooms.count(Room.self) == 1)
        #expect(await container.discardPending() == 1)
        store.fail(with: nil)
        try await rooms.add(ItemData(key: "kept", number: 2))
        try await container.close()
        let events = await take(9, of: saves)
        #expect(events.count == 1)
        #expect(try save(events.first).changes(of: Room.self).map { $0.new?.key } == ["kept"])
    }

    // MARK: Changes that are not known

    @Test(arguments: Place.all)
    func aSlowLoopIsToldThatItMissedSaves(place: Place) async throws {
        try await place.withContainer { container in
            let contacts = try container.dataSource(ContactDataSource.self)
            let groups = try container.dataSource(GroupDataSource.self)
            let saves = container.saves
            try await groups.add(GroupData(gid: "1", name: "one"))
            for step in 0..<(SaveMailbox.limit + 40) {
                try await contacts.add(contactList(0..<1) { _ in "\(step)" }, waitFor: .main)
            }
            try await container.flush()
            try await container.close()
            let events = await take(.max, of: saves)
            #expect(events.count <= SaveMailbox.limit)
            guard case .unknown(let missed)? = events.first else {
                Issue.record("\(events.first as Any)")
                return
            }
            #expect(missed.reason == .missed)
            #expect(missed.entityNames?.isSubset(of: ["ContactEntity", "GroupEntity"]) ?? true)
            // What comes afterwards is known again, and leads to the last state.
            let last = try save(events.last).changes(of: ContactEntity.self)
            #expect(last.map { $0.new?.name } == ["\(SaveMailbox.limit + 39)"])
        }
    }

    /// The rows that wait have at most 16 MB. Each save has a row of about 1 MB, and the row before it.
    @Test(arguments: Place.all)
    func aSlowLoopMissesLargeSaves(place: Place) async throws {
        try await place.withContainer { container in
            let contacts = try container.dataSource(ContactDataSource.self)
            let saves = container.saves
            let long = String(repeating: "x", count: 1_000_000)
            for step in 0..<20 { try await contacts.add(contactList(0..<1) { _ in "\(long) \(step)" }) }
            try await container.close()
            let events = await take(.max, of: saves)
            #expect(events.count <= SaveMailbox.byteLimit / 2_000_000 + 1)
            #expect(events.first?.unknown?.reason == .missed)
            let last = try save(events.last).changes(of: ContactEntity.self)
            #expect(last.first?.new?.name == "\(long) 19")
        }
    }

    @Test(arguments: Place.all)
    func aLargeChangeIsNamedByItsEntities(place: Place) async throws {
        try await place.withContainer { container in
            let contacts = try container.dataSource(ContactDataSource.self)
            let saves = container.saves
            // A folder has a file for each object.
            let count = place == .custom ? 1_000 : 20_000
            try await contacts.add(contactList(0..<count))
            _ = try await contacts.update(ContactEntity.self, set: [.set(\.note, "all")])
            try await contacts.add(contactList(0..<1) { _ in "last" })
            let events = await take(3, of: saves)
            let isShared = Place.shared.contains(place)
            if isShared {
                let unknown = try #require(events[0].unknown)
                #expect(unknown == UnknownChanges(reason: .tooLarge, entityNames: ["ContactEntity"]))
                #expect(unknown.mayInclude(ContactEntity.self) && unknown.mayInclude(BaseEntity.self))
                #expect(unknown.mayInclude(ManagedObject.self) && !unknown.mayInclude(GroupEntity.self))
            } else {
                #expect(try save(events[0]).changes(of: ContactEntity.self).count == count)
            }
            // A store with all rows in memory has read them.
            if [.memory, .custom].contains(place) {
                #expect(
                    try save(events[1]).changes(of: ContactEntity.self).allSatisfy { $0.changedProperties == ["note"] })
            } else {
                #expect(
                    events[1].unknown
                        == UnknownChanges(reason: isShared ? .tooLarge : .bulkChange, entityNames: ["ContactEntity"]))
            }
            #expect(try save(events[2]).changes(of: ContactEntity.self).map { $0.new?.name } == ["last"])
        }
    }

    @Test(arguments: [Place.sqlite, .sharedFile])
    func writesOfOtherProgramsAreNoticed(place: Place) async throws {
        let directory = try TemporaryDirectory()
        let container =
            place == .sharedFile
            ? try PersistentContainer.shared(directory.store)
            : try await PersistentContainer(model: .contacts, store: .sqlite(directory.store))
        let contacts = try container.dataSource(ContactDataSource.self)
        try await contacts.add(contactList(0..<1))
        let saves = container.saves
        try RawConnection(directory.store).execute("UPDATE \"ContactEntity\" SET \"name\" = 'outside'")
        // Nobody reads or saves: the container looks by itself while a loop waits.
        let event = await take(1, of: saves).first
        #expect(event?.unknown == UnknownChanges(reason: .outsideWrites, entityNames: nil))
        #expect(event?.unknown?.mayInclude(GroupEntity.self) == true)
        try await container.close()
    }

    @Test(arguments: Place.all)
    func aResetIsReported(place: Place) async throws {
        try await place.withContainer { container in
            let contacts = try container.dataSource(ContactDataSource.self)
            try await contacts.add(contactList(0..<1))
            let saves = container.saves
            try await contacts.add(contactList(1..<2))
            try await container.reset()
            try await contacts.add(contactList(2..<3))
            let events = await take(.max, of: saves, through: "uid-2")
            #expect(events.contains { $0.unknown == UnknownChanges(reason: .reset, entityNames: nil) })
            #expect(try save(events.last).changes(of: ContactEntity.self).map { $0.new?.uid } == ["uid-2"])
        }
    }

    private func take(_ count: Int, of saves: CommittedSaves, through uid: String) async -> [SaveEvent] {
        var (events, iterator) = ([SaveEvent](), saves.makeAsyncIterator())
        while events.count < count, let event = await iterator.next() {
            events.append(event)
            guard case .save(let save) = event else { continue }
            if (try? save.changes(of: ContactEntity.self).contains { $0.new?.uid == uid }) ?? false { break }
        }
        return events
    }

    // MARK: Ends

    @Test(arguments: Place.all)
    func theLoopEndsAfterTheLastSave(place: Place) async throws {
        try await place.withContainer { container in
            let contacts = try container.dataSource(ContactDataSource.self)
            let replay = SavesReplay(container.saves)
            try await contacts.add(contactList(0..<3), waitFor: .main)
            try await container.close()
            #expect(await replay.order.last?.change.contains("uid-2") ?? false)
            #expect(await take(1, of: container.saves).isEmpty)
        }
    }

    @Test(arguments: Place.all)
    func aLoopKeepsNoStoreOpen(place: Place) async throws {
        let directory = try TemporaryDirectory()
        var container: PersistentContainer? = try await PersistentContainer(
            model: .contacts, store: .sqlite(directory.store), configuration: .init(synchronous: .normal))
        let replay = SavesReplay(try #require(container).saves)
        try await container?.dataSource(ContactDataSource.self).add(contactList(0..<1))
        container = nil
        // The loop ends by itself, and the file is free.
        #expect(await replay.order.count == 1)
        let next = try await PersistentContainer(model: .contacts, store: .sqlite(directory.store))
        #expect(try next.dataSource(ContactDataSource.self).count(ContactEntity.self) == 1)
        try await next.close()
    }

    @Test func aCancelledLoopEnds() async throws {
        try await Place.memory.withContainer { container in
            let saves = container.saves
            #expect(container.stack.root.saves.isListening)
            let loop = Task { for await _ in saves {} }
            // Two loops over one sequence share its saves.
            let second = Task { for await _ in saves {} }
            loop.cancel()
            await loop.value
            await second.value
        }
        try await Place.memory.withContainer { container in
            var saves: CommittedSaves? = container.saves
            #expect(container.stack.root.saves.isListening && saves != nil)
            saves = nil
            #expect(!container.stack.root.saves.isListening)
        }
    }
}

extension SaveEvent {
    fileprivate var unknown: UnknownChanges? { if case .unknown(let changes) = self { changes } else { nil } }
}
