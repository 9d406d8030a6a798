import CoreDataSource
import Testing

@MainActor
struct MainFollowsTests {
    /// Main forgot everything at the start of a fetch, stopped listening, and never heard of what it fetched then.
    @Test func whatIsFetchedAfterEverythingWasForgottenIsFollowed() async throws {
        try await withContainer { container, _ in
            let contacts = try container.dataSource(ContactDataSource.self)
            try await contacts.add(contactList(0..<1_200))
            #expect(try contacts.fetch(ContactEntity.self).count == 1_200)
            let shown = try contacts.first(ContactEntity.self, where: \.uid == "uid-7")
            try await contacts.add(ContactData(uid: "uid-7", name: "new"), waitFor: .main)
            #expect(shown?.name == "new")
        }
    }
}
