import CoreDataSource
import ErrorExpectations
import Foundation
import Testing

/// Answers to overlapping requests of different scopes and objects: the answer to the earlier request never replaces the rows of
/// the answer to the later one.
@MainActor
struct ScopeLaterAnswerTests {
    /// A part of the objects of the scope `.contacts`.
    nonisolated static let some = SyncScope("some", ContactEntity.self, where: \.uid <= "uid-1")

    nonisolated static func list(_ uids: some Sequence<Int>, _ version: Int) -> [ContactData] {
        uids.map { ContactData(uid: "uid-\($0)", name: "\(version)") }
    }

    /// Loads all contacts. The answer to the first request is older than the later answer, and the second request has version 3.
    ///
    /// - Parameters:
    ///   - first: The uids in the older answer, which has version 1.
    ///   - later: Stores the later answer during the first request.
    /// - Returns: The number of requests.
    func load(
        _ contacts: ContactDataSource, _ place: ScopePlace, first: [Int],
        _ later: @escaping @Sendable () async throws -> Void
    ) async throws -> Int {
        let requests = Shared(0)
        try await contacts.load(.contacts, maxAge: .zero, deleting: .all) { _ in
            requests.update { $0 += 1 }
            if requests.value > 1 { return .list(Self.list(0..<3, 3), entityTag: "3") }
            place.pass(1)
            try await later()
            return .list(Self.list(first, 1), entityTag: "1")
        }
        return requests.value
    }

    func names(_ contacts: ContactDataSource) throws -> [String: String] {
        try contacts.fetch(ContactEntity.self).reduce(into: [:]) { $0[$1.uid] = $1.name }
    }

    @Test(arguments: ScopeStoreKind.allCases)
    func valuesOfALaterListOfAnotherScopeStay(_ kind: ScopeStoreKind) async throws {
        try await withScopes(kind) { contacts, place in
            try await contacts.add(Self.list(0..<3, 0))
            let count = try await load(contacts, place, first: [0, 1, 2]) {
                try await contacts.load(Self.some, maxAge: .zero) { _ in .list(Self.list(0..<2, 2), entityTag: "2") }
            }
            #expect(count == 2)
            #expect(try names(contacts) == ["uid-0": "3", "uid-1": "3", "uid-2": "3"])
            #expect(try contacts.freshness(of: .contacts).entityTag == "3")
            #expect(try contacts.freshness(of: .contacts).failureCount == 0)
        }
    }

    /// The answer of a load that gives up is not stored.
    @Test func aServerThatIsAlwaysOlderIsAskedThreeTimes() async throws {
        try await withScopes { contacts, _ in
            let version = Shared(0)
            await expectError(.scopeChanged) {
                try await contacts.load(.contacts, maxAge: .zero) { _ in
                    version.update { $0 += 2 }
                    let asked = version.value
                    try await contacts.load(Self.some, maxAge: .zero) { _ in .list(Self.list(0..<2, asked)) }
                    return .list(Self.list(0..<3, asked - 1))
                }
            }
            #expect(version.value == 6)
            let shown = try names(contacts)
            #expect(shown == ["uid-0": "6", "uid-1": "6"])
            #expect(contacts.mainTier.stack.root.requests.keyCount == 0)
        }
    }

    @Test(arguments: ScopeStoreKind.allCases)
    func objectsThatALaterListHasAreNotDeleted(_ kind: ScopeStoreKind) async throws {
        try await withScopes(kind) { contacts, place in
            try await contacts.add(Self.list(0..<3, 0))
            // The later list confirms the values of uid-1, which the older list no longer has.
            let count = try await load(contacts, place, first: [0, 2]) {
                try await contacts.load(Self.some, maxAge: .zero) { _ in .list(Self.list(0..<2, 0)) }
            }
            #expect(count == 2)
            #expect(try contacts.uids() == ["uid-0", "uid-1", "uid-2"])
        }
    }

    @Test(arguments: ScopeStoreKind.allCases)
    func objectsThatALaterListHasDeletedDoNotComeBack(_ kind: ScopeStoreKind) async throws {
        try await withScopes(kind) { contacts, place in
            try await contacts.add(Self.list(0..<2, 0))
            let (seen, count) = (Shared<[String]>([]), Shared(0))
            try await contacts.load(.contacts, maxAge: .zero, deleting: .all) { _ in
                count.update { $0 += 1 }
                if count.value == 2 {
                    seen.value = try await contacts.perform { try $0.fetch(ContactEntity.self).map(\.uid) }
                    return .list(Self.list([0], 3))
                }
                place.pass(1)
                try await contacts.load(Self.some, maxAge: .zero, deleting: .all) { _ in .list(Self.list([0], 0)) }
                return .list(Self.list([0, 1], 0))
            }
            #expect(count.value == 2 && seen.value == ["uid-0"])
            #expect(try contacts.uids() == ["uid-0"])
        }
    }

