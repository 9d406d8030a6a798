import CoreDataSource
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
