import CoreDataSource
import CoreDataSourceActiveRecord
import Dispatch
import ErrorExpectations
import RowStore
import Testing

/// One save over several data sources.
@MainActor @Suite struct PerformInTests {
    @Test func bothDataSourcesAreSavedOrNeither() async throws {
        try await withChat { container, senders, rooms in
            try await container.perform(in: senders, rooms) { senders, rooms in
                try senders.insert(Sender.self).key = "s"
                try rooms.insert(Room.self).key = "r"
            }
            #expect(try senders.count(Sender.self) == 1 && rooms.count(Room.self) == 1)
            await expectThrows(Poison.self) {
                try await container.perform(in: rooms, senders) { rooms, senders in
                    try senders.delete(Sender.self, where: nil)
                    try rooms.delete(Room.self, where: nil)
                    throw Poison()
                }
            }
            #expect(try senders.count(Sender.self) == 1 && rooms.count(Room.self) == 1)
        }
    }

    @Test func theContextsComeInTheOrderOfTheDataSources() async throws {
        try await withChat { container, senders, rooms in
            let messages = try container.dataSource(MessageDataSource.self)
            let names = try await container.perform(in: rooms, messages, senders) { rooms, messages, senders in
                ["\(rooms)", "\(messages)", "\(senders)"]
            }
            #expect(
                names.map { $0.split(separator: " ")[2] } == [
                    "RoomDataSource", "MessageDataSource", "SenderDataSource",
                ])
            let twice = try await container.perform(in: rooms, rooms) { $0 === $1 }
            #expect(twice)
        }
    }

    @Test func aCallWithoutADataSourceTraps() async throws {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let container = try await PersistentContainer(model: .chat, store: .inMemory)
            try await container.perform {}
        }
        #expect(
            String(decoding: try #require(result).standardErrorContent, as: UTF8.self).contains(
                "perform(in:) was called without a data source. Pass at least one data source."))
    }

    @Test func oneDataSourceAloneIsSaved() async throws {
        try await withChat { container, senders, _ in
            let source: EntityDataSource = senders
            let key = try await container.perform(in: source, waitFor: .main) { senders in
                let sender = try senders.insert(Sender.self)
                sender.key = "s"
                return sender.key
            }
            #expect(key == "s")
            #expect(try senders.count(Sender.self) == 1)
        }
    }

    @Test func newObjectsOfBothDataSourcesAreLinked() async throws {
        try await withContainer { container, _ in
            let contacts = try container.dataSource(ContactDataSource.self)
            let groups = try container.dataSource(GroupDataSource.self)
            let seen = try await container.perform(in: contacts, groups) { contacts, groups in
                let group = try groups.insert(GroupEntity.self)
                group.gid = "g"
                // A fetch shows the edits of its own context only.
                let seen = [try contacts.count(GroupEntity.self), try groups.count(GroupEntity.self)]
                let contact = try contacts.insert(ContactEntity.self)
                contact.uid = "c"
                contact.group = group
                return seen
            }
            #expect(seen == [0, 1])
            #expect(try contacts.fetch(ContactEntity.self).map { $0.group?.gid } == ["g"])
        }
    }

    @Test func eachContextEditsItsOwnEntitiesOnly() async throws {
        try await withChat { container, senders, rooms in
            await expectError(.entityNotOwned) {
                try await container.perform(in: senders, rooms) { senders, _ in try senders.insert(Room.self).key = "r"
                }
            }
        }
    }

    /// Rooms and senders share the uniqueness of a parent entity.
    @Test func valuesThatHaveToBeUniqueOverBothAreChecked() async throws {
        try await withChat { container, senders, rooms in
            await expectError(.uniquenessViolated) {
                try await container.perform(in: senders, rooms) { senders, rooms in
                    try senders.insert(Sender.self).key = "same"
                    try rooms.insert(Room.self).key = "same"
                }
            }
            try await senders.add(ItemData(key: "moves", number: 1))
            try await container.perform(in: senders, rooms) { senders, rooms in
                try senders.delete(Sender.self, where: \.key == "moves")
                try rooms.insert(Room.self).key = "moves"
            }
            #expect(try senders.count(Sender.self) == 0 && rooms.count(Room.self) == 1)
        }
    }

    /// The save over both was made while one of groups was pending, which had another origin until then.
    @Test func aSaveThatIsRolledBackTakesLaterOnesOverBothWithIt() async throws {
        let layout = ModelLayout(.contacts)
        let store = FaultyStore(layout)
        let container = PersistentContainer(layout, store, startup: StoreStartup(reason: .firstLaunch))
        let contacts = try container.dataSource(ContactDataSource.self)
        let groups = try container.dataSource(GroupDataSource.self)
        let (release, arrived) = (store.holdCommits(), store.commitArrives())
        store.failOnce(with: noRoom)
        // A job waits behind the first save, so that the root commits it on a queue of its own.
        let (outcomes, outcome) = AsyncStream<Result<SaveReport, any Error>>.makeStream()
        let isEnqueued = DispatchSemaphore(value: 0)
        groups.writeAsync({ _ in isEnqueued.wait() }) { _ in }
        groups.add([GroupData(gid: "1", name: "")]) { outcome.yield($0) }
        groups.writeAsync({ _ in }) { _ in }
        isEnqueued.signal()
        for await _ in arrived {}
        try await container.perform(in: contacts, groups, waitFor: .main) { contacts, groups in
            try contacts.insert(ContactEntity.self).uid = "1"
            try groups.first(GroupEntity.self, where: \.gid, equals: "1")?.name = "rests on the first"
        }
        try await contacts.add(ContactData(uid: "2", name: ""), waitFor: .main)
        #expect(try contacts.count(ContactEntity.self) == 2 && groups.count(GroupEntity.self) == 1)
        release()
        var iterator = outcomes.makeAsyncIterator()
        let first = try #require(await iterator.next())
        expectError(.diskFull) { try first.get() }
        #expect(try contacts.count(ContactEntity.self) == 0 && groups.count(GroupEntity.self) == 0)
        #expect(container.pendingSaveCount == 0)
        // Both go on, and rest on nothing that is gone.
        try await container.perform(in: groups, contacts) { groups, contacts in
            try contacts.insert(ContactEntity.self).uid = "1"
            #expect(try groups.count(GroupEntity.self) == 0)
        }
        #expect(try contacts.count(ContactEntity.self) == 1)
        try await container.close()
    }

    @Test func callsOverSeveralDataSourcesNeverDeadlock() async throws {
        try await withChat { container, senders, rooms in
            let messages = try container.dataSource(MessageDataSource.self)
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 0..<60 {
                    group.addTask {
                        let key = "s\(number)"
                        switch number % 4 {
                        case 0:
                            try await container.perform(in: senders, rooms) { senders, _ in
                                try senders.insert(Sender.self).key = key
                            }
                        case 1:
                            try await container.perform(in: rooms, senders) { _, senders in
                                try senders.insert(Sender.self).key = key
                            }
                        case 2:
                            try await container.perform(in: messages, senders) { _, senders in
                                try senders.insert(Sender.self).key = key
                            }
                        default:
                            try await container.perform(in: rooms, messages, senders) { _, _, senders in
                                try senders.insert(Sender.self).key = key
                            }
                        }
                        try await rooms.add(ItemData(key: "r\(number)", number: 1))
                    }
                }
                try await group.waitForAll()
            }
            #expect(try senders.count(Sender.self) == 60 && rooms.count(Room.self) == 60)
        }
    }

    @Test func mainAndListsShowBothAtOnce() async throws {
        try await withChat { container, senders, rooms in
            let list = try senders.list(ObjectRequest(Item.self, order: [.ascending(\.key)]))
            try await container.perform(in: senders, rooms) { senders, rooms in
                try senders.insert(Sender.self).key = "a"
                try rooms.insert(Room.self).key = "b"
            }
            #expect(list.snapshot.map(\.key) == ["a", "b"])
            #expect(list.difference.changes.count == 2)
        }
    }

    @Test func manyObjectsAreChangedInAContext() async throws {
        try await withChat { container, senders, _ in
            try await senders.add((0..<10).map { ItemData(key: "\($0)", number: Int64($0)) })
            let counts = try await senders.perform { context in
                try context.insert(Sender.self).key = "new"
                let updated = try context.update(Sender.self, where: \.number >= 5, set: [.set(\.text, "old")])
                let deleted = try context.delete(Sender.self, where: \.text == "old")
                return [updated, deleted, try context.count(Sender.self)]
            }
            #expect(counts == [5, 5, 6])
            #expect(try senders.count(Sender.self) == 6)
        }
    }
}