    /// The object was never stored, but the later list covers it and does not have it.
    @Test(arguments: ScopeStoreKind.allCases)
    func objectsThatALaterListLacksAreNotAdded(_ kind: ScopeStoreKind) async throws {
        try await withScopes(kind) { contacts, place in
            let count = try await load(contacts, place, first: [0, 1]) {
                try await contacts.load(Self.some, maxAge: .zero) { request in
                    request.page == 0 ? .page(Self.list([0], 1), next: "a") : .page([], next: nil)
                }
            }
            #expect(count == 2)
        }
    }

    /// The answer has only rows that the later list does not cover, or the same values.
    @Test(arguments: ScopeStoreKind.allCases)
    func listsOfOtherObjectsMakeNoFurtherRequest(_ kind: ScopeStoreKind) async throws {
        try await withScopes(kind) { contacts, place in
            try await contacts.add(Self.list(0..<3, 0))
            let count = try await load(contacts, place, first: [2]) {
                try await contacts.load(Self.some, maxAge: .zero, deleting: .all) { _ in .gone }
            }
            let same = try await load(contacts, place, first: [0, 1, 2]) {
                try await contacts.load(Self.some, maxAge: .zero) { _ in .list(Self.list(0..<2, 1)) }
            }
            #expect(count == 1 && same == 1)
            #expect(try names(contacts) == ["uid-0": "1", "uid-1": "1", "uid-2": "1"])
        }
    }

    /// The answer for the other scope was requested earlier, and brings objects into scope that the list does not have.
    @Test(arguments: ScopeStoreKind.allCases)
    func objectsOfAnEarlierRequestDoNotStayBesideALaterListThatLacksThem(_ kind: ScopeStoreKind) async throws {
        try await withScopes(kind) { contacts, _ in
            let requests = Shared(0)
            let (began, begins) = AsyncStream<Void>.makeStream()
            let (stored, stores) = AsyncStream<Void>.makeStream()
            let later = Shared<Task<ScopeFreshness, any Error>?>(nil)
            try await contacts.load(.contacts, maxAge: .zero) { _ in
                later.value = Task {
                    try await contacts.load(Self.some, maxAge: .zero, deleting: .all) { _ in
                        requests.update { $0 += 1 }
                        begins.finish()
                        for await _ in stored {}
                        return .list(Self.list(0..<1, 2), entityTag: "2")
                    }
                }
                for await _ in began {}
                return .list(Self.list(0..<3, 1))
            }
            stores.finish()
            let found = try await later.value?.value
            #expect(found?.entityTag == "2")
            #expect(requests.value == 2)
            #expect(try names(contacts) == ["uid-0": "2", "uid-2": "1"])
        }
    }

    /// The list of the app is stored at once, so it is newer than the request that is running.
    @Test(arguments: ScopeStoreKind.allCases)
    func anAnswerThatTheAppStoresStays(_ kind: ScopeStoreKind) async throws {
        try await withScopes(kind) { contacts, place in
            try await contacts.add(Self.list(0..<3, 0))
            let count = try await load(contacts, place, first: [0, 1, 2]) {
                try await contacts.apply(
                    .page(Self.list(0..<2, 2), next: "b"), to: Self.some, requestedAt: place.clock.value)
            }
            #expect(count == 2)
        }
    }

    // MARK: Objects

    @Test(arguments: ScopeStoreKind.allCases, [Duration.zero, nil])
    func aLaterObjectStays(_ kind: ScopeStoreKind, _ maxAge: Duration?) async throws {
        try await withScopes(kind) { contacts, place in
            try await contacts.add(Self.list(0..<2, 1))
            let count = try await load(contacts, place, first: [0, 1, 2]) {
                _ = try await contacts.value(where: \.uid, equals: "uid-2", as: ContactValue.self, maxAge: maxAge) {
                    ContactData(uid: $0, name: "2")
                }
            }
            #expect(count == 2)
            #expect(try names(contacts)["uid-2"] == "3")
        }
    }

