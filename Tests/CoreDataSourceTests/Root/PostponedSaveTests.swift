import CoreDataSource
import ErrorExpectations
import RowStore
import Testing

/// Saves that wait for rows which another program keeps locked, while others are committed.
@MainActor
struct PostponedSaveTests {
    private struct Place {
        let container: PersistentContainer
        let store = FaultyStore(ModelLayout(.contacts))
        let timers = ManualTimers()
        let contacts: ContactDataSource
        let groups: GroupDataSource
        let entity: Int

        /// With one contact, and all later ones locked.
        @MainActor init(patience: Duration = .seconds(600)) async throws {
            var configuration = PersistentContainer.Configuration()
            configuration.lockPatience = patience
            container = PersistentContainer(
                ModelLayout(.contacts), store, startup: StoreStartup(reason: .firstLaunch),
                configuration: configuration, scheduling: timers.scheduling)
            contacts = try container.dataSource(ContactDataSource.self)
            groups = try container.dataSource(GroupDataSource.self)
            try await contacts.add(contactList(0..<1))
            entity = store.committedChanges[0][0].entities[0].entity
            store.lock(entity)
        }

        @MainActor func addGroup(_ number: Int) async throws {
            try await groups.add(GroupData(gid: "\(number)", name: ""))
        }

        @MainActor func addContact(_ number: Int) async throws {
            try await contacts.add(contactList(number..<number + 1), waitFor: .main)
        }

        /// Waits until a save is postponed, and lets it be tried again.
        func resume() async {
            while timers.delays.isEmpty { await Task.yield() }
            timers.fire()
        }
    }

    @Test func otherSavesAreCommittedWhileASaveWaits() async throws {
        let place = try await Place()
        let waiting = Task { [contacts = place.contacts] in try await contacts.add(contactList(1..<2)) }
        while place.container.pendingSaveCount == 0 { await Task.yield() }
        for number in 0..<5 { try await place.addGroup(number) }
        #expect(place.container.pendingSaveCount == 1)
        #expect(try place.contacts.count(ContactEntity.self) == 2)
        place.store.lock(place.entity, false)
        await place.resume()
        #expect(try await waiting.value.inserted == 1)
        #expect(place.container.pendingSaveCount == 0)
        #expect(place.store.committedGroups.flatMap { $0 } == [1, 3, 4, 5, 6, 7, 2])
    }

    /// A postponed save comes in `container.saves` when it is committed, after the saves that were committed before it.
    @Test func theSequenceOfSavesHasTheOrderOfTheCommits() async throws {
        let place = try await Place()
        let saves = place.container.saves
        let waiting = Task { [contacts = place.contacts] in try await contacts.add(contactList(1..<2)) }
        while place.container.pendingSaveCount == 0 { await Task.yield() }
        try await place.addGroup(0)
        place.store.lock(place.entity, false)
        await place.resume()
        _ = try await waiting.value
        try await place.container.close()
        var entities: [[String]] = []
        for await event in saves {
            if case .save(let save) = event { entities.append(save.entityNames) }
        }
        #expect(entities == [["GroupEntity"], ["ContactEntity"]])
    }

    @Test func aCallWaitsOnlyForAWhile() async throws {
        let place = try await Place(patience: .zero)
        await expectError(.storeBusy) { try await place.contacts.add(contactList(1..<2)) }
        #expect(try place.contacts.count(ContactEntity.self) == 1)
        #expect(place.container.pendingSaveCount == 0)
    }

    @Test func aSaveThatNobodyAwaitsStaysAndIsReported() async throws {
        let place = try await Place(patience: .zero)
        var failures = place.container.failures.makeAsyncIterator()
        try await place.addContact(1)
        #expect(await failures.next()?.kind == .saveDelayed)
        await expectError(.storeBusy) { try await place.container.flush() }
        #expect(place.container.pendingSaveCount == 1)
        place.store.lock(place.entity, false)
        await place.resume()
        while place.container.pendingSaveCount > 0 { await Task.yield() }
        #expect(try place.contacts.count(ContactEntity.self) == 2)
    }

