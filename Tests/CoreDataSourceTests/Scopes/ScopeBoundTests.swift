import CoreDataSource
import ErrorExpectations
import Foundation
import RowStore
import Testing

/// What is known of other answers beyond the bound of the kept keys, and after an answer that could not be stored.
@MainActor
struct ScopeBoundTests {
    private nonisolated static func list(_ uids: some Sequence<Int>, _ version: Int) -> [ContactData] {
        uids.map { ContactData(uid: "uid-\($0)", name: "\(version)") }
    }

    /// Looks up an object. During the request, a list of more objects than are kept is stored.
    ///
    /// - Parameter uid: The uid of the object.
    /// - Returns: The number of requests, and the object that was found.
    private func find(
        _ uid: String, beside list: [ContactData], _ scope: SyncScope<ContactEntity>, deleting: SyncDeletion = .guarded,
        in contacts: ContactDataSource
    ) async throws -> (requests: Int, found: ContactValue?) {
        let requests = Shared(0)
        contacts.mainTier.stack.root.requests.keep(atMost: 2)
        let found = try await contacts.value(where: \.uid, equals: uid, as: ContactValue.self) {
            requests.update { $0 += 1 }
            if requests.value == 1 {
                try await contacts.load(scope, maxAge: .zero, deleting: deleting) { _ in .list(list) }
            }
            return ContactData(uid: $0, name: "1")
        }
        return (requests.value, found)
    }

    /// The predicate of the list says that the list cannot have the object.
    @Test func anObjectIsLoadedBesideMoreRowsThanAreKept() async throws {
        try await withScopes { contacts, _ in
            let later = SyncScope("later", ContactEntity.self, where: \.uid > "uid-5")
            let (requests, found) = try await find("uid-0", beside: Self.list(60..<80, 2), later, in: contacts)
            #expect(found?.name == "1" && requests == 1)
            #expect(try contacts.count(ContactEntity.self) == 21)
        }
    }

    @Test func anObjectThatALongListLacksIsRequestedAgain() async throws {
        try await withScopes { contacts, _ in
            let (requests, found) = try await find("uid-0", beside: Self.list(60..<80, 2), .contacts, in: contacts)
            #expect(found?.name == "1" && requests == 2)
        }
    }

    /// It is not known which objects the list has deleted.
    @Test func anObjectIsRequestedAgainIfALongListHasDeletedObjects() async throws {
        try await withScopes { contacts, _ in
            let later = SyncScope("later", ContactEntity.self, where: \.uid > "uid-5")
            try await contacts.add(Self.list(90..<92, 1))
            let list = Self.list(60..<80, 2)
            let (requests, found) = try await find("uid-0", beside: list, later, deleting: .all, in: contacts)
            #expect(found?.name == "1" && requests == 2)
        }
    }

    /// An object that was changed may be one of the list.
    @Test func aChangeOfTheSameEntityIsRequestedAgain() async throws {
        try await withScopes { contacts, _ in
            contacts.mainTier.stack.root.requests.keep(atMost: 2)
            try await contacts.add(Self.list([0], 0))
            let (first, later) = (SyncScope("first", ContactEntity.self, where: \.uid <= "uid-5"), Shared(0))
            let second = SyncScope("second", ContactEntity.self, where: \.uid > "uid-5")
            try await contacts.load(first, maxAge: .zero) { _ in
                later.update { $0 += 1 }
                if later.value == 1 {
                    try await contacts.load(second, maxAge: .zero) { _ in .list(Self.list(60..<80, 2)) }
                }
                return .list(Self.list([0], later.value))
            }
            #expect(later.value == 2)
        }
    }

    @Test func answersForOtherEntitiesAreStoredBesideMoreRowsThanAreKept() async throws {
        let container = try await PersistentContainer(model: .graph, store: .inMemory)
        let (topics, letters) = (
            try container.dataSource(TopicDataSource.self), try container.dataSource(LetterDataSource.self)
        )
        topics.mainTier.stack.root.requests.keep(atMost: 2)
        try await letters.add(["a", "b"])
        let requests = Shared(0)
        let list = SyncScope("letters", Letter.self)
        try await letters.load(list, maxAge: .zero, deleting: .all) { _ in
            requests.update { $0 += 1 }
            try await topics.load(SyncScope<Topic>("topics"), maxAge: .zero, deleting: .all) { _ in
                .list((0..<20).map { "\($0)-\(requests.value)" })
            }
            return .list(["b", "c"])
        }
        #expect(requests.value == 1)
        #expect(try letters.fetch(Letter.self, order: [.ascending(\.key)]).map(\.key) == ["b", "c"])
        try await container.close()
    }