    @Test(arguments: ScopeStoreKind.allCases, [Duration.zero, nil])
    func anOlderObjectReplacesNoLaterList(_ kind: ScopeStoreKind, _ maxAge: Duration?) async throws {
        try await withScopes(kind) { contacts, place in
            let requests = Shared(0)
            let found = try await contacts.value(where: \.uid, equals: "uid-0", as: ContactValue.self, maxAge: maxAge) {
                requests.update { $0 += 1 }
                guard requests.value == 1 else { return ContactData(uid: $0, name: "2") }
                place.pass(1)
                try await contacts.load(.contacts, maxAge: .zero) { _ in .list(Self.list([0], 2)) }
                return ContactData(uid: $0, name: "1")
            }
            #expect(found?.name == "2" && requests.value == (maxAge == nil ? 1 : 2))
        }
    }

    @Test(arguments: ScopeStoreKind.allCases)
    func anOlderObjectIsNotAddedToALaterListThatLacksIt(_ kind: ScopeStoreKind) async throws {
        try await withScopes(kind) { contacts, _ in
            let requests = Shared(0)
            let found = try await contacts.value(where: \.uid, equals: "uid-0", as: ContactValue.self) {
                requests.update { $0 += 1 }
                guard requests.value == 1 else { return nil }
                try await contacts.load(.contacts, maxAge: .zero) { _ in .list(Self.list([1], 2)) }
                return ContactData(uid: $0, name: "1")
            }
            #expect(found == nil && requests.value == 2)
            #expect(try contacts.uids() == ["uid-1"])
        }
    }

    // MARK: Lists that are not modified

    @Test(arguments: ScopeStoreKind.allCases)
    func anOlderAnswerDeletesNoObjectOfAListThatIsNotModified(_ kind: ScopeStoreKind) async throws {
        try await withScopes(kind) { contacts, place in
            try await contacts.load(Self.some, maxAge: .zero) { _ in .list(Self.list(0..<2, 0), entityTag: "0") }
            let count = try await load(contacts, place, first: [1, 2]) {
                try await contacts.load(Self.some, maxAge: .zero) { _ in .notModified }
            }
            #expect(count == 2)
        }
    }

    @Test(arguments: ScopeStoreKind.allCases)
    func anOlderAnswerTakesNoObjectOutOfAListThatIsNotModified(_ kind: ScopeStoreKind) async throws {
        try await withScopes(kind) { contacts, place in
            let named = SyncScope("named", ContactEntity.self, where: \.name == "0")
            try await contacts.load(named, maxAge: .zero) { _ in .list(Self.list(0..<2, 0), entityTag: "0") }
            let count = try await load(contacts, place, first: [0, 1, 2]) {
                try await contacts.load(named, maxAge: .zero) { _ in .notModified }
            }
            #expect(count == 2)
        }
    }

    /// The confirmed objects that are not evicted are as new as before.
    @Test func anOlderAnswerChangesNoObjectOfAListThatIsNotModifiedAndEvictsOthers() async throws {
        try await withScopes { contacts, place in
            let few = SyncScope<ContactEntity>(
                "few", evicting: ScopeEviction(maxCount: 2, order: [.descending(\.uid)]))
            try await contacts.load(few, maxAge: .zero) { _ in .list(Self.list(0..<2, 0), entityTag: "0") }
            try await contacts.add(Self.list([5], 0))
            let count = try await load(contacts, place, first: [1, 5]) {
                try await contacts.load(few, maxAge: .zero) { _ in .notModified }
            }
            #expect(count == 2)
        }
    }

    /// The third answer may change objects that stay in the list.
    @Test(arguments: ScopeStoreKind.allCases)
    func aListThatIsConfirmedDuringEachRequestEndsNoLoad(_ kind: ScopeStoreKind) async throws {
        try await withScopes(kind) { contacts, place in
            try await contacts.load(Self.some, maxAge: .zero) { _ in .list(Self.list(0..<2, 0), entityTag: "0") }
            let requests = Shared(0)
            try await contacts.load(.contacts, maxAge: .zero) { _ in
                requests.update { $0 += 1 }
                place.pass(1)
                try await contacts.load(Self.some, maxAge: .zero) { _ in .notModified }
                return .list(Self.list(0..<3, requests.value))
            }
            #expect(requests.value == 3)
            #expect(try names(contacts) == ["uid-0": "3", "uid-1": "3", "uid-2": "3"])
            // An object that leaves the list is not stored.
            requests.value = 0
            await expectError(.scopeChanged) {
                try await contacts.load(.contacts, maxAge: .zero, deleting: .all) { _ in
                    requests.update { $0 += 1 }
                    place.pass(1)
                    try await contacts.load(Self.some, maxAge: .zero) { _ in .notModified }
                    return .list(Self.list(1..<3, 3))
                }
            }
            #expect(requests.value == 3)
            #expect(try contacts.uids() == ["uid-0", "uid-1", "uid-2"])
        }
    }

