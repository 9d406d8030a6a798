import CoreDataSource
import Foundation
import Testing

/// Delegates that do what they like in their calls.
@MainActor
struct ReentrancyTests {
    private func withContacts(_ body: @MainActor (ContactDataSource) async throws -> Void) async throws {
        try await withContainer(.inMemory) { container, _ in
            let contacts = try container.dataSource(ContactDataSource.self)
            try await contacts.add(contactList(0..<3))
            try await body(contacts)
        }
    }

    private func register(_ delegate: RecordingDelegate, _ dataKey: String, _ contacts: ContactDataSource) throws {
        try contacts.register(
            delegate, dataKey: dataKey, ObjectRequest(ContactEntity.self, order: [SortDescriptor(\.name)]))
    }

    /// A fetch in a call merges what was saved meanwhile; that is reported after this report.
    @Test func aSaveInACallIsReportedAfterIt() async throws {
        try await withContacts { contacts in
            let delegate = RecordingDelegate()
            try register(delegate, "list", contacts)
            delegate.follow(contacts, "list")
            var found = 0
            delegate.onObject = {
                delegate.onObject = {}
                try? contacts.performAndWait { try $0.insert(ContactEntity.self).uid = "a" }
                found = (try? contacts.fetch(ContactEntity.self).count) ?? 0
            }
            try await contacts.add(ContactData(uid: "b", name: "zz"), waitFor: .main)
            #expect(found == 5)
            #expect(delegate.calls == ["will", "insert - [0, 3]", "did", "will", "insert - [0, 0]", "did"])
            #expect(delegate.problems == [])
        }
    }

    @Test func aDelegateMayUnregisterInItsCall() async throws {
        try await withContacts { contacts in
            let delegate = RecordingDelegate()
            try register(delegate, "list", contacts)
            delegate.onObject = { contacts.unregister(dataKey: "list") }
            try await contacts.add(contactList(3..<6), waitFor: .main)
            #expect(delegate.calls == ["will", "insert - [0, 3]"])
            #expect(contacts.dataKeys == [])
        }
    }

    /// Nothing more of the group is reported, wherever it stands.
    @Test func aDelegateMayUnregisterBeforeTheObjectsOfAGroup() async throws {
        try await withContacts { contacts in
            let (first, second, third) = (RecordingDelegate(), RecordingDelegate(), RecordingDelegate())
            let request = ObjectRequest(ContactEntity.self)
            try contacts.register(first, dataKey: "first", request, sectionBy: \.name)
            try contacts.register(second, dataKey: "second", request, sectionBy: \.name)
            try contacts.register(third, dataKey: "third", request, sectionBy: \.name)
            first.onWill = { contacts.unregister(dataKey: "first") }
            second.onSection = { contacts.unregister(dataKey: "second") }
            third.onSection = { if third.calls.count == 3 { contacts.unregister(dataKey: "third") } }
            try await contacts.perform(waitFor: .main) { context in
                for name in ["name 0", "name 1"] { try context.delete(ContactEntity.self, where: \.name == name) }
                for name in ["x", "y"] {
                    let contact = try context.insert(ContactEntity.self)
                    (contact.uid, contact.name) = (name, name)
                }
            }
            #expect(first.calls == ["will"])
            #expect(second.calls == ["will", "delete section 1 name 1"])
            #expect(third.calls == ["will", "delete section 1 name 1", "delete section 0 name 0"])
        }
    }

    @Test func aDelegateMayRegisterInItsCall() async throws {
        try await withContacts { contacts in
            let delegate = RecordingDelegate()
            let other = RecordingDelegate()
            try register(delegate, "list", contacts)
            delegate.onObject = {
                delegate.onObject = {}
                try? register(other, "other", contacts)
                try? register(delegate, "list", contacts)
                delegate.follow(contacts, "list")
                other.follow(contacts, "other")
            }
            try await contacts.add(contactList(3..<5), waitFor: .main)
            #expect(delegate.calls == ["will", "insert - [0, 3]"])
            #expect(contacts.numberOfItems(inSection: 0, dataKey: "list") == 5)
            try await contacts.add(contactList(5..<6), waitFor: .main)
            #expect(other.calls == ["will", "insert - [0, 5]", "did"])
            #expect(delegate.takeCalls().suffix(3) == ["will", "insert - [0, 5]", "did"])
            #expect(delegate.problems + other.problems == [])
        }
    }

    @Test func aDelegateMayBeReleasedInItsCall() async throws {
        try await withContacts { contacts in
            let survivor = RecordingDelegate()
            var delegate: RecordingDelegate? = RecordingDelegate()
            weak let probe = delegate
            try register(try #require(delegate), "list", contacts)
            try register(survivor, "other", contacts)
            delegate?.onObject = { delegate = nil }
            try await contacts.add(contactList(3..<4), waitFor: .main)
            #expect(probe == nil)
            #expect(contacts.dataKeys == ["other"])
            #expect(survivor.calls == ["will", "insert - [0, 3]", "did"])
        }
    }

    /// The first delegate ends the second one's list in the middle of the same report.
    @Test(arguments: [Int.max, 0])
    func aDelegateMayEndAnothersList(changeLimit: Int) async throws {
        try await withContacts { contacts in
            let first = RecordingDelegate()
            let second = RecordingDelegate()
            try register(first, "a", contacts)
            second.changeLimit = changeLimit
            try register(second, "b", contacts)
            first.onObject = { contacts.unregister(dataKey: "b") }
            try await contacts.add(contactList(3..<4), waitFor: .main)
            #expect(second.calls == [])
            #expect(first.calls.last == "did")
        }
    }

    @Test func aDelegateMayPauseInItsCall() async throws {
        try await withContacts { contacts in
            let delegate = RecordingDelegate()
            try register(delegate, "list", contacts)
            delegate.follow(contacts, "list")
            delegate.onDidChange = { contacts.pausedDataKeys = ["list"] }
            try await contacts.add(contactList(3..<4), waitFor: .main)
            try await contacts.add(contactList(4..<5), waitFor: .main)
            #expect(delegate.takeCalls() == ["will", "insert - [0, 3]", "did"])
            contacts.pausedDataKeys = []
            #expect(delegate.takeCalls() == ["will", "insert - [0, 4]", "did"])
            #expect(delegate.problems == [])
        }
    }

    @Test func aDelegateMayPauseAListThatIsAboutToCatchUp() async throws {
        try await withContacts { contacts in
            let (first, second) = (RecordingDelegate(), RecordingDelegate())
            try register(first, "a", contacts)
            try register(second, "b", contacts)
            contacts.pausedDataKeys = ["a", "b"]
            try await contacts.add(contactList(3..<4), waitFor: .main)
            first.onDidChange = { contacts.pausedDataKeys.insert("b") }
            contacts.pausedDataKeys = []
            #expect(first.takeCalls() == ["will", "insert - [0, 3]", "did"])
            #expect(second.takeCalls() == [])
            #expect(contacts.pausedDataKeys == ["b"])
            first.onDidChange = {}
            contacts.pausedDataKeys = []
            #expect(second.takeCalls() == ["will", "insert - [0, 3]", "did"])
        }
    }
}