    /// The record of a large save only names the entities.
    @Test(arguments: SharedPlace.Kind.all)
    func aLargeSaveOfAnotherProcessRefusesOnlyAnswersForItsEntities(_ kind: SharedPlace.Kind) async throws {
        try await kind.withTwo(model: .graph) { one, other in
            let (topics, mine) = (
                try one.dataSource(TopicDataSource.self), try one.dataSource(LetterDataSource.self)
            )
            let theirs = try other.dataSource(LetterDataSource.self)
            try await topics.add(["1", "2"])
            try await mine.add(["a", "b"])
            let requests = Shared(0)
            try await topics.load(SyncScope<Topic>("topics"), maxAge: .zero, deleting: .all) { _ in
                requests.update { $0 += 1 }
                try await theirs.add((0...ChangeEncoding.rowLimit).map { "first \($0)" })
                return .list(["2", "3"])
            }
            #expect(requests.value == 1)
            #expect(try topics.fetch(Topic.self, order: [.ascending(\.key)]).map(\.key) == ["2", "3"])
            requests.value = 0
            try await mine.load(SyncScope<Letter>("letters"), maxAge: .zero, deleting: .all) { _ in
                requests.update { $0 += 1 }
                if requests.value == 1 { try await theirs.add((0...ChangeEncoding.rowLimit).map { "second \($0)" }) }
                return .list(["b", "c"])
            }
            #expect(requests.value == 2)
            #expect(try mine.fetch(Letter.self, order: [.ascending(\.key)]).map(\.key) == ["b", "c"])
        }
    }

    // MARK: More saves than are kept

    /// Loads objects that are in no other scope, each with a save.
    private nonisolated static func loadOthers(_ count: Int, _ contacts: ContactDataSource) async throws {
        for number in 0..<count {
            _ = try await contacts.value(where: \.uid, equals: "x-\(number)", as: ContactValue.self) {
                ContactData(uid: $0, name: "other")
            }
        }
    }

    /// From the first requests of a list until its answer, an object and more objects than saves are kept are loaded.
    ///
    /// - Returns: The number of requests for the list.
    private func loadBesideManySaves(
        in contacts: ContactDataSource, _ list: @escaping @Sendable (_ request: Int) -> [ContactData]
    ) async throws -> Int {
        contacts.mainTier.stack.root.requests.keep(saves: 3)
        let requests = Shared(0)
        let scope = SyncScope("list", ContactEntity.self, where: \.uid < "v")
        try await contacts.load(scope, maxAge: .zero) { _ in
            requests.update { $0 += 1 }
            if requests.value == 1 {
                _ = try await contacts.value(where: \.uid, equals: "uid-0", as: ContactValue.self) {
                    ContactData(uid: $0, name: "2")
                }
                try await Self.loadOthers(10, contacts)
            }
            return .list(list(requests.value))
        }
        return requests.value
    }

    @Test func anAnswerReplacesNoneOfManyLaterAnswers() async throws {
        try await withScopes { contacts, _ in
            let count = try await loadBesideManySaves(in: contacts) { Self.list(0..<3, $0 == 1 ? 1 : 3) }
            #expect(count == 2)
            #expect(try contacts.fetch(ContactEntity.self, where: \.uid < "v").map(\.name) == ["3", "3", "3"])
            #expect(try contacts.count(ContactEntity.self) == 13)
        }
    }

    /// The list may be older or newer than the object.
    @Test func aListThatLacksAnObjectOfManyLaterAnswersIsRequestedAgain() async throws {
        try await withScopes { contacts, _ in
            try await contacts.add(Self.list(1..<3, 0))
            let count = try await loadBesideManySaves(in: contacts) { Self.list($0 == 1 ? 1..<3 : 0..<3, 0) }
            #expect(count == 2)
            #expect(try contacts.fetch(ContactEntity.self, where: \.uid < "v").map(\.name) == ["0", "0", "0"])
        }
    }

