import CoreDataSource
import ErrorExpectations
import Testing

@MainActor
struct MainFollowsTests {
    /// Main forgot everything at the start of a fetch, stopped following, and missed changes of what it fetched then.
    @Test func objectsFetchedAfterEverythingWasForgottenAreFollowed() async throws {
        try await withContainer { container, _ in
            let contacts = try container.dataSource(ContactDataSource.self)
            try await contacts.add(contactList(0..<1_200))
            #expect(try contacts.fetch(ContactEntity.self).count == 1_200)
            let shown = try contacts.main.first(ContactEntity.self, where: \.uid == "uid-7")
            try await contacts.add(ContactData(uid: "uid-7", name: "new"), waitFor: .main)
            #expect(shown?.name == "new")
        }
    }

    /// A large save is prepared off the main actor. Lists end after it.
    @Test func listsOfAClosedContainerShowTheLastSave() async throws {
        let container = try await PersistentContainer(model: .contacts, store: .inMemory)
        let contacts = try container.dataSource(ContactDataSource.self)
        var updates = contacts.updates(ObjectRequest(ContactEntity.self)).makeAsyncIterator()
        #expect(await updates.next()?.snapshot.count == 0)
        let done = Gate()
        Task.detached {
            defer { done.open() }
            try await contacts.add(contactList(0..<2_000))
        }
        done.wait()
        try await container.close()
        var last = 0
        while let update = await updates.next() { last = update.snapshot.count }
        #expect(last == 2_000)
    }

    /// Main has shown the deletion before the store refuses it, to lists, too. It may be too far behind to learn of each save.
    @Test(arguments: [false, true], [32 << 20, 1])
    func anObjectWhoseDeletionIsRolledBackIsThereAgain(isListed: Bool, backlog: Int) async throws {
        let (container, store) = PersistentContainer.faulty(configuration: .init(mainBacklogByteLimit: backlog))
        let senders = try container.dataSource(SenderDataSource.self)
        try await senders.add(ItemData(key: "a", number: 1))
        let held = try #require(try senders.main.first(Sender.self, where: \.key == "a"))
        let recorder = GroupRecorder()
        if isListed { try senders.register(recorder, dataKey: "list", ObjectRequest(Sender.self)) }
        let goOn = store.holdCommits()
        store.failOnce(with: noRoom)
        let deleting = Task { try await senders.delete(ItemData(key: "a", number: 1)) }
        while !held.isDeleted {
            container.mainTier.merge()
            await Task.yield()
        }
        #expect(try senders.main.count(Sender.self) == 0)
        goOn()
        await expectError(.diskFull) { try await deleting.value }
        #expect(try senders.main.fetch(Sender.self).map { $0 === held } == [true])
        #expect(!held.isDeleted && held.number == 1)
        if backlog > 1 { #expect(recorder.types == (isListed ? [[.delete], [.insert]] : [])) }
        try await senders.add(ItemData(key: "a", number: 2), waitFor: .main)
        #expect(held.number == 2)
        try await container.close()
    }

    /// What main holds had to be reloaded while the disk failed, and nothing has been saved since.
    @Test func rowsThatCouldNotBeReloadedAreReadByTheNextFetch() async throws {
        let (container, store) = PersistentContainer.faulty(configuration: .init(mainBacklogByteLimit: 1))
        let senders = try container.dataSource(SenderDataSource.self)
        try await senders.add(ItemData(key: "a", number: 1))
        let held = try #require(try senders.main.first(Sender.self, where: \.key == "a"))
        store.failReads(with: noRoom)
        try await senders.add(ItemData(key: "a", number: 2))
        #expect(held.number == 1)
        store.failReads(with: nil)
        #expect(try senders.main.first(Sender.self, where: \.key == "none") == nil)
        #expect(held.number == 2)
    }
}