    // MARK: Bounds

    /// Beyond the bound, it is only known that there is a later answer.
    @Test func fewKeysAreKept() async throws {
        try await withScopes { contacts, place in
            let requests = contacts.mainTier.stack.root.requests
            requests.keep(atMost: 10)
            let later = SyncScope("later", ContactEntity.self, where: \.uid > "uid-5")
            try await contacts.add(Self.list(0..<3, 0))
            let count = try await load(contacts, place, first: [0, 1, 2]) {
                try await contacts.load(later, maxAge: .zero) { _ in .list(Self.list(60..<69, 2)) }
                #expect(requests.keyCount == 9)
                try await contacts.load(later, maxAge: .zero) { _ in .list(Self.list(60..<69, 2)) }
                #expect(requests.keyCount == 0)
            }
            #expect(count == 2 && requests.requestCount == 0)
            try await contacts.load(.contacts, maxAge: .zero, deleting: .all) { _ in .list(Self.list(0..<3, 4)) }
            #expect(requests.keyCount == 0)
        }
    }

    /// The pages of a load are no later answers for the load itself, also beyond the bound.
    @Test func theOwnPagesOfALoadMakeNoFurtherRequest() async throws {
        try await withScopes { contacts, _ in
            let requests = contacts.mainTier.stack.root.requests
            requests.keep(atMost: 3)
            let pages = Shared<[Int]>([])
            let load = { @Sendable in
                try await contacts.load(.contacts, maxAge: .zero) { request in
                    pages.update { $0.append(request.page) }
                    let first = 2 * request.page
                    return .page(Self.list(first..<first + 3, pages.value.count), next: first < 4 ? "\(first)" : nil)
                }
            }
            let alone = try await load()
            #expect(alone.isComplete && requests.keyCount == 0)
            let later = SyncScope("later", ContactEntity.self, where: \.uid > "uid-7")
            try await contacts.load(later, maxAge: .zero) { _ in
                let found = try await load()
                #expect(found.isComplete)
                return .list([])
            }
            #expect(pages.value == [0, 1, 2, 0, 1, 2])
        }
    }

    /// Each of two objects is loaded, although their answers change the same row.
    @Test func objectsWhoseAnswersChangeTheSameRowAreLoaded() async throws {
        let container = try await PersistentContainer(model: .graph, store: .inMemory)
        let letters = try container.dataSource(NotedLetterDataSource.self)
        try await letters.add(["old"])
        let requests = Shared(0)
        let first = try await letters.value(where: \Letter.key, equals: "1", as: LetterKey.self) { key in
            requests.update { $0 += 1 }
            if requests.value == 1 {
                let second = try await letters.value(where: \Letter.key, equals: "2", as: LetterKey.self) { $0 }
                #expect(second?.key == "2")
            }
            return key
        }
        #expect(first?.key == "1" && requests.value == 2)
        #expect(try letters.count(Letter.self) == 3)
        try await container.close()
    }

    /// A load that is refused each time throws. It does not return as if the server had no object.
    @Test func anObjectThatIsRefusedEachTimeIsAnError() async throws {
        let container = try await PersistentContainer(model: .graph, store: .inMemory)
        let letters = try container.dataSource(NotedLetterDataSource.self)
        try await letters.add(["old"])
        let requests = Shared(0)
        let error = await expectError(.scopeChanged) {
            try await letters.value(where: \Letter.key, equals: "1", as: LetterKey.self) { key in
                requests.update { $0 += 1 }
                let other = "other \(requests.value)"
                _ = try await letters.value(where: \Letter.key, equals: other, as: LetterKey.self) { $0 }
                return key
            }
        }
        #expect(error?.message.hasPrefix("The answer for an object contradicts another answer") == true)
        #expect(requests.value == 3)
        #expect(try letters.count(Letter.self, where: \.key == "1") == 0)
        try await container.close()
    }
}

/// Letters, the last of which is the title of a topic.
private final class NotedLetterDataSource: DataSource<String> {
    override class var entities: [ManagedObject.Type] { [Topic.self, Letter.self, Attachment.self] }

    override func onAdd(_ key: String, in context: PrivateContext) throws -> ManagedObject? {
        try context.topic("t").title = key
        return try context.letter(key)
    }
}

private struct LetterKey: ManagedObjectConvertible {
    let key: String

    init(_ letter: Letter) { key = letter.key }
}