    /// It is not known any longer that the earlier page is of the same load.
    @Test func pagesBesideManySavesAreRequestedAgain() async throws {
        try await withScopes { contacts, _ in
            try await contacts.add(Self.list(0..<4, 0))
            contacts.mainTier.stack.root.requests.keep(saves: 3)
            let pages = Shared<[Int]>([])
            let scope = SyncScope("list", ContactEntity.self, where: \.uid < "v")
            let load = { @Sendable in
                try await contacts.load(scope, maxAge: .zero) { request in
                    pages.update { $0.append(request.page) }
                    if pages.value == [0, 1] { try await Self.loadOthers(4, contacts) }
                    let first = 2 * request.page
                    return .page(Self.list(first..<first + 2, 1), next: request.page == 0 ? "a" : nil)
                }
            }
            let other = SyncScope("other", ContactEntity.self, where: \.uid > "y")
            try await contacts.load(other, maxAge: .zero) { _ in
                let found = try await load()
                #expect(found.isComplete)
                return .list([])
            }
            #expect(pages.value == [0, 1, 0, 1])
            #expect(try contacts.fetch(ContactEntity.self, where: \.uid < "v").map(\.name) == ["1", "1", "1", "1"])
        }
    }

    // MARK: Answers

    /// A request that begins between two pages.
    @Test func theKeysOfEarlierPagesCount() async throws {
        try await withScopes { contacts, _ in
            let requests = contacts.mainTier.stack.root.requests
            let other = SyncScope("other", ContactEntity.self, where: \.uid > "uid-5")
            let (began, begins) = AsyncStream<Void>.makeStream()
            let (ended, ends) = AsyncStream<Void>.makeStream()
            let task = Shared<Task<Void, any Error>?>(nil)
            try await contacts.load(.contacts, maxAge: .zero) { request in
                if request.page == 0 { return .page(Self.list(0..<4, 1), next: "a") }
                task.value = Task {
                    try await contacts.load(other, maxAge: .zero) { _ in
                        begins.finish()
                        for await _ in ended {}
                        return .list([])
                    }
                }
                for await _ in began {}
                return .page(Self.list(4..<5, 1), next: nil)
            }
            #expect(requests.keyCount == 5)
            ends.finish()
            try await task.value?.value
            #expect(requests.keyCount == 0 && requests.requestCount == 0)
        }
    }

    /// An app may only ever store answers without a load.
    @Test func answersAreForgottenIfNoRequestIsRunning() async throws {
        try await withScopes { contacts, place in
            let requests = contacts.mainTier.stack.root.requests
            let apply = { @Sendable in
                _ = try await contacts.apply(
                    .list(Self.list(0..<3, 0)), to: SyncScope<ContactEntity>("applied"), requestedAt: place.clock.value)
            }
            for _ in 0..<3 { try await apply() }
            #expect(requests.answerCount == 0)
            try await contacts.load(.contacts, maxAge: .zero) { _ in
                try await apply()
                #expect(requests.answerCount == 1)
                return .list(Self.list(0..<3, 0))
            }
            #expect(requests.answerCount == 0)
        }
    }

    @Test func anAnswerThatCouldNotBeStoredRefusesNoOther() async throws {
        try await withScopesOnADisk { contacts, _, isFull in
            try await contacts.add(Self.list(0..<3, 0))
            let requests = Shared(0)
            let some = SyncScope("some", ContactEntity.self, where: \.uid <= "uid-1")
            try await contacts.load(.contacts, maxAge: .zero) { _ in
                requests.update { $0 += 1 }
                isFull.value = true
                await expectError(.diskFull) {
                    try await contacts.load(some, maxAge: .zero) { _ in .list(Self.list(0..<2, 2)) }
                }
                await expectError(.diskFull) {
                    _ = try await contacts.value(where: \.uid, equals: "uid-9", as: ContactValue.self) {
                        ContactData(uid: $0, name: "2")
                    }
                }
                isFull.value = false
                #expect(contacts.mainTier.stack.root.requests.keyCount == 0)
                return .list(Self.list(0..<3, 1))
            }
            #expect(requests.value == 1)
            #expect(try contacts.fetch(ContactEntity.self).map(\.name) == ["1", "1", "1"])
        }
    }
}