    /// A large save has a transaction of its own, but no transaction while an earlier save of its data source is locked.
    @Test func aLargeSaveBehindALockedSaveWaitsOnlyForAWhile() async throws {
        let place = try await Place(patience: .zero)
        let root = place.container.stack.root
        let contact = place.container.stack.layout.entities[place.entity]
        let source = SaveSource("locked", origin: 101)
        _ = try root.accept(.inserting(100, contact), from: source, isAwaited: false)
        let large = try root.accept(.inserting(1000..<21_000, contact), from: source)
        let outcome = Guarded<Result<Void, DataSourceError>?>(nil)
        root.whenCommitted(large) { result in outcome.withLock { $0 = result } }
        root.commitSoon()
        root.waitForQueue()
        place.timers.fire()
        root.waitForQueue()
        expectError(.storeBusy) { try outcome.withLock { $0 }?.get() }
        await expectError(.storeBusy) { try await place.container.flush() }
        #expect(place.container.pendingSaveCount == 1)
    }

    @Test func pausesBetweenTriesGrowToTwoSeconds() async throws {
        let place = try await Place()
        try await place.addContact(1)
        var delays: [Duration] = []
        for _ in 0..<8 {
            while place.timers.delays.isEmpty { await Task.yield() }
            delays += place.timers.delays
            place.timers.fire()
        }
        #expect(delays.prefix(3) == [.milliseconds(100), .milliseconds(200), .milliseconds(400)])
        #expect(delays.last == .seconds(2))
    }

    /// They come in the order in which they were made.
    @Test func laterSavesOfTheSameOriginWait() async throws {
        let place = try await Place()
        for number in 0..<3 { try await place.addContact(number + 1) }
        try await place.addGroup(1)
        #expect(place.container.pendingSaveCount == 3)
        place.store.lock(place.entity, false)
        try await place.container.flush()
        #expect(place.store.committedGroups.flatMap { $0 } == [1, 5, 2, 3, 4])
    }

    @Test func aResetAndADiscardDoNotWaitForThem() async throws {
        let place = try await Place()
        try await place.addContact(1)
        try await place.addGroup(1)
        #expect(await place.container.discardPending() == 1)
        #expect(try place.contacts.count(ContactEntity.self) == 1)
        try await place.addContact(2)
        try await place.addGroup(2)
        try await place.container.reset()
        #expect(try place.contacts.count(ContactEntity.self) == 0)
        #expect(place.container.pendingSaveCount == 0)
    }

    @Test func theEndOfAContainerWritesThem() async throws {
        var place: Place? = try await Place()
        let store = try #require(place?.store)
        try await place?.addContact(1)
        while place?.timers.delays.isEmpty == true { await Task.yield() }
        let entity = try #require(place?.entity)
        place = nil
        store.lock(entity, false)
        while store.committedChanges.joined().count < 2 { await Task.yield() }
    }

    /// In the store, a link must not lead to an object that may never get there.
    @Test func savesThatLinkToAPostponedInsertArePostponed() async throws {
        let layout = ModelLayout(.graph)
        let (store, timers) = (FaultyStore(layout), ManualTimers())
        var configuration = PersistentContainer.Configuration()
        configuration.lockPatience = .seconds(600)
        let container = PersistentContainer(
            layout, store, startup: StoreStartup(reason: .firstLaunch), configuration: configuration,
            scheduling: timers.scheduling)
        let topics = try container.dataSource(TopicDataSource.self)
        let letters = try container.dataSource(LetterDataSource.self)
        try await topics.add("first")
        let entity = try #require(store.committedChanges.first?.first?.entities.first?.entity)
        try await letters.add("without a topic")
        store.lock(entity)
        try await topics.add("t", waitFor: .main)
        let waiting = Task { try await letters.add("l") }
        while container.pendingSaveCount < 2 { await Task.yield() }
        while timers.delays.isEmpty { await Task.yield() }
        timers.fire()
        while timers.delays.isEmpty { await Task.yield() }
        #expect(container.pendingSaveCount == 2)
        store.lock(entity, false)
        timers.fire()
        #expect(try await waiting.value.inserted == 1)
        #expect(store.committedGroups.flatMap { $0 } == [1, 2, 3, 4])
    }
}
